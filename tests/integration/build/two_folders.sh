#!/usr/bin/env bash
# two_folders.sh KILN SOURCE WORK: builds kiln's own manifest from scratch in two copies of its
# sources, with different numbers of jobs, and compares every output.
set -eu
kiln=$1 source=$2 work=$3
short=$work/a long="$work/a folder of a longer name/below another"
rm -rf "$work"
for copy in "$short" "$long"; do
  mkdir -p "$copy"
  cp -r "$source/targets.json" "$source/kernels" "$copy"
done
(cd "$short" && "$kiln" build --no-cache --allow-missing)
(cd "$long" && "$kiln" build --no-cache --allow-missing --jobs 3 --out somewhere/else)

# .kiln has notes, including depfiles; compile_commands.json is for an editor on this machine.
if ! diff -rq -x .kiln -x compile_commands.json "$short/out" "$long/somewhere/else"; then
  echo "FAILED: outputs depend on the folder" >&2
  exit 1
fi
echo "$(cd "$short/out" && find . -path ./.kiln -prune -o -type f -print | wc -l) files, all the same"
