#!/usr/bin/env bash
# when_asked.sh COMMAND...: runs the command if KILN_TEST_SLOW is 1, for tests that take minutes.
# Otherwise it says how to enable the test, and exits with 77, which ctest counts as skipped.
if [ "${KILN_TEST_SLOW:-}" != 1 ]; then
  echo "skipped: takes minutes; set KILN_TEST_SLOW=1"
  exit 77
fi
exec "$@"
