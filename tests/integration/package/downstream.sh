#!/usr/bin/env bash
# downstream.sh WORK GENERATOR CMAKE-OPTION...: builds a copy of project/ in WORK repeatedly, and
# checks when kiln runs and what changes.
set -eu
work=$1 generator=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work/project" "$work/build"
mkdir -p "$work"
cp -r "$here/project" "$work/project"

fail() { echo "FAILED: $*" >&2; exit 1; }
runs='Building the GPU kernels'
build() { # MESSAGE EXPECTED-NUMBER-OF-KILN-RUNS
  echo "== $1"
  cmake --build "$work/build" --target array --target asm >"$work/log" 2>&1 || { cat "$work/log"; fail "$1"; }
  local count
  count=$(grep -c "$runs" "$work/log" || true)
  [ "$count" = "$2" ] || { cat "$work/log"; fail "$1: kiln ran $count times, expected $2"; }
}
digests() { "$work/build/array" && "$work/build/asm"; }

cmake -S "$work/project" -B "$work/build" -G "$generator" -DCMAKE_BUILD_TYPE=Debug "$@"
build "the first build" 2
first=$(digests)
echo "$first"
build "nothing has changed" 0

sleep 1.1  # the clock of some file systems, and Make's, ticks in seconds
touch "$work/project/scale.cuh"
build "a header was touched" 2
build "nothing has changed since" 0
[ "$(digests)" = "$first" ] || fail "a touched header changed the catalog"

sleep 1.1
sed -i 's/factor = 2/factor = 3/' "$work/project/scale.cuh"
build "a header has changed" 2
build "nothing has changed since that" 0
second=$(digests)
[ "$second" != "$first" ] || fail "a changed header left the catalog as it was"

echo "== a header is broken"
sleep 1.1
sed -i 's/factor = 3/factor = ;/' "$work/project/scale.cuh"
if cmake --build "$work/build" --target array >"$work/log" 2>&1; then
  fail "a broken kernel built"
fi
grep -q 'scale\.' "$work/log" || { cat "$work/log"; fail "the compiler's message is not shown"; }
sleep 1.1
sed -i 's/factor = ;/factor = 3/' "$work/project/scale.cuh"
build "the header is mended" 2
[ "$(digests)" = "$second" ] || fail "the same sources gave another catalog"

sleep 1.1
rm "$work"/build/*array*.kiln/include/*.hpp
build "a generated header was deleted" 1
rm "$work"/build/*asm*.kiln/include/*.S
build "a generated source was deleted" 1
build "nothing was deleted" 0
[ "$(digests)" = "$second" ] || fail "what was deleted came back in another form"
