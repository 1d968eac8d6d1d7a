#!/usr/bin/env bash
# Checks that every header of the host program compiles by itself: public headers as C++17, the
# others as C++20.
#
# A header that some source includes first is already compiled alone by a build that compiles each
# source alone, and is skipped here.
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

# Prints the headers that come first in a source: as they are named there, and in the source's folder.
first_headers() {
  grep -rHm1 '^#include ["<]' --include='*.cpp' base emulator formats generator host ops runtime tests tools \
    2>/dev/null |
    sed -E 's,^(([^:]*/)?[^/:]*):#include ["<]([^">]*)[">].*,\3\n\2\3,'
}

# host_runtime.hpp is a part of platform.cuh, not a header of the host program.
headers=$(find base emulator formats generator host kernels ops runtime tools -name '*.hpp' \
  ! -name host_runtime.hpp 2>/dev/null | sort || true)
[ -n "$headers" ] || { echo "no header was found: is this the source folder?"; exit 1; }
echo "$(wc -l <<<"$headers") headers"

# compile_together COMPILER...: compiles the headers on standard input in one source for each standard.
compile_together() {
  local header flags
  local -A sources=()
  while read -r header; do
    sources[$(settings "$header")]+="#include \"$header\""$'\n'
  done
  for flags in "${!sources[@]}"; do
    # shellcheck disable=SC2086  # flags are words
    "$@" -fsyntax-only $flags $warnings -x c++ - <<<"${sources[$flags]}"
  done
}
if [ $together = yes ]; then
  compile_together "$@" <<<"$headers"
  exit 0
fi

# The build compiles all sources as C++20.
if public=$(grep -E '^(runtime|ops)/include/' <<<"$headers"); then
  compile_together "$@" <<<"$public" || { echo "the public headers do not compile as c++17"; exit 1; }
fi

# Public headers are named from their include folder on.
alone=$(sed -E 's,^(.*/include/)?(.*),\2 \1\2,' <<<"$headers" | awk '
  in_sources { first[$1] = 1; next }
  !($1 in first) && !($2 in first) { print $2 }' in_sources=1 <(first_headers) in_sources= -)
[ -n "$alone" ] || exit 0
echo "$(wc -l <<<"$alone") of them come first in no source"
xargs -P "$(nproc)" -I '{}' bash -c 'compile "$@"' compile '{}' "$@" <<<"$alone"
