# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# Functions of setup.sh for messages and errors and for reading tables. Sourced by tools/setup.sh.

say() { printf 'kiln setup: %s\n' "$*" >&2; }
note() { printf 'note: %s\n' "$*" >&2; }
hint() { printf 'hint: %s\n' "$*" >&2; }

# Prints what is wrong and then what to do next, one line each. Exits with 3: the environment is at
# fault.
die() {
  local line
  printf 'kiln setup: error: %s\n' "$1" >&2
  for line in "${@:2}"; do hint "$line"; done
  exit 3
}

# Runs a command quietly. Shows its whole output only if it fails.
quietly() {
  local log="$work/log" status=0
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" -ne 0 ] || return 0
  printf 'note: exit status %d of: %s\n' "$status" "$*" >&2
  sed 's/^/  /' "$log" >&2
  return "$status"
}

# Prints the rows of a table without comments and blank lines.
rows() { sed -e 's/[[:space:]]*#.*$//' -e '/^[[:space:]]*$/d' "$1"; }
