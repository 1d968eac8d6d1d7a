#!/usr/bin/env bash
# init.sh PREFIX WORK: what `kiln init` writes is built by an installed kiln and runs: in an empty folder, and
# beside sources that are there.
set -eu
prefix=$1 work=$2
export PATH="$prefix/bin:$PATH"
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/mine"

kiln init "$work/first"
"$here/example.sh" "$work/first" "$prefix" first | tee "$work/said"
grep -q ': 3 5 7 9$' "$work/said"

cp "$work/first/saxpy.cu" "$work/mine/scale-it.cu"
echo 'extern "C" __global__ void twice(float* x) { *x *= 2; }' >"$work/mine/old.cu"
(cd "$work/mine" && kiln init) >"$work/said"
grep -q '^note: old.cu: of extern "C" kernels' "$work/said"
if grep -q 'note: scale-it.cu' "$work/said"; then exit 1; fi
grep -q '"name": "scale_it", "sources": \["scale-it.cu"\]' "$work/mine/targets.json"
[ ! -e "$work/mine/abi.json" ]

if kiln init "$work/mine" 2>"$work/refused"; then exit 1; fi
grep -q 'targets.json. is there already' "$work/refused"
