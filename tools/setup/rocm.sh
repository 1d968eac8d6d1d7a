# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# AMD's side: the ROCm that is on the machine, or else one assembled in the private prefix, laid out
# as /opt/rocm is, over the LLVM of the machine's own release. Sourced by tools/setup.sh.

llvm_versions=(19 20 18)  # the one that kiln is tested with first

look_for_rocm() {
  if rocm=$(find_rocm); then
    report ROCm found "$rocm"
    look_for_hipify
    return 0
  fi
  rocm=$prefix/rocm
  if llvm=$(find_llvm); then
    report LLVM found "/usr/lib/llvm-$llvm"
  else
    llvm=$(choose_llvm)
    want_package LLVM "clang-$llvm" "lld-$llvm" "llvm-$llvm" "clang-tools-$llvm"
  fi
  want_part rocm
}

# The folder of a ROCm that can compile and that this script did not make.
find_rocm() {
  local folder
  for folder in "${ROCM_PATH:-}" /opt/rocm "$(folder_above hipcc)"; do
    if [ -n "$folder" ] && [ -x "$folder/bin/hipcc" ] && ! [ "$folder" -ef "$prefix/rocm" ]; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
  return 1
}

find_llvm() {
  local version tool
  for version in "${llvm_versions[@]}"; do
    for tool in clang++ lld clang-offload-bundler llvm-as llvm-objcopy; do
      [ -x "/usr/lib/llvm-$version/bin/$tool" ] || continue 2
    done
    printf '%s\n' "$version"
    return 0
  done
  return 1
}

choose_llvm() {
  local version
  for version in "${llvm_versions[@]}"; do
    if has_candidate "clang-$version"; then
      printf '%s\n' "$version"
      return 0
    fi
  done
  printf '%s\n' "${llvm_versions[0]}"  # the lists may not be there yet: apt-get update comes first
}

assemble_rocm() {
  local to=$1 name
  unpack rocm
  mkdir -p "$to/bin" "$to/include" "$to/amdgcn/bitcode" "$to/libexec/hipcc" "$to/llvm/bin"
  cp -a root/usr/bin/hip* "$to/libexec/hipcc/"
  cp -a root/usr/include/hip "$to/include/"
  cp -a root/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/*.bc "$to/amdgcn/bitcode/"
  ln -s "/usr/lib/llvm-$llvm/bin"/* "$to/llvm/bin/"
  for name in clang clang++ llc; do
    ln -sf "$name" "$to/llvm/bin/$name-17"  # the packaged hipcc asks for the LLVM of its own release
  done
  install -m 755 "$here/setup/hipcc" "$here/setup/rocm_agent_enumerator" "$to/bin/"
  ln -s hipcc "$to/bin/hipconfig"
  assemble_hipify "$to"
  add_device_constants "$to"
  try_rocm "$to" || die "the ROCm made for this machine cannot compile a kernel"
}

# Adds the one-symbol bitcode files of device_constants.txt that the packaged libraries lack.
add_device_constants() {
  local bitcode=$1/amdgcn/bitcode bin=$1/llvm/bin name symbol value layout
  layout=$("$bin/clang" --target=amdgcn-amd-amdhsa -nogpulib -x c -S -emit-llvm -o - /dev/null |
    grep '^target datalayout')
  while read -r name symbol value; do
    [ ! -e "$bitcode/$name.bc" ] || continue
    "$bin/llvm-as" -o "$bitcode/$name.bc" <<TEXT
source_filename = "$name"
$layout
target triple = "amdgcn-amd-amdhsa"
@$symbol = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 $value, align 4
TEXT
  done < <(rows "$here/setup/device_constants.txt")
}

# Compiles a kernel with the ROCm in $1, so that one that cannot is never put in place.
try_rocm() {
  cat >try.hip <<'TEXT'
#include <hip/hip_runtime.h>
extern "C" __global__ void try_it(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }
TEXT
  quietly "$1/bin/hipcc" --genco --offload-arch=gfx1100 --no-gpu-bundle-output try.hip -o try.hsaco &&
    [ -s try.hsaco ]
}
