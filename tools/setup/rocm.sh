# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# A ROCm for compiling: the one that is on the machine, or one assembled in the private prefix, laid
# out as /opt/rocm is, with the distribution's LLVM under it. Sourced by tools/setup.sh.

# The folder of a ROCm that can compile, already on this machine. The order is kiln's own.
find_rocm() {
  local folder
  for folder in "${ROCM_PATH:-}" /opt/rocm "$(folder_above hipcc)"; do
    [ -n "$folder" ] && [ "$folder" != "$prefix/rocm" ] && [ -x "$folder/bin/hipcc" ] || continue
    printf '%s\n' "$folder"
    return 0
  done
  return 1
}

find_hipify() {
  local file
  for file in "${1:+$1/bin/hipify-perl}" "$(command -v hipify-perl)"; do
    [ -n "$file" ] && [ -x "$file" ] && printf '%s\n' "$file" && return 0
  done
  return 1
}

# LLVM's version, or empty when no suitable one is whole on this machine.
find_llvm() {
  local version tool
  for version in $llvm_versions; do
    for tool in clang++ lld clang-offload-bundler llvm-as llvm-objcopy; do
      [ -x "/usr/lib/llvm-$version/bin/$tool" ] || continue 2
    done
    printf '%s\n' "$version"
    return 0
  done
}

llvm_packages() { printf 'clang-%s lld-%s llvm-%s clang-tools-%s' "$1" "$1" "$1" "$1"; }

# Lays the unpacked packages in $1 out as a ROCm in $2.
lay_out_rocm() {
  local from=$1 to=$2 llvm=$3 file
  mkdir -p "$to/bin" "$to/libexec/hipcc" "$to/include" "$to/amdgcn/bitcode" "$to/llvm/bin"
  cp -a "$from/usr/include/hip" "$to/include/"
  cp -a "$from"/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/*.bc "$to/amdgcn/bitcode/"
  cp -a "$from"/usr/bin/hip* "$to/libexec/hipcc/"
  ln -s "/usr/lib/llvm-$llvm/bin"/* "$to/llvm/bin/"
  for file in clang clang++ llc; do
    # The packaged hipcc asks for the LLVM that its own release goes with.
    ln -sf "$file" "$to/llvm/bin/$file-17"
  done
  cp "$here/setup/hipcc" "$to/bin/hipcc"
  ln -s hipcc "$to/bin/hipconfig"
  cp "$here/setup/rocm_agent_enumerator" "$to/bin/rocm_agent_enumerator"
  add_device_constants "$to"
}

# Adds the one-symbol bitcode files of device_constants.txt that the packaged libraries lack.
add_device_constants() {
  local bitcode=$1/amdgcn/bitcode bin=$1/llvm/bin name symbol value layout
  layout=$("$bin/clang" --target=amdgcn-amd-amdhsa -nogpulib -x c -S -emit-llvm -o - /dev/null |
    grep '^target datalayout')
  while read -r name symbol value; do
    [ -e "$bitcode/$name.bc" ] && continue
    printf '%s\ntarget triple = "amdgcn-amd-amdhsa"\n@%s = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 %s, align 4\n' \
      "$layout" "$symbol" "$value" | "$bin/llvm-as" -o "$bitcode/$name.bc"
  done < <(rows "$here/setup/device_constants.txt")
}

# Compiles one kernel with the ROCm in $1, so that a prefix that cannot is never put in place.
try_rocm() {
  printf '#include <hip/hip_runtime.h>\n%s\n' \
    'extern "C" __global__ void k(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }' \
    >"$work/try.hip"
  quietly "$1/bin/hipcc" --genco --offload-arch=gfx1100 --no-gpu-bundle-output \
    "$work/try.hip" -o "$work/try.hsaco" && [ -s "$work/try.hsaco" ]
}
