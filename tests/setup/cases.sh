#!/usr/bin/env bash
# The behaviour of tools/setup.sh, with a function for each case. Nothing is installed or fetched:
# cases that would do so use a fake apt, which records its calls.
# usage: cases.sh CASE
set -euo pipefail
source_folder=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

fail() {
  printf 'failed: %s\n' "$*"
  exit 1
}
skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

# Runs a command, and stores its output in `output` and its exit status in `status`.
run() {
  status=0
  output=$("$@" 2>&1 </dev/null) || status=$?
}
expect_status() { [ "$status" -eq "$1" ] || fail "exit status $status, not $1: $output"; }
expect_output() { [[ $output == *"$1"* ]] || fail "'$1' is not in: $output"; }
refuse_output() { [[ $output != *"$1"* ]] || fail "'$1' is in: $output"; }

setup=$source_folder/tools/setup.sh
# shellcheck source=/dev/null
source "$source_folder/tools/setup/place.sh"
real_prefix=$(private_prefix)

need_machine_set_up() {
  run "$setup" --check
  [ "$status" -eq 0 ] || skip "this machine is not set up: tools/setup.sh"
}

# Makes PATH a folder of links to every program except the named ones.
hide_programs() {
  local folder name
  mkdir -p "$scratch/bin"
  for folder in ${PATH//:/ }; do
    ln -s -t "$scratch/bin" "$folder"/* 2>/dev/null || true  # the first of a name wins
  done
  for name in "$@"; do rm -f "$scratch/bin/$name"; done
  export PATH=$scratch/bin
}

# A machine on which only hipify-perl is missing, with an apt that offers it in the given version.
with_fake_apt() {  # VERSION
  need_machine_set_up
  export KILN_TOOLCHAIN_DIR=$scratch/prefix KILN_SETUP_CUDA=no ROCM_PATH=$scratch/rocm
  mkdir -p "$ROCM_PATH/bin" "$KILN_TOOLCHAIN_DIR" "$scratch/package/DEBIAN" "$scratch/package/usr/bin"
  ln -s /bin/true "$ROCM_PATH/bin/hipcc"
  [ ! -d "$real_prefix/catch2" ] || ln -s "$real_prefix/catch2" "$KILN_TOOLCHAIN_DIR/catch2"
  printf '#!/bin/sh\necho a fake\n' >"$scratch/package/usr/bin/hipify-perl"
  chmod +x "$scratch/package/usr/bin/hipify-perl"
  printf 'Package: hipify-perl\nVersion: %s\nArchitecture: all\nMaintainer: a test <a@test>\nDescription: a fake\n' \
    "$1" >"$scratch/package/DEBIAN/control"
  dpkg-deb --build --root-owner-group "$scratch/package" "$scratch/hipify-perl_${1}_all.deb" >/dev/null
  hide_programs hipify-perl apt-get apt-cache
  cat >"$scratch/bin/apt-get" <<TEXT
#!/bin/bash
echo "apt-get \$*" >>"$scratch/calls"
case " \$* " in
  *' --print-uris '*) echo "'http://archive.test/dists/\$(. /etc/os-release; echo \$VERSION_CODENAME)/InRelease' file 0" ;;
  *' update '*) [ ! -e "$scratch/unreachable" ] ;;
  *' download '*) [ ! -e "$scratch/slow" ] || { touch "$scratch/downloading"; sleep 30; }
    cp "$scratch"/hipify-perl_*.deb . ;;
esac
TEXT
  cat >"$scratch/bin/apt-cache" <<TEXT
#!/bin/bash
echo "Version: $1"
TEXT
  chmod +x "$scratch/bin/apt-get" "$scratch/bin/apt-cache"
}

recorded_version() { awk '$1 == "hipify" && $2 == "debian" { print $6 }' "$source_folder/tools/setup/prefix.txt"; }

expect_no_trace() {
  [ ! -e "$KILN_TOOLCHAIN_DIR/hipify" ] || fail "a part was put in place"
  [ -z "$(find "$KILN_TOOLCHAIN_DIR" -name '.new.*')" ] || fail "half a part was left behind"
}

# --- the cases ---------------------------------------------------------------------------------

does_nothing_on_a_machine_that_is_set_up() {
  need_machine_set_up
  local before
  before=$(find "$real_prefix" -printf '%p %T@ %s\n' 2>/dev/null | sort)
  run "$setup"
  expect_status 0
  refuse_output installing
  refuse_output making
  [ "$before" = "$(find "$real_prefix" -printf '%p %T@ %s\n' 2>/dev/null | sort)" ] || fail "files changed"
}

# What would make a second run slow, whatever the speed of the machine.
calls_no_package_manager_when_there_is_nothing_to_do() {
  need_machine_set_up
  local name
  mkdir -p "$scratch/recorders"
  for name in apt apt-get apt-cache apt-config apt-mark dpkg dpkg-deb dpkg-query curl wget sudo; do
    # shellcheck disable=SC2016  # $0 and $* are the recorder's own
    printf '#!/bin/sh\necho "$0 $*" >>"%s/calls"\nexit 1\n' "$scratch" >"$scratch/recorders/$name"
    chmod +x "$scratch/recorders/$name"
  done
  PATH=$scratch/recorders:$PATH run "$setup"
  expect_status 0
  [ ! -e "$scratch/calls" ] || fail "called: $(cat "$scratch/calls")"
}

check_lists_what_is_missing_and_installs_nothing() {
  export KILN_TOOLCHAIN_DIR=$scratch/prefix
  hide_programs ninja hipcc rustc meson
  mkdir -p "$scratch/empty"
  ROCM_PATH=$scratch/empty run "$setup" --check
  expect_status 3
  expect_output "ninja                           missing  apt install ninja-build"
  [ -d /opt/rocm ] || expect_output "rocm                            missing  goes to $scratch/prefix/rocm"
  expect_output atch2
  expect_output "rustc                           missing  apt install rustc"
  [ ! -e "$scratch/prefix" ] || fail "--check wrote to the prefix"
  KILN_SETUP_TESTS=no ROCM_PATH=$scratch/empty run "$setup" --check
  refuse_output atch2
  refuse_output sanitizers
  refuse_output rustc
  refuse_output meson
}

names_a_tool_that_is_too_old() {
  hide_programs cmake
  printf '#!/bin/sh\necho cmake version 3.18.4\n' >"$scratch/bin/cmake"
  chmod +x "$scratch/bin/cmake"
  run "$setup" --check
  expect_status 3
  expect_output "cmake                           missing  apt install cmake"
}

goes_on_without_a_rustc_that_does_not_run() {
  need_machine_set_up
  hide_programs rustc
  printf '#!/bin/sh\necho "error: no default toolchain is configured" >&2; exit 1\n' >"$scratch/bin/rustc"
  chmod +x "$scratch/bin/rustc"
  run "$setup"
  expect_status 0
  expect_output "rustc is no rustc 1.56 or newer that runs: Rust examples are left out"
  expect_output "it says: error: no default toolchain is configured"
  refuse_output installing
  run "$setup" --check
  expect_status 0
  expect_output "rustc                           unusable $scratch/bin/rustc"
}

prints_the_commands_when_the_user_may_not_install() {
  hide_programs ninja sudo
  local as_nobody=()
  cp -r "$source_folder/tools" "$scratch/tools"
  if [ "$(id -u)" -eq 0 ]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as_nobody[@]}" test -x "$scratch/tools/setup.sh" || skip "another user cannot read $scratch"
  fi
  run env KILN_TOOLCHAIN_DIR="$scratch/prefix" "${as_nobody[@]}" "$scratch/tools/setup.sh"
  expect_status 3
  expect_output "packages are missing, and this user may not install them"
  expect_output "  apt-get update"
  expect_output "  apt-get install --yes --no-install-recommends --no-remove"
  expect_output "ninja-build"
}

refuses_a_package_that_is_not_the_recorded_one() {
  with_fake_apt "$(recorded_version)"
  run "$setup"
  expect_status 3
  expect_output "is not the file recorded in tools/setup/prefix.txt"
  expect_no_trace
}

accepts_a_package_that_its_release_replaced_and_says_so() {
  with_fake_apt 99.0-1
  run "$setup"
  expect_status 0
  expect_output "has replaced hipify-perl $(recorded_version), which kiln was tested with: using 99.0-1"
  [ "$("$KILN_TOOLCHAIN_DIR/hipify/bin/hipify-perl")" = 'a fake' ] || fail "hipify-perl was not put in place"
  rm "$scratch/calls"
  run "$setup"
  expect_status 0
  [ ! -e "$scratch/calls" ] || fail "the second run called: $(cat "$scratch/calls")"
}

leaves_the_state_of_apt_alone() {
  with_fake_apt 99.0-1
  run "$setup"
  expect_status 0
  local calls
  calls=$(grep -v -e --print-uris "$scratch/calls")
  [ "$(grep -c 'Dir::State::Lists=/.*Dir::State::status=/dev/null' <<<"$calls")" -eq "$(wc -l <<<"$calls")" ] ||
    fail "apt was called on the machine's own state: $calls"
  ! grep -q ' install ' <<<"$calls" || fail "a package of another release was installed"
}

says_what_to_do_when_the_archive_cannot_be_read() {
  with_fake_apt 99.0-1
  touch "$scratch/unreachable"
  run "$setup"
  expect_status 3
  expect_output "no package 'hipify-perl' could be had from debian trixie"
  expect_output "KILN_SETUP_ROCM=no"
  expect_no_trace
}

leaves_nothing_behind_when_it_is_interrupted() {
  with_fake_apt 99.0-1
  touch "$scratch/slow"
  setsid "$setup" >/dev/null 2>&1 </dev/null &
  local waited
  for ((waited = 0; waited < 100; ++waited)); do
    [ ! -e "$scratch/downloading" ] || break
    sleep 0.1
  done
  [ -e "$scratch/downloading" ] || fail "the download never began"
  kill -TERM -- "-$!"
  status=0
  wait $! || status=$?
  [ "$status" -ne 0 ] || fail "exit status 0"
  expect_no_trace
  rm "$scratch/slow"
  run "$setup"
  expect_status 0
}

reads_every_form_of_apt_configuration() {
  command -v apt-get >/dev/null || skip "no apt on this machine"
  # shellcheck disable=SC2034  # used in apt.sh
  distribution_codename=bookworm
  # shellcheck source=/dev/null
  source "$source_folder/tools/setup/apt.sh"
  mkdir -p "$scratch/etc/sources.list.d" "$scratch/state/lists"
  mkdir "$scratch/etc/apt.conf.d"
  printf 'Dir::Etc "%s";\nDir::State::Lists "%s";\n' "$scratch/etc" "$scratch/state/lists" >"$scratch/apt.conf"
  export APT_CONFIG=$scratch/apt.conf
  expect_address() {  # EXPECTED, after the configuration on standard input went to FILE
    rm -f "$scratch/etc/sources.list" "$scratch"/etc/sources.list.d/*
    cat >"$scratch/etc/$1"
    [ "$(archive_addresses)" = "$2" ] || fail "$1: '$(archive_addresses)' is not '$2'"
  }
  expect_address sources.list http://one.test/debian <<'TEXT'
deb http://other.test/debian bullseye main
deb [arch=amd64] http://one.test/debian bookworm main contrib
deb http://one.test/debian-security bookworm-security main
deb cdrom:[Debian]/ bookworm main
TEXT
  expect_address sources.list.d/debian.sources http://two.test/debian <<'TEXT'
Types: deb
URIs: http://two.test/debian
Suites: bookworm bookworm-updates
Components: main
TEXT
  expect_address sources.list mirror+file:/etc/apt/mirrors/debian.list <<'TEXT'
deb mirror+file:/etc/apt/mirrors/debian.list bookworm main
TEXT
  expect_address sources.list http://three.test/debian <<'TEXT'
deb http://three.test/debian stable main
TEXT
  expect_address sources.list '' <<'TEXT'
TEXT
}

names_no_mirror() {
  local found
  found=$(grep -rnE '(https?|ftp)://|\.debian\.org|\.ubuntu\.com' "$source_folder/tools/setup.sh" "$source_folder/tools/setup" || true)
  [ -z "$found" ] || fail "$found"
}

print_env_points_at_working_compilers() {
  need_machine_set_up
  run "$setup" --print-env
  expect_status 0
  eval "$output"
  run hipcc --version
  expect_status 0
  expect_output "HIP version"
  # Also from a folder other than the one in which a relative path was given.
  mkdir -p "$scratch/cuda/bin"
  ln -s /bin/true "$scratch/cuda/bin/nvcc"
  cd "$scratch"
  run env CUDA_PATH=cuda "$setup" --print-env
  expect_output "CUDA_PATH=$scratch/cuda"
}

compiles_for_a_generic_target() {
  need_machine_set_up
  eval "$("$setup" --print-env)"
  [ "$ROCM_PATH" = "$real_prefix/rocm" ] || skip "this machine has a ROCm of its own"
  printf '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(float* x) { *x = sinf(*x); }\n' >"$scratch/k.hip"
  run "$ROCM_PATH/bin/hipcc" --genco --offload-arch=gfx11-generic -mcode-object-version=6 \
    --no-gpu-bundle-output "$scratch/k.hip" -o "$scratch/k.hsaco"
  expect_status 0
  [ -s "$scratch/k.hsaco" ] || fail "no code object was written"
}

explains_itself() {
  run "$setup" --help
  expect_status 0
  expect_output "usage: tools/setup.sh"
  expect_output "example: "
  run "$setup" --wrong
  expect_status 2
  expect_output "unknown option '--wrong'"
  expect_output "usage: tools/setup.sh"
  KILN_SETUP_TESTS=maybe run "$setup"
  expect_status 2
  expect_output "KILN_SETUP_TESTS is 'maybe', but may only be 'no' or 'yes'"
}

# tests/unit/tools/system/environment_test.cpp checks kiln against the same table.
has_the_prefix_where_kiln_and_cmake_have_it() {
  local names=(KILN_TOOLCHAIN_DIR XDG_DATA_HOME HOME) values=() place variables i
  printf 'include("%s")\nfile(WRITE "%s" "%s{kiln_toolchain_dir}")\n' \
    "$source_folder/cmake/KilnToolchainDir.cmake" "$scratch/said" "\$" >"$scratch/ask.cmake"
  while read -r -a values; do
    [[ ${#values[@]} -eq 4 && ${values[0]} != \#* ]] || continue
    place=${values[3]/#none/}
    [[ $place != here/* ]] || place=$(realpath -ms "${place#here/}")
    variables=(-u KILN_TOOLCHAIN_DIR -u XDG_DATA_HOME -u HOME)
    for i in 0 1 2; do
      [ "${values[i]}" = - ] || variables+=("${names[i]}=${values[i]/#empty/}")
    done
    run env "${variables[@]}" bash -euc "source '$source_folder/tools/setup/place.sh'; private_prefix"
    [ "$output" = "$place" ] || fail "${values[*]}: setup.sh has '$output'"
    env "${variables[@]}" cmake -P "$scratch/ask.cmake"
    [ "$(cat "$scratch/said")" = "$place" ] || fail "${values[*]}: CMake has '$(cat "$scratch/said")'"
  done <"$source_folder/tests/setup/places.txt"
}

passes_shellcheck() {
  command -v shellcheck >/dev/null || skip "shellcheck is not on this machine"
  cd "$source_folder"
  local scripts
  mapfile -t scripts < <(find . -path './build*' -prune -o -path ./out -prune -o -name '*.sh' -print | sort)
  run shellcheck -x .ci/run tools/setup/hipcc tools/setup/rocm_agent_enumerator "${scripts[@]}"
  expect_status 0
}

"$1"
