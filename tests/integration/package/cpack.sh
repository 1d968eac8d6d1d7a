#!/usr/bin/env bash
# cpack.sh BUILD WORK: the packages contain the program, the runtime, docs, schema, completions and
# manual pages.
set -eu
build=$1 work=$2
rm -rf "$work"
(cd "$build" && cpack -G TGZ -B "$work" >"$work.log" 2>&1) || { cat "$work.log"; exit 1; }
tar -tzf "$work"/kiln-*.tar.gz >"$work/list"
for path in bin/kiln lib/.*libkiln_runtime.so include/kiln/kiln.h share/doc/kiln/docs/MANIFEST.md \
  tools/schema/targets.schema.json bash-completion/completions/kiln man1/kiln-build.1 pkgconfig/kiln.pc \
  python/kiln/__init__.py; do
  grep -q "$path\$" "$work/list" || { echo "FAILED: no $path in:" >&2; cat "$work/list" >&2; exit 1; }
done
# Unpacked elsewhere it runs, in an environment without any reference to this tree.
mkdir "$work/elsewhere"
tar -xzf "$work"/kiln-*.tar.gz -C "$work/elsewhere" --strip-components=1
cd "$work/elsewhere/usr"
cat >sample.cu <<'TEXT'
#include <device/platform.cuh>
KILN_KERNEL(64, fill, float* y) { y[kiln::device::thread_index()] = 1; }
TEXT
cat >targets.json <<'TEXT'
{"format": 1, "name": "sample", "targets": ["host"], "modules": [{"name": "sample", "sources": ["sample.cu"]}],
 "include_directories": ["{kiln}"]}
TEXT
unpacked() { env -i PATH=/usr/bin:/bin HOME="$work" KILN_CACHE=off bin/kiln "$@" >said 2>&1 || { cat said >&2; exit 1; }; }
unpacked --version
unpacked doctor targets.json
grep -q 'ok  host ' said || { echo "FAILED: the host device is not found:" >&2; cat said >&2; exit 1; }
unpacked build targets.json --out out
[ -s out/images/sample/host.so ] || { echo "FAILED: no image" >&2; exit 1; }
unpacked inspect out
command -v dpkg-deb >/dev/null || exit 0
(cd "$build" && cpack -G DEB -B "$work" >"$work.log" 2>&1) || { cat "$work.log"; exit 1; }
dpkg-deb -c "$work"/kiln_*.deb >"$work/list"
grep -q './usr/bin/kiln$' "$work/list"
