#!/usr/bin/env bash
# example.sh EXAMPLE PREFIX: builds and runs a copy of EXAMPLE in a folder of its own, with the kiln that is
# installed in PREFIX.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$1" "$work/project"
cmake -S "$work/project" -B "$work/build" "-DCMAKE_PREFIX_PATH=$2"
cmake --build "$work/build"
"$work/build/saxpy"
