"""Finds the library of an installed kiln. It uses only the standard library, because the build
backend runs it, too."""


def runtime_libraries(prefix):
    """Returns the paths of libkiln_runtime.so below lib/, lib64/ or lib/<machine>/, in this
    order."""
    return sorted(prefix.glob("lib*/libkiln_runtime.so")) + sorted(prefix.glob("lib/*/libkiln_runtime.so"))
