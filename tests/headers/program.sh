#!/usr/bin/env bash
# program.sh COMPILER STANDARD HEADERS VARIANT WORK: builds and runs a program of three translation
# units, two of which include the header of VARIANT, and one another header with the same names.
set -eu
compiler=$1 standard=$2 headers=$3 variant=$4 work=$5
here=$(cd "$(dirname "$0")" && pwd)
public="$here/../../runtime/include"
other=zstd
[ "$variant" != zstd ] || other=array
warnings=(-Wall -Wextra -Wconversion -Wpedantic -Wshadow -Werror)

mkdir -p "$work"
objects=()
compile() { # SOURCE FOLDER
  local object
  object=$work/$(basename "$1").o
  "$compiler" "-std=$standard" "${warnings[@]}" -I "$public" -I "$2" -c "$1" -o "$object"
  objects+=("$object")
}
compile "$here/program_first.cpp" "$headers/$variant"
compile "$here/program_second.cpp" "$headers/$variant"
compile "$here/program_another.cpp" "$headers/$other"
if [ "$variant" = asm ]; then
  # From another folder and twice, as with two libraries in one program.
  for copy in 1 2; do
    (cd / && "$compiler" -x assembler-with-cpp -I "$headers/asm" -c "$headers/asm/kernels.S" \
       -o "$work/kernels$copy.o")
    objects+=("$work/kernels$copy.o")
  done
fi
if [ "$variant" = split ]; then
  for copy in 1 2; do
    "$compiler" "-std=$standard" "${warnings[@]}" -c "$headers/split/kernels.cpp" -o "$work/kernels$copy.o"
    objects+=("$work/kernels$copy.o")
  done
fi
"$compiler" "${objects[@]}" -o "$work/program"
"$work/program"
