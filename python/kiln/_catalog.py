"""Catalog files and their kernels."""

import ctypes
import os

from . import _library, _types
from ._arguments import Arguments
from ._device import Device, launch


def _spelt(name):
    """Returns the name without blanks, which comparisons of names ignore."""
    return name.replace(" ", "")


class Parameter:
    """One parameter of a kernel: `type`, such as "const f32*", or empty if it is unknown; `name`;
    `size`."""

    def __init__(self, position, info):
        self.position = position
        self.type, self.name, self.size = info.type.decode(), info.name.decode(), info.size
        self.is_pointer, self.is_value = bool(info.is_pointer), bool(info.is_value)
        self.is_const = self.type.startswith("const ")
        element = self.type[len("const "):] if self.is_const else self.type
        element = element.rstrip("*")
        self.element = element if element in _types.SIZES or element == "void" else None

    def __str__(self):
        return f"{self.type or f'{self.size} bytes'} {self.name}".rstrip()

    def __repr__(self):
        return f"<Parameter {self}>"


class Kernel:
    """A kernel of a catalog: kernel.launch(device, grid, block, ...)."""

    def __init__(self, catalog, module, name, place):
        self.catalog, self.module, self.name = catalog, module, name
        self._place = place
        self._parameters = None
        self._functions = {}  # by the id() of the device

    @property
    def readable_name(self):
        """The name in the source, such as "saxpy<float>"."""
        place = [ctypes.c_size_t(i) for i in self._place]
        ask = _library.library().kiln_catalog_kernel_readable_name
        size = ask(self.catalog._handle, *place, None, ctypes.c_size_t(0)) + 1
        text = ctypes.create_string_buffer(size)
        ask(self.catalog._handle, *place, text, ctypes.c_size_t(size))
        return text.value.decode()

    @property
    def parameters(self):
        if self._parameters is None:
            opened, handle = _library.library(), self.catalog._handle
            place = [ctypes.c_size_t(i) for i in self._place]
            count = opened.kiln_catalog_parameter_count(handle, *place)
            parameters = []  # complete before another thread can see it
            for i in range(count):
                info = _library.ParameterInfo()
                opened.kiln_catalog_get_parameter(handle, *place, ctypes.c_size_t(i), ctypes.byref(info))
                parameters.append(Parameter(i, info))
            self._parameters = parameters
        return self._parameters

    def launch(self, device, grid, block, *arguments, shared_bytes=0, stream=None):
        """Starts the kernel. `grid` (blocks) and `block` (threads) are numbers or tuples of up to
        three numbers.

        A number parameter takes a number, which is converted to its type, or a ctypes value of
        exactly that type. A parameter of unknown type, such as a struct, takes a ctypes value or
        bytes of its size. A pointer parameter takes a Buffer, None, an object with
        __cuda_array_interface__ or __dlpack__, or an array in host memory, such as a numpy array.
        A host array is copied to the device. Unless the parameter is const, it is also copied back
        after the kernel, and launch() waits for that."""
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.readable_name} takes {len(self.parameters)} arguments after device, grid and block, "
                            f"not {len(arguments)}: ({', '.join(map(str, self.parameters))})")
        if not isinstance(device, Device):
            raise TypeError(f"a kiln.Device comes first, not {type(device).__name__}")
        given = Arguments(device, stream)
        for parameter, argument in zip(self.parameters, arguments):
            given.add(parameter, argument)
        launch(device, self._function(device), grid, block, given.values, shared_bytes, stream)
        given.finish(stream)

    def _function(self, device):
        held = self._functions.get(id(device))
        if held is None:
            handle = _library.make("kiln_catalog_function", device._handle, self.catalog._handle,
                                   self.module.encode(), self.name.encode())
            # Keeping the device alive prevents another object from getting the same id().
            held = (device, _library.Handle(handle, "kiln_function_free"))
            # If two threads are first, the function of one of them is kept.
            held = self._functions.setdefault(id(device), held)
        return held[1]._handle

    def __repr__(self):
        return f"<Kernel {self.module}.{self.readable_name}({', '.join(map(str, self.parameters))})>"


