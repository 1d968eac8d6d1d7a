#!/usr/bin/env bash
# From a fresh machine to a kernel that has run: sets the machine up, builds kiln, builds the kernels of
# targets.json for every target that this machine has a compiler for, and runs the first example.
# Ends with what the example computed, or, without a GPU, with what is embedded and what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n==> %s\n' "$*"; }

step "tools/setup.sh: what this machine lacks"
tools/setup.sh
eval "$(tools/setup.sh --print-env)"

step "building kiln in build/"
cmake --preset release --log-level=WARNING
cmake --build --preset release --target kiln

step "kiln build targets.json --out out --allow-missing"
build/tools/kiln build targets.json --out out --allow-missing

step "building and running examples/first"
cmake --build --preset release --target first
build/examples/first/first
