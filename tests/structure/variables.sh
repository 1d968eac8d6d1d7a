#!/usr/bin/env bash
# variables.sh ROOT: checks that tools/system/variables.cpp lists each environment variable that is
# read, and that the documentation has each of them.
set -eu
cd "$1"
list=tools/system/variables.cpp
names() { grep -rhoE '"KILN_[A-Z_]+"' "$@" | tr -d '"' | sort -u; }
# Quoted names are variables, except for these words of device code.
read=$(names --include='*.cpp' --include='*.hpp' --include='*.py' --exclude="${list##*/}" base tools formats runtime \
  host emulator ops python | grep -vxE 'KILN_(KERNEL|SHARED)')
status=0
if ! difference=$(diff <(names "$list") <(echo "$read")); then
  echo "FAILED: $list (<) and what is read (>):"
  grep '^[<>]' <<<"$difference"
  status=1
fi
for name in $read; do
  grep -qrE "$name([^A-Z_]|\$)" docs README.md python/README.md || { echo "FAILED: the documentation lacks $name"; status=1; }
done
exit $status
