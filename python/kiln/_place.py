"""Where an installed kiln has its library. Of the standard library alone: the build backend runs it, too."""


def runtime_libraries(prefix):
    """libkiln_runtime.so below lib/, lib64/ or lib/<machine>/, the first that lies there first."""
    return sorted(prefix.glob("lib*/libkiln_runtime.so")) + sorted(prefix.glob("lib/*/libkiln_runtime.so"))
