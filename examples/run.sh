#!/usr/bin/env bash
# From a fresh machine to kernels that have run: sets the machine up, builds kiln, builds the kernels of
# targets.json for every target that this machine has a compiler for, runs one on the first GPU, or without
# one on the processor, and then one on every device that there is. Both check what their kernel computed.
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
