#!/usr/bin/env bash
# cpack.sh BUILD WORK: the packages hold the program, the runtime, docs, schema, completions and manual pages.
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
command -v dpkg-deb >/dev/null || exit 0
(cd "$build" && cpack -G DEB -B "$work" >"$work.log" 2>&1) || { cat "$work.log"; exit 1; }
dpkg-deb -c "$work"/kiln_*.deb >"$work/list"
grep -q './usr/bin/kiln$' "$work/list"
