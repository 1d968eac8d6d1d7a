#!/usr/bin/env bash
# python.sh PYTHON SOURCE EXAMPLES PREFIX WORK: tests the arguments of the Python package with an
# installed kiln; and its wheel, made without a network and used without the installed package.
set -eu
python=$1 source=$2 examples=$3 prefix=$4 work=$5
rm -rf "$work"
mkdir -p "$work"
"$prefix/bin/kiln" build "$examples/kernels/targets.json" --out "$work/out" --emit catalog --target host
cp -r "$examples/kernels" "$work/untyped"
sed -i '/"abi"/d' "$work/untyped/targets.json"
"$prefix/bin/kiln" build "$work/untyped/targets.json" --out "$work/untyped/out" --emit catalog --target host
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH="$prefix/share/kiln/python" "$python" "$source" "$work/out/include/kernels.kiln" \
  "$work/untyped/out/include/kernels.kiln"

cd "$prefix/share/kiln/python"
if "$python" -c 'import pip' 2>/dev/null; then
  "$python" -m pip wheel --quiet --no-index -w "$work" .
else
  PYTHONPATH=build_backend "$python" -c 'import sys, kiln_backend; kiln_backend.build_wheel(sys.argv[1])' "$work"
fi
cd "$work"
PYTHONPATH=$(echo "$work"/kiln-*-py3-none-any.whl) "$python" - <<'PROGRAM'
import kiln
assert ".whl" in kiln.__file__, kiln.__file__
device = kiln.Device("host")
y = device.upload([1, 1, 1, 1], "f32")
kiln.Catalog("out/include/kernels.kiln")["saxpy"].launch(device, 1, 256, 4, 2, [1, 2, 3, 4], y)
assert list(y.download()) == [3, 5, 7, 9]
PROGRAM
