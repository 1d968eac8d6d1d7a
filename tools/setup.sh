#!/usr/bin/env bash
# Brings a Debian or Ubuntu machine to where kiln builds, tests and compiles kernels for AMD and
# NVIDIA: installs what is missing and leaves alone what is there. Run again, it does nothing.
#
# Two places are written: the machine's own package manager (only packages of the machine's own
# release) and a private prefix (everything else). docs/SETUP.md tells which goes where, and why.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/setup.sh [--check | --print-env | --help]

Installs what this machine lacks to build kiln and to compile kernels with it.

  --check      say what is there and what is missing; install nothing; exit 3 if anything is missing
  --print-env  print shell lines that point other tools at the compilers that were found
  --help       this text

environment:
  KILN_TOOLCHAIN_DIR     the private prefix [${XDG_DATA_HOME:-~/.local/share}/kiln/toolchain]
  ROCM_PATH, CUDA_PATH   a ROCm, a CUDA toolkit that is to be used as it is
  KILN_SETUP_ROCM=no     do without AMD's tools
  KILN_SETUP_CUDA=no     do without nvcc

Exit status: 0 everything is there, 3 something is missing (the last lines say what and what to do).
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in say apt rocm cuda catch2; do
  # shellcheck source=/dev/null
  source "$here/setup/$part.sh"
done

mode=install
case "${1:-}" in
  '') ;;
  --check) mode=check ;;
  --print-env) mode=print-env ;;
  --help | -h) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

prefix=${KILN_TOOLCHAIN_DIR:-${XDG_DATA_HOME:-${HOME:?is not set: set KILN_TOOLCHAIN_DIR}/.local/share}/kiln/toolchain}
llvm_versions="19 20 18"  # that compile our kernels, the one we test with first

# shellcheck disable=SC1091
os_release() { (. /etc/os-release && printf '%s' "${!1:-}"); }
distribution=$(os_release ID)
distribution_codename=$(os_release VERSION_CODENAME)
distribution_version=$(os_release VERSION_ID)  # Debian's testing and unstable have none

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# The folder above the bin/ that a command on PATH really lies in.
folder_above() {
  local file
  file=$(command -v "$1") || return 0
  dirname "$(dirname "$(readlink -f "$file")")"
}

# --- what is there -----------------------------------------------------------------------------

missing_packages=()  # of the machine's own release
missing_parts=()     # of the private prefix
missing_tools=()     # that nothing here can bring

report() {  # WHAT STATE DETAIL
  [ "$mode" = check ] && printf '%-24s %-8s %s\n' "$1" "$2" "$3"
  return 0
}

has_command() {  # NAME MINIMUM
  local version
  command -v "$1" >/dev/null || return 1
  version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
  at_least "$2" "${version:-0}"
}

has_header() {
  local folder
  for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
    [ -e "$folder/$1" ] && return 0
  done
  return 1
}

# The digest of what a part of the prefix is made from; a part made from anything else is stale.
recipe() {
  {
    rows "$here/setup/prefix.txt"
    cat "$here/setup/$1.sh" "$here/setup/hipcc" "$here/setup/rocm_agent_enumerator" \
      "$here/setup/device_constants.txt"
    printf '%s %s %s\n' "$distribution" "$distribution_codename" "$llvm"
  } | sha256sum | cut -d ' ' -f 1
}

part_is_there() { [ "$(cat "$prefix/$1/.recipe" 2>/dev/null)" = "$(recipe "$1")" ]; }

need_part() {
  if part_is_there "$1"; then
    report "$1" found "$prefix/$1"
  else
    missing_parts+=("$1")
    report "$1" missing "goes to $prefix/$1"
  fi
}

