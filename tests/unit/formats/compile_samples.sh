#!/usr/bin/env bash
# Compiles one CUDA source for several targets, with the compilers of this machine, and stores the
# output of their own tools next to each image. Images that cannot be made are left out, with the
# reason in missing.txt.
# usage: compile_samples.sh SOURCE OUT_FOLDER
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../../../tools/setup/place.sh"
source=$(readlink -f "$1")
rm -rf "$2"
mkdir -p "$2"
cd "$2"
missing() { echo "$1" >> missing.txt; }
first_of() { for program in "$@"; do command -v "$program" && return; done; return 1; }

rocm=$(private_prefix)/rocm
[ -d "$rocm/include/hip" ] || rocm=${ROCM_PATH:-/opt/rocm}
llvm=
for folder in /usr/lib/llvm-19/bin "$rocm/llvm/bin"; do
  [ ! -x "$folder/clang++" ] || [ ! -x "$folder/llvm-readelf" ] || { llvm=$folder; break; }
done

if [ -z "$llvm" ]; then
  missing "amd: no clang++ with llvm-readelf"
elif [ ! -d "$rocm/include/hip" ]; then
  missing "amd: no HIP headers"
else
  for target in gfx1030 gfx1100 gfx90a gfx90a:xnack+ gfx942:sramecc-:xnack-; do
    for version in 4 5; do
      name=v$version-${target//:/.}.hsaco
      "$llvm/clang++" -x hip -O2 --offload-arch="$target" --offload-device-only --no-gpu-bundle-output \
        -fuse-cuid=none --rocm-path="$rocm" --rocm-device-lib-path="$rocm/amdgcn/bitcode" \
        -mcode-object-version=$version -include hip/hip_runtime.h "$source" -o "$name"
      "$llvm/llvm-readelf" --notes "$name" > "$name.notes"
      "$llvm/llvm-readelf" -h "$name" > "$name.header"
    done
  done
  if [ -x "$llvm/clang-offload-bundler" ]; then
    targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx1100,hipv4-amdgcn-amd-amdhsa--gfx90a
    inputs=(-input=/dev/null -input=v5-gfx1100.hsaco -input=v5-gfx90a.hsaco)
    "$llvm/clang-offload-bundler" -type=o -bundle-align=4096 -targets=$targets "${inputs[@]}" -output=plain.bundle
    for version in 2 3; do
      COMPRESSED_BUNDLE_FORMAT_VERSION=$version "$llvm/clang-offload-bundler" -type=o -compress \
        -targets=$targets "${inputs[@]}" -output=v$version.bundle || missing "bundle: no compressed ones"
    done
  fi
fi

# The values that the compiler writes for each processor: e_flags and the default wave width.
if [ -n "$llvm" ] && [ -x "$llvm/llc" ]; then
  for processor in $("$llvm/llc" -march=amdgcn -mcpu=help < /dev/null 2>&1 | grep -oE '^ +gfx[0-9a-f-]+(-generic)? ' | grep -v insts); do
    version=500
    case $processor in *-generic) version=600 ;; esac
    printf '%s\n' 'target triple = "amdgcn-amd-amdhsa"' \
      'define amdgpu_kernel void @k() { ret void }' '!llvm.module.flags = !{!0}' \
      "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 $version}" > processor.ll
    "$llvm/llc" -mcpu="$processor" -filetype=obj processor.ll -o processor.o 2> /dev/null || continue
    flags=$("$llvm/llvm-readelf" -h processor.o | sed -nE 's/^ *Flags: *(0x[0-9A-Fa-f]+).*/\1/p')
    wave=$("$llvm/llvm-readelf" --notes processor.o | sed -nE 's/^ *\.wavefront_size: *([0-9]+)/\1/p')
    [ "$flags" = 0x0 ] || echo "$processor $flags $wave" >> processors.txt
  done
  rm -f processor.ll processor.o
fi

nvcc=$(first_of "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" nvcc || true)
if [ -z "$nvcc" ]; then
  missing "nvidia: no nvcc"
else
  known=" $("$nvcc" --help | grep -oE "'(sm|compute)_[0-9]+[af]?'" | tr -d "'" | sort -u | tr '\n' ' ') "
  for target in sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_120f; do
    case $known in
      *" $target "*) "$nvcc" -arch=$target -cubin -Xptxas -v "$source" -o $target.cubin 2> $target.cubin.log ;;
      *) missing "nvidia: this nvcc does not know $target" ;;
    esac
  done
  for target in compute_80 compute_90a compute_100 compute_120f; do
    case $known in
      *" $target "*) "$nvcc" -arch=$target -ptx "$source" -o $target.ptx ;;
      *) missing "nvidia: this nvcc does not know $target" ;;
    esac
  done
  fatbinary=$(dirname "$nvcc")/fatbinary
  images=("--image3=kind=elf,sm=80,file=sm_80.cubin" "--image3=kind=elf,sm=90a,file=sm_90a.cubin"
          "--image3=kind=ptx,sm=80,file=compute_80.ptx")
  "$fatbinary" -64 --create=plain.fatbin --compress=false "${images[@]}"
  for mode in size speed; do
    "$fatbinary" -64 --create=$mode.fatbin --compress-all --compress-mode=$mode "${images[@]}" 2> /dev/null ||
      missing "fatbin: no compress mode $mode"
  done
fi
touch missing.txt
cat missing.txt
