#!/usr/bin/env bash
# init.sh PREFIX WORK: an installed kiln builds the project that `kiln init` writes, and the program
# runs: in an empty folder, and in a folder with sources.
set -eu
prefix=$1 work=$2
export PATH="$prefix/bin:$PATH"
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/mine"

kiln init "$work/first 1" | tee "$work/said"
grep -qx "next: kiln build '$work/first 1/targets.json' --out '$work/first 1/out' --allow-missing" "$work/said"
grep -qx "  cmake -G Ninja -S '$work/first 1' -B '$work/first 1/build' -DCMAKE_PREFIX_PATH=PREFIX" "$work/said"
grep -qx "  '$work/first 1/build/first_1'" "$work/said"
kiln init "$work/first"
"$here/example.sh" "$work/first" "$prefix" first | tee "$work/said"
grep -q ': 3 5 7 9$' "$work/said"

cp "$work/first/saxpy.cu" "$work/mine/scale-it.cu"
echo 'extern "C" __global__ void twice(float* x) { *x *= 2; }' >"$work/mine/old.cu"
(cd "$work/mine" && kiln init) >"$work/said"
grep -q '^note: old.cu: of extern "C" kernels' "$work/said"
grep -q '^note: scale-it.cu: of KILN_KERNEL kernels .*: write an abi file' "$work/said"
grep -q '"name": "scale_it", "sources": \["scale-it.cu"\]' "$work/mine/targets.json"
[ ! -e "$work/mine/abi.json" ]
grep -q '"sources": \["scale-it.cu"\], "targets": \["host", ' "$work/mine/targets.json"
grep -q '^  "targets": \["gfx1100", ' "$work/mine/targets.json"
grep -q '"include_directories": \["{kiln}"\]' "$work/mine/targets.json"

mkdir "$work/same"
touch "$work/same/a-b.cu" "$work/same/a_b.cu"
kiln init "$work/same" >"$work/said"
grep -q '"name": "a_b", "sources": \["a-b.cu"\]' "$work/same/targets.json"
grep -q '"name": "a_b_2", "sources": \["a_b.cu"\]' "$work/same/targets.json"

mkdir "$work/spelt"
cp "$work/first/saxpy.cu" "$work/spelt/fizz.cu"
kiln init "$work/spelt"
grep -q '^  "targets": \["host", ' "$work/spelt/targets.json"
kiln build "$work/spelt/targets.json" --target host --out "$work/spelt/out"
kiln build "$work/mine/targets.json" --target host --out "$work/mine/out"

mkdir "$work/theirs"
echo 'template <class T> __global__ void clamp(const T* x, T* y, T least) { *y = *x < least ? least : *x; }
template __global__ void clamp<float>(const float*, float*, float);' >"$work/theirs/clamp.cu"
kiln init "$work/theirs"
sed -i 's/"targets": .*/"targets": ["gfx1100"],/' "$work/theirs/targets.json"
KILN_DEVICE=emulated:gfx1100 "$here/example.sh" "$work/theirs" "$prefix" theirs | tee "$work/said"
grep -qx 'clamp<float>: 3 arguments' "$work/said"

if kiln init "$work/mine" 2>"$work/refused"; then exit 1; fi
grep -q 'targets.json. is there already' "$work/refused"
