#!/bin/sh
# Four processes compile the same source concurrently into one cache. Each gets its image, and one
# complete entry remains.
# usage: share_compiled.sh PROGRAM SCRATCH_FOLDER
set -eu
program=$1 cache=$2
rm -rf "$cache"
export KILN_CACHE_DIR="$cache" KILN_DEVICE=host
pids=
for _ in 1 2 3 4; do
  "$program" & pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done

[ "$(find "$cache/compiled" -name '*.image' | wc -l)" -eq 1 ] || { echo "not one entry"; exit 1; }
[ "$(find "$cache/compiled" | wc -l)" -eq 2 ] || { echo "something was left behind:"; find "$cache"; exit 1; }
KILN_TRACE=1 "$program" 2>&1 | grep "found in the cache"
