"""Uses kiln from Python, with images. examples/downstream/python uses a catalog file instead.

    python3 main.py IMAGE...          affine_f32 of the first image that the default device runs

The package is in python/: set PYTHONPATH to it or install it with pip. Set KILN_RUNTIME_LIBRARY to
libkiln_runtime.so if the dynamic linker does not find it.
"""

import ctypes
import pathlib
import sys

import kiln


def load_first(device, paths):
    for path in paths:
        try:
            return device.function(pathlib.Path(path).read_bytes(), "affine_f32")
        except kiln.Error as error:  # for example an image for another architecture
            print(error, file=sys.stderr)
    sys.exit(f"no image that {device.id} runs")


device = kiln.Device()
affine = load_first(device, sys.argv[1:])
values = (ctypes.c_float * 4)(1, 2, 3, 4)
buffer = device.upload(values)
contiguous = ctypes.c_void_p(None)
affine.launch(1, 64, ctypes.c_size_t(4), ctypes.c_size_t(1), contiguous, buffer, buffer,
              ctypes.c_float(2), ctypes.c_float(1))
buffer.download(values)
print(f"{device.id} ({device.name}):", *values)
sys.exit(0 if list(values) == [3, 5, 7, 9] else 1)
