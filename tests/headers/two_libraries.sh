#!/usr/bin/env bash
# two_libraries.sh COMPILER HEADERS WORK: builds two shared libraries that each contain the loader of
# an amalgamated header, from different texts of kiln, and links both into one program, in either
# order. Each must use its own loader.
set -eu
compiler=$1 headers=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
header=kernels_amalgamated.hpp
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
rm -rf "$work"
mkdir -p "$work/first" "$work/second"

# The second header is of another kiln, whose OpenOptions have one more member. So its digest differs.
cp "$headers/amalgamated/$header" "$work/first"
digest=$(sed -n 's/^#define KILN_AMALGAMATED 0x\(.*\)u$/\1/p' "$work/first/$header")
sed -e "s/$digest/0123456789abcdef/" -e 's/^struct.* OpenOptions {$/&\n  std::string added = "added";/' \
  "$work/first/$header" >"$work/second/$header"
grep -q added "$work/second/$header"

for library in first second; do
  "$compiler" -std=c++20 -O0 -fPIC -shared "${warnings[@]}" -I "$work/$library" "-DENTRY=$library" \
    "$here/loader_library.cpp" -o "$work/lib$library.so" -ldl -pthread
done
for order in "first second" "second first"; do
  printf 'extern "C" int first();\nextern "C" int second();\nint main() { return first() + second(); }\n' |
    "$compiler" -x c++ - -o "$work/program" -L "$work" -l"${order% *}" -l"${order#* }" "-Wl,-rpath,$work"
  "$work/program" || { echo "FAILED: a program of the libraries $order" >&2; exit 1; }
done

# What a library exports of kiln has the digest in its name.
exported=$(nm -D --defined-only "$work/libfirst.so" | awk '/kiln/ {print $3}' | grep -v "$digest" || true)
[ "$exported" = kiln_needs_one_source_file_that_defines_KILN_IMPLEMENTATION ] ||
  { echo "FAILED: exported: $exported" >&2; exit 1; }

# A program with another layout of the standard library's types needs another loader.
needs() { # SUFFIX OPTION...
  "$compiler" -std=c++17 "${warnings[@]}" "${@:2}" -I "$work/first" "-DENTRY=uses" -DUSES_ALONE \
    -c "$here/loader_library.cpp" -o "$work/uses.o"
  nm -C --undefined-only "$work/uses.o" | grep -q "kiln::loader_$digest$1::Runtime::open" ||
    { echo "FAILED: needs no loader_$digest$1" >&2; exit 1; }
}
needs ""
needs _debug -D_GLIBCXX_DEBUG
needs _old_strings -D_GLIBCXX_USE_CXX11_ABI=0
needs _debug_old_strings -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0
