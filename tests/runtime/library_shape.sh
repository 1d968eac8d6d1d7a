#!/bin/sh
# Checks libkiln_runtime.so: it has less than 430 KB when stripped, needs only libc, libstdc++ and
# zstd, and exports only the functions of kiln.h.
# usage: library_shape.sh LIBRARY HEADER SCRATCH_FOLDER
set -eu
library=$1 header=$2 scratch=$3
failed=0
mkdir -p "$scratch"

strip -o "$scratch/stripped.so" "$library"
size=$(wc -c < "$scratch/stripped.so")
echo "stripped: $size bytes"
if readelf -d "$library" | grep -q 'NEEDED.*libstdc++'; then
  [ "$size" -lt 430000 ] || { echo "over 430000 bytes"; failed=1; }
else
  echo "the compiler put libstdc++ into it, so its size is not judged"
fi

for needed in $(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
  case $needed in
    libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libzstd.so.1 | libdl.so.2 | libpthread.so.0 | ld-linux*) ;;
    *) echo "needs $needed"; failed=1 ;;
  esac
done

nm -D --defined-only "$library" | awk '{print $3}' | sort > "$scratch/shown"
grep -oE '\bkiln_[a-z_]+\(' "$header" | tr -d '(' | sort -u > "$scratch/declared"
diff "$scratch/declared" "$scratch/shown" || { echo "declared (<) and shown (>) differ"; failed=1; }
exit $failed
