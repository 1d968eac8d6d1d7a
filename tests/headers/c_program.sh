#!/usr/bin/env bash
# c_program.sh COMPILER HEADERS LIBRARY WORK: builds and runs a program of two C files that include
# the C header, in each of its forms, and compiles the header with odd names as C and as C++.
set -eu
compiler=$1 headers=$2 library=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
warnings=(-Wall -Wextra -Wconversion -Wpedantic -Wshadow -Werror -I "$here/../../runtime/include")
mkdir -p "$work"
for form in array asm split; do
  folder=$headers/$form sources=()
  case $form in
    array) sources=("$here/c_bytes.c") ;;
    asm) sources=("$folder/kernels_c.S") ;;
    split) sources=("$folder/kernels.c") ;;
  esac
  "$compiler" -std=c99 "${warnings[@]}" -I "$folder" "$here/c_first.c" "$here/c_second.c" "${sources[@]}" \
    -o "$work/$form" "$library" "-Wl,-rpath,$(dirname "$library")"
  "$work/$form"
done
"$compiler" -std=c99 "${warnings[@]}" -fsyntax-only -I "$headers/odd" "$here/c_bytes.c"
"$compiler" -x c++ -std=c++17 "${warnings[@]}" -fsyntax-only -I "$headers/odd" "$here/c_bytes.c"
