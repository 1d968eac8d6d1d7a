#!/usr/bin/env bash
# rust_program.sh RUSTC HEADERS LIBRARY WORK: builds and runs a program with the generated Rust
# module, and compiles the module with odd names. Warnings are errors.
set -eu
rustc=$1 headers=$2 library=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"
GENERATED="$headers/array" "$rustc" --edition 2021 -D warnings "$here/program.rs" -o "$work/program" \
  -L "$(dirname "$library")" -C "link-arg=-Wl,-rpath,$(dirname "$library")"
"$work/program"
# Also in the newest edition, if the compiler supports it.
editions=2021
if echo | "$rustc" --edition 2024 --crate-type lib --emit metadata -o "$work/none.rmeta" - 2>/dev/null; then
  editions="2021 2024"
fi
for edition in $editions; do
  "$rustc" --edition "$edition" -D warnings --crate-type lib --emit metadata -o "$work/odd.rmeta" "$headers/odd/kernels.rs"
done
