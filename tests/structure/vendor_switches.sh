#!/usr/bin/env bash
# Finds preprocessor conditions on the GPU vendor, the compiler or the architecture. They belong in
# kernels/device/platform.cuh and platform_*.cuh, which turn them into named features. kernels/nvcc,
# which replaces a vendor's header, is specific to that vendor.
# usage: vendor_switches.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
platform=kernels/device/platform.cuh
condition='^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)\b.*(CUDA|NVCC|NVPTX|HIP|ROCM|AMDGCN|AMDGPU|AMD_GPU|__gfx|__GFX|KILN_PLATFORM)'

find_in() {
  grep -rnE --include='*.hpp' --include='*.cpp' --include='*.h' --include='*.cu' --include='*.cuh' \
    "$condition" "$@" 2>/dev/null || true
}

[ -z "$(ls kernels/*.cu 2>/dev/null)" ] || [ -n "$(find_in "$platform")" ] ||
  { echo "no condition was found in $platform: the pattern is wrong"; exit 1; }
found=$(find_in base emulator examples formats generator host kernels ops runtime tools |
  grep -v -e "^${platform%.cuh}\(_[a-z]*\)\?\.cuh:" -e '^kernels/nvcc/' || true)
if [ -n "$found" ]; then
  printf '%s\n' "$found" "vendor conditions belong to $platform: name the feature there"
  exit 1
fi
