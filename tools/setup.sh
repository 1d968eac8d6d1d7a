#!/usr/bin/env bash
# Prepares a Debian or Ubuntu machine so that kiln can be built and tested and can compile kernels
# for AMD and NVIDIA. Installs what is missing and leaves alone what is there. A second run does
# nothing.
#
# Writes to two places: the machine's package manager (only packages of the machine's own release)
# and a private prefix (everything else). docs/SETUP.md lists what goes where, and why.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/setup.sh [--check | --print-env | --help]

Installs what this machine lacks to build kiln and to compile kernels with it.

  --check      list what is there and what is missing; install nothing; exit 3 if anything is missing
  --print-env  print shell lines that point other tools at the compilers that kiln will use
  --help       this text

environment:
  KILN_TOOLCHAIN_DIR     the private prefix [${XDG_DATA_HOME:-~/.local/share}/kiln/toolchain]
  ROCM_PATH, CUDA_PATH   a ROCm, a CUDA toolkit to be used as it is
  KILN_SETUP_ROCM=no     do without AMD's tools
  KILN_SETUP_CUDA=no     do without nvcc
  KILN_SETUP_TESTS=no    do without what only kiln's own tests and examples need

example: tools/setup.sh && eval "$(tools/setup.sh --print-env)" && hipcc --version

exit status: 0 all there, 2 wrong usage, 3 something is missing (the last lines say what to do)
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for file in say place apt rocm hipify cuda catch2; do
  # shellcheck source=/dev/null
  source "$here/setup/$file.sh"
done

[ $# -le 1 ] || { usage >&2; exit 2; }
case "${1:-install}" in
  install | --check | --print-env) mode=${1:-install} ;;
  --help | -h) usage; exit 0 ;;
  *) say "unknown option '$1'"; usage >&2; exit 2 ;;
esac

for name in KILN_SETUP_ROCM KILN_SETUP_CUDA KILN_SETUP_TESTS; do
  case "${!name:-}" in
    '' | yes | no) ;;
    *) say "$name is '${!name}', but may only be 'no' or 'yes'"; exit 2 ;;
  esac
done

prefix=$(private_prefix)
[ -n "$prefix" ] || die "neither KILN_TOOLCHAIN_DIR nor HOME is set: there is no place for the private prefix"

# shellcheck disable=SC1091
os_release() { (. /etc/os-release 2>/dev/null && printf '%s' "${!1:-}"); }
distribution=$(os_release ID)
distribution_codename=$(os_release VERSION_CODENAME)
# shellcheck disable=SC2034  # used in setup/catch2.sh
distribution_version=$(os_release VERSION_ID)  # Debian's testing and unstable have none

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# Prints the folder above the bin/ that a command on PATH resolves to, or nothing if there is no
# such command.
folder_above() {
  local file
  file=$(command -v "$1") || return 0
  dirname "$(dirname "$(readlink -f "$file")")"
}

# --- what is there -----------------------------------------------------------------------------
# Each has_... function stores the location in `place`.

has_command() {  # NAME MINIMUM
  local version
  place=$(command -v "$1") || return 1
  [ "$2" != - ] || return 0
  version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
  at_least "$2" "${version:-0}"
}

has_header() {  # PATH
  local folder
  for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
    place=$folder/$1
    [ ! -e "$place" ] || return 0
  done
  return 1
}

