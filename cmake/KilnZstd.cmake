# kiln_zstd: the system's zstd library. Both the build of kiln and kilnConfig.cmake use it, because
# a program that links the static library of the runtime also links zstd.
find_path(KILN_ZSTD_INCLUDE_DIR zstd.h)
find_library(KILN_ZSTD_LIBRARY zstd)
mark_as_advanced(KILN_ZSTD_INCLUDE_DIR KILN_ZSTD_LIBRARY)
if(KILN_ZSTD_INCLUDE_DIR AND KILN_ZSTD_LIBRARY AND NOT TARGET kiln_zstd)
  add_library(kiln_zstd INTERFACE IMPORTED GLOBAL)
  target_include_directories(kiln_zstd SYSTEM INTERFACE "${KILN_ZSTD_INCLUDE_DIR}")
  target_link_libraries(kiln_zstd INTERFACE "${KILN_ZSTD_LIBRARY}")
endif()
