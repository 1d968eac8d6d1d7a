# kiln_zstd: the system's zstd library. Used by the build of kiln and by kilnConfig.cmake, because a
# program that links the runtime's static library links zstd, too.
find_path(KILN_ZSTD_INCLUDE_DIR zstd.h)
find_library(KILN_ZSTD_LIBRARY zstd)
mark_as_advanced(KILN_ZSTD_INCLUDE_DIR KILN_ZSTD_LIBRARY)
if(KILN_ZSTD_INCLUDE_DIR AND KILN_ZSTD_LIBRARY AND NOT TARGET kiln_zstd)
  add_library(kiln_zstd INTERFACE IMPORTED GLOBAL)
  target_include_directories(kiln_zstd SYSTEM INTERFACE "${KILN_ZSTD_INCLUDE_DIR}")
  target_link_libraries(kiln_zstd INTERFACE "${KILN_ZSTD_LIBRARY}")
endif()
