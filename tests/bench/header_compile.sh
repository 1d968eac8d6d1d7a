#!/usr/bin/env bash
# Measures how long a file that includes a generated header takes to compile.
#
#   tests/bench/header_compile.sh [KILN [MANIFEST]]
#
# Builds the manifest twice with KILN, once for each --embed mode, and compiles a one-line program
# with each C++ compiler on this machine. Prints the median of 9 runs in seconds, and the time that
# the header adds to the same program with only <kiln/catalog.hpp>. Targets: array below 1 s, asm
# adds less than 0.1 s.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln=${1:-}
if [ -z "$kiln" ]; then
  for candidate in "$root"/build/release/tools/kiln "$root"/build/tools/kiln; do
    [ ! -x "$candidate" ] || { kiln=$candidate; break; }
  done
fi
[ -x "$kiln" ] || { echo "header_compile: no kiln here: build it, or name it: $0 KILN" >&2; exit 2; }
manifest=${2:-$root/targets.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for mode in array asm; do
  "$kiln" build "$manifest" --out "$work/$mode" --embed "$mode" --allow-missing >"$work/$mode.log" 2>&1 ||
    { cat "$work/$mode.log" >&2; exit 1; }
done
header=$(basename "$(ls "$work"/asm/include/*.h*)")
assembly=${header%.*}.S
sed -n '1,/^\/\/ Catalog/p' "$work/array/include/$header" | grep -E '^// (Targets|Left out)|^//   total' || true
echo

echo '#include <kiln/catalog.hpp>' >"$work/base.cpp"
echo "#include <$header>" >"$work/use.cpp"

median() { # COMMAND...: seconds, the median of 9
  local times=() start end
  for _ in 1 2 3 4 5 6 7 8 9; do
    start=$(date +%s%N)
    "$@"
    end=$(date +%s%N)
    times+=($((end - start)))
  done
  printf '%s\n' "${times[@]}" | sort -n | sed -n 5p
}
seconds() { printf '%d.%03d' $(($1 / 1000000000)) $(($1 / 1000000 % 1000)); }

printf '%-12s %-10s %8s %8s\n' compiler what seconds added
for compiler in g++ clang++ clang++-14 clang++-19; do
  path=$(command -v "$compiler" || true)
  [ -n "$path" ] || continue
  compile=("$path" -std=c++17 -O2 -I "$root/runtime/include")
  base=$(median "${compile[@]}" -c "$work/base.cpp" -o "$work/base.o")
  printf '%-12s %-10s %8s\n' "$compiler" "no header" "$(seconds "$base")"
  for mode in array asm; do
    time=$(median "${compile[@]}" -I "$work/$mode/include" -c "$work/use.cpp" -o "$work/use.o")
    added=$((time > base ? time - base : 0))
    printf '%-12s %-10s %8s %8s\n' "$compiler" "$mode" "$(seconds "$time")" "$(seconds "$added")"
  done
  time=$(median "$path" -x assembler-with-cpp -I "$work/asm/include" -c "$work/asm/include/$assembly" \
    -o "$work/blobs.o")
  printf '%-12s %-10s %8s %8s\n' "$compiler" "asm's .S" "$(seconds "$time")" "once"
done
