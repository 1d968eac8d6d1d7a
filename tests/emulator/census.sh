#!/usr/bin/env bash
# Searches the AMD images of a build for instructions that the emulator lacks.
# usage: census.sh KILN FOLDER
set -euo pipefail
images=$(find "$2" -name 'gfx*.hsaco' | sort)
[ -n "$images" ] || { echo "no AMD image under $2"; exit 1; }
status=0
while read -r image; do
  listing=$("$1" run "$image")
  printf '%s: %d kernels\n' "${image#"$2"/}" "$(grep -c '^  ' <<<"$listing")"
  ! grep 'the emulator lacks' <<<"$listing" || status=1
done <<<"$images"
exit $status
