#!/usr/bin/env bash
# Compiles every header of the host program by itself: public ones as C++17, the others as C++20.
# usage: headers_alone.sh SOURCE_FOLDER COMPILER...
set -euo pipefail
cd "$1"
shift
export warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'

compile() {
  local header=$1 standard=c++20 roots='-I . -I runtime/include -I ops/include'
  case "$header" in
    runtime/include/* | ops/include/*) standard=c++17 ;;
    kernels/*) standard=c++17 roots='-I . -I kernels' ;;
  esac
  # shellcheck disable=SC2086  # flags are words
  "${@:2}" -fsyntax-only -std=$standard $warnings $roots -x c++ - <<<"#include \"$header\"" ||
    { echo "$header does not compile alone as $standard"; return 1; }
}
export -f compile

# host_runtime.hpp is a part of platform.cuh, and no header of the host program.
headers=$(find base emulator formats generator host kernels ops runtime tools -name '*.hpp' \
  ! -name host_runtime.hpp 2>/dev/null | sort || true)
[ -n "$headers" ] || { echo "no header was found: is this the source folder?"; exit 1; }
echo "$(wc -l <<<"$headers") headers"
xargs -P "$(nproc)" -I '{}' bash -c 'compile "$@"' compile '{}' "$@" <<<"$headers"
