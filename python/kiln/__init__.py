"""Runs the GPU kernels that kiln built.

    catalog = kiln.Catalog("kernels.kiln")          # written by `kiln build --emit catalog`
    device = kiln.Device()                          # the default device, or kiln.Device("host")
    catalog["affine_f32"].launch(device, blocks, threads, ...)

The catalog knows the parameters of each kernel. An argument of a wrong kind is a TypeError, and a
number is converted to the type of the parameter.
"""

from ._catalog import Catalog, Kernel, Parameter
from ._device import Buffer, Device, Function, Stream
from ._library import Error

__all__ = ["Buffer", "Catalog", "Device", "Error", "Function", "Kernel", "Parameter", "Stream"]
__version__ = "0.1.0"