has_library() {  # NAME
  local folder
  for folder in /lib /usr/lib /usr/local/lib /usr/lib/*-linux-gnu /lib/*-linux-gnu /usr/lib64; do
    place=$folder/$1
    [ ! -e "$place" ] || return 0
  done
  return 1
}

report() {  # WHAT STATE DETAIL
  [ "$mode" != --check ] || printf '%-31s %-8s %s\n' "$1" "$2" "$3"
}

want_package() {  # WHAT PACKAGE...
  report "$1" missing "apt install ${*:2}"
  missing_packages+=("${@:2}")
}

# Adds a part of the prefix to `missing_parts` unless the part's recorded recipe is the current one.
want_part() {
  if [ "$(cat "$prefix/$1/.recipe" 2>/dev/null)" = "$(recipe "$1")" ]; then
    report "$1" found "$prefix/$1"
  else
    report "$1" missing "goes to $prefix/$1"
    missing_parts+=("$1")
  fi
}

recipe() {
  {
    rows "$here/setup/prefix.txt"
    cat "$here/setup/$1.sh"
    printf '%s %s\n' "$distribution" "$distribution_codename"
    if [ "$1" = rocm ]; then
      cat "$here"/setup/{hipify.sh,hipcc,rocm_agent_enumerator,device_constants.txt}
      printf 'LLVM %s\n' "$llvm"
    fi
  } | sha256sum | cut -d ' ' -f 1
}

look_around() {
  missing_packages=()  # of the machine's own release
  welcome_packages=()  # likewise, but optional
  missing_parts=()     # of the private prefix
  absent=()            # cannot be installed by this script
  rocm=''
  llvm=''
  cuda=''
  look_for_machine_packages
  [ "${KILN_SETUP_ROCM:-}" = no ] || look_for_rocm
  [ -z "$llvm" ] || [ "${KILN_SETUP_TESTS:-}" = no ] || look_for_sanitizers
  [ "${KILN_SETUP_CUDA:-}" = no ] || look_for_cuda
  [ "${KILN_SETUP_TESTS:-}" = no ] || look_for_catch2
  [ "${KILN_SETUP_TESTS:-}" = no ] || look_for_chromium
}

# Looks for the sanitizers of the clang that comes with AMD's tools. With GNU's, tests/sanitized.sh
# takes twice as long.
look_for_sanitizers() {
  local folder="/usr/lib/llvm-$llvm/lib/clang/$llvm/lib/linux"
  if [ -d "$folder" ]; then
    report sanitizers found "$folder"
  else
    want_package sanitizers "libclang-rt-$llvm-dev"
  fi
}

# Looks for the browser that tests the page of `kiln report`. Ubuntu has no package for it; the test
# is then skipped.
look_for_chromium() {
  local package=chromium-headless-shell name
  for name in "$package" chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && report chromium found "$(command -v "$name")" && return 0
  done
  report chromium absent "the test of the report's page is skipped"
  ! has_candidate "$package" || welcome_packages+=("$package")
}

say_absent_rust() {
  note "$(command -v rustc) is no rustc 1.56 or newer that runs: Rust examples are left out, everything else works"
  note "it says: $(rustc --version 2>&1 | head -n 1)"
  hint "mend it (\`rustup default stable\` where it is rustup's), or take it off PATH, and run this again"
}

look_for_machine_packages() {
  local probe what minimum package tests place
  while read -r probe what minimum package tests; do
    [ -z "$tests" ] || [ "${KILN_SETUP_TESTS:-}" != no ] || continue
    if "has_$probe" "$what" "$minimum"; then
      report "$what" found "$place"
    elif [ "$what" = rustc ] && command -v rustc >/dev/null; then
      # A package of the machine would come later on PATH than the broken rustc.
      report rustc unusable "$(command -v rustc)"
      absent+=(rust)
    else
      want_package "$what" "$package"
    fi
  done < <(rows "$here/setup/machine.txt")
}

# --- what is missing ---------------------------------------------------------------------------

install_what_is_missing() {
  local part
  if [ "${#missing_packages[@]}" -gt 0 ]; then
    update_lists
    look_around  # apt may have more to offer after the update
    install_packages "${missing_packages[@]}"
  fi
  [ "${#missing_parts[@]}" -gt 0 ] || return 0
  mkdir -p "$prefix" || die "the private prefix '$prefix' cannot be written" "set KILN_TOOLCHAIN_DIR"
  exec 9>"$prefix/.lock"
  flock 9
  rm -rf "$prefix"/.new.*  # left by runs that were killed
  staging=$(mktemp -d "$prefix/.new.XXXXXX")
  chmod 755 "$staging"
  for part in "${missing_parts[@]}"; do assemble "$part"; done
}

# Makes a part in a staging folder and then moves it into place as a whole. No run can leave half a
# part, however it ends.
assemble() {
  local part=$1
  if [ "$(cat "$prefix/$part/.recipe" 2>/dev/null)" = "$(recipe "$part")" ]; then
    return 0  # another run made it while this one waited for the lock
  fi
  say "making $prefix/$part"
  mkdir -p "$work/$part" "$staging/$part"
  cd "$work/$part"
  "assemble_$part" "$staging/$part"
  recipe "$part" >"$staging/$part/.recipe"
  cd "$here"
  [ ! -e "$prefix/$part" ] || mv "$prefix/$part" "$staging/$part.old"
  mv "$staging/$part" "$prefix/$part"
}

# --- the run -----------------------------------------------------------------------------------

work=
staging=
# shellcheck disable=SC2317  # called by the trap
clean_up() { rm -rf ${work:+"$work"} ${staging:+"$staging"}; }
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

something_is_missing() { [ $((${#missing_packages[@]} + ${#missing_parts[@]})) -gt 0 ]; }

look_around
case "$mode" in
  --check)
    something_is_missing && exit 3
    exit 0
    ;;
  --print-env) ;;
  install)
    work=$(mktemp -d)
    chmod 755 "$work"  # apt downloads as a user without privileges
    if something_is_missing; then
      install_what_is_missing
      look_around
      ! something_is_missing ||
        die "still missing after installing: ${missing_packages[*]} ${missing_parts[*]}" \
          "tools/setup.sh --check tells what was looked for, and where"
    fi
    [ "${#welcome_packages[@]}" -eq 0 ] || try_packages "${welcome_packages[@]}"
    for what in "${absent[@]}"; do "say_absent_$what"; done
    ;;
esac

if [ "$mode" = --print-env ]; then
  # The lines may be read in another folder, so a relative path of the user is made absolute.
  [ -z "$rocm" ] || rocm=$(realpath -s -- "$rocm")
  [ -z "$cuda" ] || cuda=$(realpath -s -- "$cuda")
  printf 'export KILN_TOOLCHAIN_DIR=%q\n' "$prefix"
  path=
  if [ -n "$rocm" ]; then
    printf 'export ROCM_PATH=%q\n' "$rocm"
    path=$path$rocm/bin:
    [ -x "$rocm/bin/hipify-perl" ] || [ ! -d "$prefix/hipify" ] || path=$path$prefix/hipify/bin:
  fi
  if [ -n "$cuda" ]; then
    printf 'export CUDA_PATH=%q\n' "$cuda"
    path=$path$cuda/bin:
  fi
  # shellcheck disable=SC2016  # $PATH is for the shell that reads this
  [ -z "$path" ] || printf 'export PATH=%q"$PATH"\n' "$path"
fi
