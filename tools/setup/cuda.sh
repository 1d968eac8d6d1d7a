# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# nvcc: found, or installed where the machine's apt has it, or done without. Sourced by tools/setup.sh.

find_cuda() {
  local folder
  for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda "$(folder_above nvcc)"; do
    [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && printf '%s\n' "$folder" && return 0
  done
  return 1
}

# apt is slow to ask, so it is asked only where a source with non-free packages is set up at all.
cuda_package() {
  grep -rqsE 'non-free|multiverse|cuda' /etc/apt/sources.list /etc/apt/sources.list.d || return 1
  first_candidate nvidia-cuda-toolkit
}
