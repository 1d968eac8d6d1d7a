# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# hipify-perl, which needs nothing but perl: the one of the ROCm in use, or else a part of its own.
# Sourced by tools/setup.sh.

look_for_hipify() {
  local file
  for file in "$rocm/bin/hipify-perl" "$(command -v hipify-perl || true)"; do
    if [ -x "$file" ]; then
      report hipify-perl found "$file"
      return 0
    fi
  done
  want_part hipify
}

assemble_hipify() {
  unpack hipify
  mkdir -p "$1/bin"
  cp -a root/usr/bin/hipify-perl "$1/bin/"
}
