#!/usr/bin/env bash
# rust_program.sh RUSTC HEADERS LIBRARY WORK: builds and runs a program with the generated Rust module, and
# compiles the module of odd names. Warnings are errors.
set -eu
rustc=$1 headers=$2 library=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
GENERATED="$headers/array" "$rustc" --edition 2021 -D warnings "$here/program.rs" -o "$work/program" \
  -L "$(dirname "$library")" -C "link-arg=-Wl,-rpath,$(dirname "$library")"
"$work/program"
"$rustc" --edition 2021 -D warnings --crate-type lib --emit metadata -o "$work/odd.rmeta" "$headers/odd/kernels.rs"
