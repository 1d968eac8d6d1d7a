#!/usr/bin/env bash
# refusals.sh CMAKE SOURCE: the messages of the package if kiln cannot run.
set -eu
cmake=$1 source=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source/examples/downstream/kernels/targets.json" "$work"

# refuses WHAT WORDS ARGUMENTS...: kiln_add_kernels must fail with these words.
refuses() {
  what=$1 words=$2; shift 2
  echo "cmake_minimum_required(VERSION 3.22)
set(CMAKE_CROSSCOMPILING $cross)
include($source/cmake/KilnAddKernels.cmake)
kiln_add_kernels(TARGET demo $*)" >"$work/refused.cmake"
  "$cmake" -P "$work/refused.cmake" 2>"$work/said" && fail "$what"
  tr -s ' \n' ' ' <"$work/said" | grep -qF "$words" || fail "$what: $(cat "$work/said")"
}

echo '{"modules": 1}' >"$work/other.json"
cross=ON
refuses "a cross build without KILN_PROGRAM" 'name one that can, of the same version: -DKILN_PROGRAM=/path/to/kiln' \
  MANIFEST "$work/targets.json"
cross=OFF
refuses "a manifest that is not there" "there is no manifest $work/target.json; did you mean targets.json?" \
  MANIFEST "$work/target.json"
refuses "a mode that there is not" "EMBED aray: expected array, asm, split" \
  MANIFEST "$work/targets.json" EMBED aray
refuses "a language that there is not" "EMIT c++: expected cpp, c, rust, catalog" \
  MANIFEST "$work/targets.json" EMIT c c++
refuses "a language among the options" "OPTIONS --emit: write EMIT, which the build system knows of" \
  MANIFEST "$work/targets.json" OPTIONS --emit c
refuses "a second TARGET" "TARGET is given twice: it names the library; TARGETS names what to build for" \
  MANIFEST "$work/targets.json" TARGET host
refuses "a second manifest" "MANIFEST is given twice" MANIFEST "$work/targets.json" MANIFEST "$work/other.json"

sed 's/@PACKAGE_INIT@//' "$source/cmake/kilnConfig.cmake.in" >"$work/kilnConfig.cmake"
echo "set(WIN32 ON)
include($work/kilnConfig.cmake)
message(\"\${kiln_FOUND}: \${kiln_NOT_FOUND_MESSAGE}\")" >"$work/windows.cmake"
"$cmake" -P "$work/windows.cmake" 2>&1 | grep -q 'FALSE: kiln runs on Linux alone' || fail "find_package on Windows"
