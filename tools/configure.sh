#!/usr/bin/env bash
# Configures the build folder of the preset `release`. A new build folder compiles sources together,
# which takes half the time. An existing one stays as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
together=()
[ -e build/CMakeCache.txt ] || together=(-DKILN_COMPILE_TOGETHER=ON)
cmake --preset release --log-level=WARNING "${together[@]}"
