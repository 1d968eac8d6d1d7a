#!/usr/bin/env bash
# example.sh PROJECT PREFIX PROGRAM CMAKE-OPTION...: builds a copy of PROJECT in its own folder,
# with the kiln installed in PREFIX, and runs PROGRAM.
set -eu
project=$1 prefix=$2 program=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$project" "$work/project"
cmake -G Ninja -S "$work/project" -B "$work/build" "-DCMAKE_PREFIX_PATH=$prefix" "$@"
cmake --build "$work/build"
"$work/build/$program"
