# shellcheck shell=bash disable=SC2034,SC2154  # the variables are setup.sh's
# NVIDIA's side: finds an nvcc, or installs one if apt has it, or leaves it out. Sourced by
# tools/setup.sh.

look_for_cuda() {
  if cuda=$(find_cuda); then
    report nvcc found "$cuda/bin/nvcc"
  elif cuda_is_packaged; then
    want_package nvcc nvidia-cuda-toolkit
  else
    report nvcc absent "NVIDIA targets cannot be built; no package of it is set up in apt"
    absent+=(cuda)
  fi
}

find_cuda() {
  local folder
  for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda "$(folder_above nvcc)"; do
    if [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ]; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
  return 1
}

# True if apt has the package. It is not free software, and apt is slow, so apt is asked only if a
# source of such packages is configured.
cuda_is_packaged() {
  grep -rqsE 'non-free( |$)|multiverse' /etc/apt/sources.list /etc/apt/sources.list.d &&
    has_candidate nvidia-cuda-toolkit
}

say_absent_cuda() {
  note "nvcc is not on this machine: NVIDIA targets are left out, everything else works"
  case "$distribution" in
    debian) hint "to have it, add 'non-free' to apt's components and run this again" ;;
    ubuntu) hint "to have it, add 'multiverse' to apt's components and run this again" ;;
  esac
  hint "or install NVIDIA's CUDA toolkit and set CUDA_PATH"
}
