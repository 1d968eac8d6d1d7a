#!/usr/bin/env bash
# python.sh PYTHON SOURCE EXAMPLES PREFIX WORK: the Python package's arguments, with an installed kiln; and
# where this Python can build wheels, its wheel.
set -eu
python=$1 source=$2 examples=$3 prefix=$4 work=$5
rm -rf "$work"
mkdir -p "$work"
"$prefix/bin/kiln" build "$examples/kernels/targets.json" --out "$work/out" --emit catalog --target host
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH="$prefix/share/kiln/python" "$python" "$source" "$work/out/include/kernels.kiln"
if ! "$python" -W ignore -c 'import pip, setuptools, wheel' 2>/dev/null; then
  echo "without pip, setuptools and wheel: no wheel was built"
  exit 0
fi
cp -r "$prefix/share/kiln/python" "$work/python"
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w "$work" "$work/python"
"$python" -m zipfile -l "$work"/kiln-*-py3-none-any.whl | grep -q kiln/_catalog.py
