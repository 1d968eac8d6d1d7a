# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# How setup.sh speaks, and how it ends. Sourced by tools/setup.sh.

say() { printf 'kiln setup: %s\n' "$*" >&2; }
note() { printf 'note: %s\n' "$*" >&2; }
hint() { printf 'hint: %s\n' "$*" >&2; }

# What is wrong, then one line for each further argument. 3: the environment is at fault.
die() {
  printf 'kiln setup: error: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do hint "$line"; done
  exit 3
}

# Runs a command quietly; its whole output is shown only when it fails.
quietly() {
  local log="$work/log"
  "$@" >"$log" 2>&1 </dev/null && return 0
  local status=$?
  printf 'kiln setup: error: command failed with exit status %d: %s\n' "$status" "$*" >&2
  sed 's/^/  /' "$log" >&2
  return "$status"
}

# A table's rows without comments and blank lines.
rows() { sed -e 's/[[:space:]]*#.*$//' -e '/^[[:space:]]*$/d' "$1"; }
