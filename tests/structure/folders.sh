#!/usr/bin/env bash
# Checks that ARCHITECTURE.md has a line for each folder with code: those of the first level, of
# kernels/ and of tools/.
# usage: folders.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
status=0
for folder in */CMakeLists.txt kernels/*/ tools/*/; do
  folder=${folder%CMakeLists.txt}
  [[ $folder != build*/ ]] || continue
  grep -q "^| .*\`$folder" ARCHITECTURE.md || { echo "ARCHITECTURE.md has no line for $folder"; status=1; }
done
exit "$status"
