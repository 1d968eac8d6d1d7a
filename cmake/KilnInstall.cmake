# The install tree, and the package for find_package(kiln); the same names for add_subdirectory.
#
#   bin/kiln               the command-line driver
#   include/kiln/          the public headers
#   lib/                   the runtime, and the libraries that it opens when asked for
#   lib/cmake/kiln/        the package
#   share/kiln/            kiln's own kernels with their manifest, and the manifest's JSON Schema
include(CMakePackageConfigHelpers)
include(KilnAddKernels)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kiln")
set(KILN_SHARE_DIR "${CMAKE_INSTALL_DATADIR}/kiln")

set(libraries kiln_headers kiln_base kiln_compression kiln_formats kiln_runtime kiln_runtime_shared)
if(TARGET kiln)
  list(APPEND libraries kiln)
  add_executable(kiln::kiln ALIAS kiln)
endif()
install(TARGETS ${libraries} EXPORT kilnTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(library kiln_host kiln_emulator)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
install(DIRECTORY runtime/include/kiln DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES targets.json DESTINATION "${KILN_SHARE_DIR}")
install(DIRECTORY kernels DESTINATION "${KILN_SHARE_DIR}"
  FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh" PATTERN "*.hpp" PATTERN "*.json")
install(DIRECTORY tools/schema DESTINATION "${KILN_SHARE_DIR}/tools" FILES_MATCHING PATTERN "*.json")

install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/kilnConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/kilnConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS KILN_SHARE_DIR)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/kilnConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/KilnAddKernels.cmake cmake/KilnZstd.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/kilnConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/kilnConfigVersion.cmake"
  DESTINATION "${package_dir}")

if(NOT PROJECT_IS_TOP_LEVEL)
  set(kiln_KERNELS_MANIFEST "${PROJECT_SOURCE_DIR}/targets.json" PARENT_SCOPE)
endif()
