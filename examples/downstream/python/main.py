"""Computes y = 1 + 2 * x on the default device.

    export PYTHONPATH=PREFIX/share/kiln/python        (or pip install that folder)
    kiln build ../kernels/targets.json --out out --emit catalog --allow-missing
    python3 main.py
"""

import array

import kiln

device = kiln.Device()
saxpy = kiln.Catalog("out/include/kernels.kiln")["saxpy"]
x = device.upload([1, 2, 3, 4], "f32")
y = array.array("f", [1, 1, 1, 1])  # numpy arrays work, too
saxpy.launch(device, 1, 256, len(x), 2, x, y)
print(*(f"{value:g}" for value in y))
