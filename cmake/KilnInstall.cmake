# The install tree and the package for find_package(kiln).