class Catalog(_library.Handle):
    """An open catalog file. catalog["saxpy"] is a kernel; catalog["module", "saxpy"] is needed if
    two modules have a kernel of that name. An instance of a template is catalog["saxpy<float>"]."""

    def __init__(self, path):
        path = os.fsencode(path)
        if b"\0" in path:
            raise ValueError(f"a path holds a NUL: {path!r}")
        super().__init__(_library.make("kiln_catalog_open", path), "kiln_catalog_free")
        opened = _library.library()
        self.name = opened.kiln_catalog_name(self._handle).decode()
        self.digest = opened.kiln_catalog_digest(self._handle).decode()
        self.modules = {}  # name of the module -> {name of the kernel -> Kernel}
        for m in range(opened.kiln_catalog_module_count(self._handle)):
            module = ctypes.c_size_t(m)
            name = opened.kiln_catalog_module_name(self._handle, module).decode()
            kernels = self.modules[name] = {}
            for k in range(opened.kiln_catalog_kernel_count(self._handle, module)):
                kernel = opened.kiln_catalog_kernel_name(self._handle, module, ctypes.c_size_t(k)).decode()
                kernels[kernel] = Kernel(self, name, kernel, (m, k))

    def _found(self, key):
        found = [kernels[key] for kernels in self.modules.values() if key in kernels]
        return found or [kernel for kernel in (self._written(module, key) for module in self.modules) if kernel]

    def __contains__(self, key):
        if isinstance(key, Kernel):
            return key.catalog is self
        if not isinstance(key, tuple):
            return bool(self._found(key))
        module, kernel = key
        return module in self.modules and (kernel in self.modules[module] or self._written(module, kernel) is not None)

    def __getitem__(self, key):
        if isinstance(key, tuple):
            module, kernel = key
            if module not in self.modules:
                raise KeyError(f"catalog '{self.name}' has no module '{module}'; it has {', '.join(self.modules)}")
            found = self.modules[module].get(kernel) or self._written(module, kernel)
            if found is None:
                raise KeyError(f"module '{module}' has no kernel '{kernel}'{self._nearest(kernel)}")
            return found
        found = self._found(key)
        if not found:
            is_module = f"; it is a module: catalog.modules[{key!r}]" if key in self.modules else ""
            raise KeyError(f"catalog '{self.name}' has no kernel '{key}'{self._nearest(key)}{is_module}")
        if len(found) > 1:
            names = ", ".join(repr(kernel.module) for kernel in found)
            raise KeyError(f"modules {names} have a kernel '{key}': catalog[{found[0].module!r}, {key!r}]")
        return found[0]

    def __iter__(self):
        """Returns an iterator over all kernels, in the order of the modules."""
        return (kernel for kernels in self.modules.values() for kernel in kernels.values())

    def __len__(self):
        return sum(len(kernels) for kernels in self.modules.values())

    def __repr__(self):
        return f"<Catalog {self.name}: kernels {len(self)}, modules {len(self.modules)}>"

    def load(self, device):
        """Loads every module now, so that later launches do not have to."""
        _library.call("kiln_catalog_load", device._handle, self._handle)

    def _written(self, module, key):
        """Returns the kernel with this readable name, such as "saxpy<float>", or None."""
        if key in self.modules.get(module, {key: None}):
            return None
        at = _library.library().kiln_catalog_find_kernel(
            self._handle, ctypes.c_size_t(list(self.modules).index(module)),
            _library.text(key, "the name of a kernel"))
        kernels = list(self.modules[module].values())
        if at < len(kernels):
            return kernels[at]
        # The library finds nothing if two kernels have the same readable name.
        same = [kernel.name for kernel in kernels if _spelt(kernel.readable_name) == _spelt(key)]
        if len(same) > 1:
            number = "two" if len(same) == 2 else len(same)
            raise KeyError(f"'{key}' may be {number} kernels: {', '.join(same)}; name the one that is meant")
        return None

    def _nearest(self, key):
        import difflib
        module, _, kernel = key.partition(".")
        if kernel in self.modules.get(module, ()):
            return f"; did you mean catalog[{module!r}, {kernel!r}]?"
        names = [kernel.readable_name for kernel in self]
        template, is_instance, _ = key.partition("<")
        instances = [name for name in names if name.startswith(f"{template}<")]
        if instances:
            return f": the sources instantiate {', '.join(instances)}" + (
                "; add the instance to them" if is_instance else "")
        in_namespaces = [name for name in names if name.partition("<")[0].endswith(f"::{template}")]
        near = in_namespaces or difflib.get_close_matches(key, names, 1)
        return f"; did you mean '{near[0]}'?" if near else ""
