#!/bin/sh
# Whether a library shows no function and no variable of C++. What headers define inline is not looked at: each who
# includes them has it.
# usage: shows_entries.sh LIBRARY
set -eu
shown=$(nm -D --defined-only "$1" | awk '$2 ~ /^[TDBR]$/ && $3 ~ /^_Z/ {print $3}')
[ -z "$shown" ] || { echo "$1 shows:"; echo "$shown" | c++filt; exit 1; }
nm -D --defined-only "$1" | grep -q ' T ' || { echo "$1 shows nothing"; exit 1; }
