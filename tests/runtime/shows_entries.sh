#!/bin/sh
# Checks that a library exports no C++ function and no C++ variable. Inline definitions of headers
# are not checked, because every program that includes the headers has them.
# usage: shows_entries.sh LIBRARY
set -eu
shown=$(nm -D --defined-only "$1" | awk '$2 ~ /^[TDBR]$/ && $3 ~ /^_Z/ {print $3}')
[ -z "$shown" ] || { echo "$1 shows:"; echo "$shown" | c++filt; exit 1; }
nm -D --defined-only "$1" | grep -q ' T ' || { echo "$1 shows nothing"; exit 1; }
