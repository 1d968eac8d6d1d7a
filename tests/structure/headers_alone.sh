#!/usr/bin/env bash
# Checks that every header of the host program compiles by itself: public headers as C++17, the
# others as C++20.
#
# A header that its own source includes first is already compiled alone by the build, and is skipped
# here.
# usage: headers_alone.sh SOURCE_FOLDER COMPILER...
#        headers_alone.sh --together SOURCE_FOLDER COMPILER...   all headers of a standard in one source: for
#                                                                the warnings of a second compiler
set -euo pipefail
together=no
if [ "$1" = --together ]; then
  together=yes
  shift
fi
cd "$1"
shift
export warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'

# Prints the standard and the include folders of a header.
settings() {
  case "$1" in
    runtime/include/* | ops/include/*) echo '-std=c++17 -I . -I runtime/include -I ops/include' ;;
    kernels/*) echo '-std=c++17 -I . -I kernels' ;;
    *) echo '-std=c++20 -I . -I runtime/include -I ops/include' ;;
  esac
}

compile() {
  local header=$1 flags
  flags=$(settings "$header")
  # shellcheck disable=SC2086  # flags are words
  "${@:2}" -fsyntax-only $flags $warnings -x c++ - <<<"#include \"$header\"" ||
    { flags=${flags#-std=}; echo "$header does not compile alone as ${flags%% *}"; return 1; }
}
export -f compile settings

# True if the source next to the header includes it first.
is_first_in_its_source() {
  local source=${1%.hpp}.cpp first
  [ -f "$source" ] || return 1
  first=$(grep -m1 '^#include' "$source" || true)
  [ "$first" = "#include \"$1\"" ]
}

# host_runtime.hpp is a part of platform.cuh, not a header of the host program.
headers=$(find base emulator formats generator host kernels ops runtime tools -name '*.hpp' \
  ! -name host_runtime.hpp 2>/dev/null | sort || true)
[ -n "$headers" ] || { echo "no header was found: is this the source folder?"; exit 1; }
echo "$(wc -l <<<"$headers") headers"

if [ $together = yes ]; then
  declare -A sources
  while read -r header; do
    sources[$(settings "$header")]+="#include \"$header\""$'\n'
  done <<<"$headers"
  for flags in "${!sources[@]}"; do
    # shellcheck disable=SC2086  # flags are words
    "$@" -fsyntax-only $flags $warnings -x c++ - <<<"${sources[$flags]}"
  done
  exit 0
fi

alone=$(while read -r header; do
  is_first_in_its_source "$header" || echo "$header"
done <<<"$headers")
[ -n "$alone" ] || exit 0
echo "$(wc -l <<<"$alone") of them come first in no source"
xargs -P "$(nproc)" -I '{}' bash -c 'compile "$@"' compile '{}' "$@" <<<"$alone"
