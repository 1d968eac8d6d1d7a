#!/usr/bin/env bash
# Sets the machine up, builds kiln, and runs every test. Further arguments go to ctest; the
# sanitized tests are then left out:
#   tests/run.sh -L fast
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
eval "$(tools/setup.sh --print-env)"

tools/configure.sh
cmake --build --preset release
[ $# -eq 0 ] || exec ctest --preset release --parallel "$(nproc)" "$@"
ctest --preset release --parallel "$(nproc)"
exec tests/sanitized.sh
