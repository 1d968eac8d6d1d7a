#!/usr/bin/env bash
# refusals.sh CMAKE SOURCE: what the package says where kiln cannot run.
set -eu
cmake=$1 source=$2
fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source/examples/downstream/kernels/targets.json" "$work"

echo "set(CMAKE_CROSSCOMPILING ON)
include($source/cmake/KilnAddKernels.cmake)
kiln_add_kernels(TARGET demo MANIFEST $work/targets.json)" >"$work/cross.cmake"
"$cmake" -P "$work/cross.cmake" 2>"$work/said" && fail "a cross build without KILN_PROGRAM"
tr -s ' \n' ' ' <"$work/said" | grep -q 'name one that can, of the same version: -DKILN_PROGRAM=/path/to/kiln' ||
  fail "cross: $(cat "$work/said")"

echo '{"modules": 1}' >"$work/other.json"
echo "include($source/cmake/KilnAddKernels.cmake)
kiln_add_kernels(TARGET demo MANIFEST $work/target.json)" >"$work/missing.cmake"
"$cmake" -P "$work/missing.cmake" 2>"$work/said" && fail "a manifest that is not there"
tr -s ' \n' ' ' <"$work/said" | grep -q "there is no manifest $work/target.json; did you mean targets.json?" ||
  fail "missing: $(cat "$work/said")"

sed 's/@PACKAGE_INIT@//' "$source/cmake/kilnConfig.cmake.in" >"$work/kilnConfig.cmake"
echo "set(WIN32 ON)
include($work/kilnConfig.cmake)
message(\"\${kiln_FOUND}: \${kiln_NOT_FOUND_MESSAGE}\")" >"$work/windows.cmake"
"$cmake" -P "$work/windows.cmake" 2>&1 | grep -q 'FALSE: kiln runs on Linux alone' || fail "find_package on Windows"