look_around() {
  local probe what minimum package
  missing_packages=()
  missing_parts=()
  missing_tools=()
  while read -r probe what minimum package; do
    if "has_$probe" "$what" "$minimum"; then
      report "$what" found "$(command -v "$what" || true)"
    else
      missing_packages+=("$package")
      report "$what" missing "apt package $package"
    fi
  done < <(rows "$here/setup/machine.txt")

  rocm=
  llvm=
  if [ "${KILN_SETUP_ROCM:-}" != no ]; then
    if rocm=$(find_rocm); then
      report ROCm found "$rocm"
      if find_hipify "$rocm" >/dev/null; then
        report hipify-perl found "$(find_hipify "$rocm")"
      else
        need_part hipify
      fi
    else
      rocm=$prefix/rocm
      llvm=$(find_llvm)
      if [ -n "$llvm" ]; then
        report "LLVM" found "/usr/lib/llvm-$llvm"
      else
        llvm=$(first_candidate_llvm)
        # shellcheck disable=SC2207
        missing_packages+=($(llvm_packages "$llvm"))
        report "LLVM" missing "apt packages $(llvm_packages "$llvm")"
      fi
      need_part rocm
    fi
  fi

  cuda=
  if [ "${KILN_SETUP_CUDA:-}" != no ]; then
    if cuda=$(find_cuda); then
      report nvcc found "$cuda/bin/nvcc"
    elif cuda_package >/dev/null; then
      missing_packages+=(nvidia-cuda-toolkit)
      report nvcc missing "apt package nvidia-cuda-toolkit"
    else
      missing_tools+=(nvcc)
      report nvcc absent "no package for it; kiln works for AMD targets without it"
    fi
  fi

  if has_catch2; then
    report Catch2 found "on the system"
  elif [ "$distribution" != debian ] || at_least 13 "${distribution_version:-99}"; then
    missing_packages+=(catch2)
    report Catch2 missing "apt package catch2"
  else
    need_part catch2
  fi
}

# --- what is missing ---------------------------------------------------------------------------

# Puts a folder made aside in its place, whole. An interrupted run leaves the old one or none.
put_in_place() {  # STAGED PART
  recipe "$2" >"$1/.recipe"
  rm -rf "$prefix/$2"
  mv "$1" "$prefix/$2"
}

# Downloads and unpacks the rows of one part into the current folder's `root`.
fetch_part() {
  local part row release kind package version architecture digest
  while read -r part row release kind package version architecture digest; do
    [ "$part" = "$1" ] && [ "$row" = "$distribution" ] || continue
    [ "$release" = own ] && release=$distribution_codename
    fetch "$release" "$kind" "$package" "$version" "$architecture" "$digest"
    [ "$kind" = source ] || dpkg-deb --extract "$package"_*.deb root
  done < <(rows "$here/setup/prefix.txt")
}

assemble() {
  local part=$1 staged="$staging/$1"
  say "putting $part into $prefix/$part"
  mkdir -p "$work/$part/root" "$staged"
  cd "$work/$part"
  case "$part" in
    rocm)
      fetch_part rocm
      fetch_part hipify
      lay_out_rocm root "$staged" "$llvm"
      cp -a root/usr/bin/hipify-perl "$staged/bin/"
      try_rocm "$staged" || die "the ROCm assembled for this machine cannot compile a kernel"
      ;;
    hipify)
      fetch_part hipify
      mkdir -p "$staged/bin"
      cp -a root/usr/bin/hipify-perl "$staged/bin/"
      ;;
    catch2)
      fetch_part catch2
      build_catch2 catch2_*.orig.tar.* "$staged" || die "Catch2 did not build"
      ;;
  esac
  cd "$here"
  put_in_place "$staged" "$part"
}

install_what_is_missing() {
  local part
  work=$(mktemp -d)
  # apt gives up its privileges to download, and must be able to write where it downloads to.
  chmod 755 "$work"
  [ "${#missing_packages[@]}" -eq 0 ] || install_packages "${missing_packages[@]}"
  [ "${#missing_parts[@]}" -gt 0 ] || return 0
  case "$distribution" in
    debian | ubuntu) ;;
    *) die "no packages are known for '$distribution'" \
      "install ROCm and Catch2 by hand and set ROCM_PATH, or use KILN_SETUP_ROCM=no" ;;
  esac
  mkdir -p "$prefix"
  staging=$(mktemp -d "$prefix/.new.XXXXXX")
  for part in "${missing_parts[@]}"; do assemble "$part"; done
}

# --- the run -----------------------------------------------------------------------------------

work=
staging=
clean_up() {
  [ -z "$work" ] || rm -rf "$work"
  [ -z "$staging" ] || rm -rf "$staging"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

look_around
case "$mode" in
  check)
    [ "${#missing_packages[@]}" -eq 0 ] && [ "${#missing_parts[@]}" -eq 0 ] || exit 3
    exit 0
    ;;
  install)
    if [ "${#missing_packages[@]}" -gt 0 ] || [ "${#missing_parts[@]}" -gt 0 ]; then
      install_what_is_missing
      look_around
    fi
    ;;
esac
