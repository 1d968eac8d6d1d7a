# The install tree and the package for find_package(kiln). add_subdirectory gives the same names.
#
#   bin/kiln               the command-line driver
#   include/kiln/          the public headers
#   lib/                   the runtime, and the libraries that it opens when asked for
#   lib/cmake/kiln/        the package
#   share/doc/kiln/        README and docs/
#   share/man, bash-completion, zsh, fish: what `kiln man` and `kiln completions` print
#   lib/pkgconfig/         the same for other build systems: kiln (shared), kiln-static
#   share/kiln/            kiln's own kernels with their manifest, the manifest's JSON Schema, and the
#                          Python package
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
  FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh" PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.json")
install(DIRECTORY tools/schema DESTINATION "${KILN_SHARE_DIR}/tools" FILES_MATCHING PATTERN "*.json")

install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/kilnConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/kilnConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS KILN_SHARE_DIR)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/kilnConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/KilnAddKernels.cmake cmake/KilnForgetStamp.cmake cmake/KilnZstd.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/kilnConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/kilnConfigVersion.cmake"
  DESTINATION "${package_dir}")

file(RELATIVE_PATH kiln_prefix_of_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" kiln_prefix_of_pc "${kiln_prefix_of_pc}")
foreach(file kiln.pc kiln-static.pc)
  configure_file("cmake/${file}.in" "${CMAKE_CURRENT_BINARY_DIR}/${file}" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
install(DIRECTORY python DESTINATION "${KILN_SHARE_DIR}"
  FILES_MATCHING PATTERN "*.py" PATTERN "*.toml" PATTERN "*.md" PATTERN "__pycache__" EXCLUDE)

if(PROJECT_IS_TOP_LEVEL)
  install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endif()
# The program writes these files itself, so that they agree with its --help.
if(TARGET kiln)
  install(CODE "
    set(kiln \"$<TARGET_FILE:kiln>\")
    set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
    set(man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")")
  install(SCRIPT cmake/KilnInstallTexts.cmake)
endif()

set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU kernels for every target, embedded in one header, with a runtime")
set(CPACK_PACKAGE_CONTACT "the authors of kiln")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libzstd-dev, libstdc++6, libc6")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, perl, python3")
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  set(kiln_KERNELS_MANIFEST "${PROJECT_SOURCE_DIR}/targets.json" PARENT_SCOPE)
endif()
