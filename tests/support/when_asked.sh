#!/usr/bin/env bash
# when_asked.sh VARIABLE COMMAND...: runs the command where the variable is 1, for tests that take long; else
# says how to ask for it, and exits with 77, which the test counts as skipped.
variable=$1
shift
if [ "${!variable:-}" != 1 ]; then
  echo "skipped: takes long; set $variable=1"
  exit 77
fi
exec "$@"
