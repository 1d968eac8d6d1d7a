#!/usr/bin/env bash
# Prepares a fresh machine and runs kernels on it: sets the machine up, builds kiln, and builds the
# kernels of targets.json for every target that this machine has a compiler for. Then it runs one
# kernel on the first GPU, or on the processor if there is no GPU, and one on every available
# device. Both programs check the results of their kernels.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n==> %s\n' "$*"; }

step "tools/setup.sh: what this machine lacks"
tools/setup.sh
eval "$(tools/setup.sh --print-env)"

step "building kiln in build/"
tools/configure.sh
cmake --build --preset release --target kiln

step "kiln build targets.json --out out"
build/tools/kiln build targets.json --out out --allow-missing

step "building and running examples/first"
cmake --build --preset release --target first
build/examples/first/first

step "building and running examples/every_device, with an AMD GPU emulated"
cmake --build --preset release --target every_device
build/examples/every_device/every_device emulated:gfx1100
