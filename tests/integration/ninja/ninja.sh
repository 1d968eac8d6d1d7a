#!/usr/bin/env bash
# ninja.sh KILN TOOLKIT NINJA FOLDER: Ninja runs the steps of 'kiln plan --ninja', and its output is
# byte for byte that of 'kiln build'. First with compilers that take milliseconds, for edits and for
# an outer Ninja file; then one source with the real compilers.
set -euo pipefail
kiln=$1 toolkit=$2 ninja=$3 folder=$4
fail() { echo "FAILED: $*" >&2; exit 1; }
rm -rf "$folder"
mkdir -p "$folder/fast/sources" "$folder/real"
cp -r "$toolkit" "$folder/toolkit"
export KILN_CACHE_DIR="$folder/cache"
unset KILN_CACHE KILN_CACHE_URL NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS

# Prints the names of the steps that ninja runs, sorted, in one line. The whole output goes to
# $folder/said.
steps() {
  "$ninja" "$@" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; fail "ninja $*"; }
  sed -n 's/^\[[0-9]*\/[0-9]*\] //p' "$folder/said" | LC_ALL=C sort | paste -sd,
}
build() { "$kiln" build "$@" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; fail "kiln build $*"; }; }
same() { # MADE REFERENCE
  diff -r -x .kiln -x compile_commands.json "$1" "$2" >&2 || fail "$1 is not what kiln build makes"
}
expect() { [ "$2" = "$3" ] || fail "$1: '$2' and not '$3'"; }

( # Edits.
  export KILN_NVCC="$folder/toolkit/nvcc" KILN_FATBINARY="$folder/toolkit/fatbinary" NVCC_CCBIN=/nonexistent
  cd "$folder/fast"
  printf '#include "shared.cuh"\n' | tee sources/one.cu >sources/two.cu
  echo '// shared' >sources/shared.cuh
  manifest() { # TARGETS
    echo '{"format": 1, "name": "demo", "targets": ['"$1"'],
 "modules": [{"name": "one", "sources": ["one.cu"]}, {"name": "two", "sources": ["two.cu"]}]}' >sources/targets.json
  }
  manifest '"compute_80", "compute_90"'
  plan=(sources/targets.json --out out --ninja kernels.ninja)
  "$kiln" plan "${plan[@]}"
  everything=$(steps -f kernels.ninja)
  expect "all" "$everything" "catalog and header,compile one compute_80,compile one compute_90,compile two compute_80,compile two compute_90,fatbin one,fatbin two"
  # kiln shortens PTX, so the PTX of another kiln is made again.
  grep -q "^build out/images/one/compute_80.ptx .* $kiln" kernels.ninja || fail "PTX does not depend on kiln"
  build sources/targets.json --out reference
  same out reference
  expect "nothing to do" "$(steps -f kernels.ninja)" ""
  rm out/images/one/compute_80.ptx
  expect "an image was deleted" "$(steps -f kernels.ninja)" "catalog and header,compile one compute_80,fatbin one"
  rm out/bundles/two.fatbin
  expect "a bundle was deleted" "$(steps -f kernels.ninja)" "catalog and header,fatbin two"
  same out reference
  expect "nothing more to do" "$(steps -f kernels.ninja)" ""
  sleep 0.01
  echo '// edited' >>sources/two.cu
  expect "one source" "$(steps -f kernels.ninja)" "catalog and header,compile two compute_80,compile two compute_90,fatbin two,plan"
  sleep 0.01
  touch sources/two.cu
  expect "the same bytes" "$(steps -f kernels.ninja)" "catalog and header,compile two compute_80,compile two compute_90,plan"
  sleep 0.01
  echo '// edited' >>sources/shared.cuh
  expect "a header" "$(steps -f kernels.ninja)" "$everything,plan"
  sleep 0.01
  printf '#include "new.cuh"\n' >>sources/one.cu
  echo '// new' >sources/new.cuh
  expect "a new header" "$(steps -f kernels.ninja)" "catalog and header,compile one compute_80,compile one compute_90,fatbin one,plan"
  sleep 0.01
  echo '// changed' >>sources/new.cuh
  steps -f kernels.ninja >/dev/null
  sleep 0.01
  printf '#include "shared.cuh"\n' >sources/one.cu
  rm sources/new.cuh
  expect "a header less" "$(steps -f kernels.ninja)" "catalog and header,compile one compute_80,compile one compute_90,fatbin one,plan"
  sleep 0.01
  manifest '"compute_80"'
  expect "a target less" "$(steps -f kernels.ninja)" "catalog and header,fatbin one,fatbin two,plan"
  build sources/targets.json --out reference
  same out reference
  sleep 0.01
  : >"$folder/toolkit/ran"
  echo '# another' >>"$folder/toolkit/nvcc"
  expect "another tool" "$(steps -f kernels.ninja)" "catalog and header,compile one compute_80,compile two compute_80"

  # An outer file, which includes kiln's edges with subninja.
  cat >build.ninja <<'END'
subninja kernels.ninja
rule copy
  command = cp $in $out
build kernels.copy: copy out/include/kernels.hpp
build build.ninja: phony kernels.ninja
END
  steps kernels.copy >/dev/null
  sleep 0.01
  printf 'extern "C" void more();\n' >>sources/one.cu
  case $(steps kernels.copy) in *"compile one compute_80"*) ;; *) fail "outer: $(cat "$folder/said")" ;; esac
  cmp kernels.copy "out/include/kernels.hpp" || fail "the outer edge did not run"

  # A file that is not a Ninja file of kiln is not overwritten; a missing image is named.
  "$kiln" plan "${plan[@]:0:3}" --ninja build.ninja 2>"$folder/said" && fail "build.ninja was overwritten"
  grep -q "'build.ninja' cannot be the Ninja file" "$folder/said" || fail "$(cat "$folder/said")"
  rm "out/images/one/compute_80.ptx"
  "$kiln" assemble "${plan[@]:0:3}" 2>"$folder/said" && fail "assembled without an image"
  grep -q "'images/one/compute_80.ptx' is missing" "$folder/said" || fail "$(cat "$folder/said")"
  # A step that fails shows the output of the tool.
  printf '#!/bin/sh\nexit 1\n' >"$folder/toolkit/nvcc"
  "$ninja" -f kernels.ninja >"$folder/said" 2>&1 && fail "a failed step"
  grep -q "'compile one compute_80' failed: exit status 1" "$folder/said" || fail "$(cat "$folder/said")"
)

cd "$folder/real"
printf '%s\n' 'static_assert(sizeof(TEXT) == 12 && TEXT[0] == 123);' \
  'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }' >twice.cu
echo '{"format": 1, "name": "demo", "targets": ["gfx1100", "compute_80"], "defines": ["TEXT=\"{src} {out}\""],
 "modules": [{"name": "twice", "sources": ["twice.cu"]}]}' >targets.json
"$kiln" plan --allow-missing --out "an out" --ninja build.ninja
steps >/dev/null
build --allow-missing --out reference
same "an out" reference
