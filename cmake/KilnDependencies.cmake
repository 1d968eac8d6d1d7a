# The libraries that kiln uses, each with one target: CLI11::CLI11 and kiln_zstd, and for the tests
# nlohmann_json::nlohmann_json and Catch2::Catch2WithMain.
#
# Each library is taken from the system if that version is new enough. Otherwise it is taken from
# the folder that tools/setup.sh fills, or else downloaded and checked against the recorded digest.
set(KILN_TOOLCHAIN_DIR "" CACHE PATH "Where tools/setup.sh puts what the machine lacks [its default]")
include("${CMAKE_CURRENT_LIST_DIR}/KilnToolchainDir.cmake")

# Calls find_package(NAME MINIMUM). If the package is not found, downloads the archive at URL, which
# must have this SHA-256.
function(kiln_find_or_fetch name minimum url sha256)
  find_package(${name} ${minimum} QUIET PATHS "${kiln_toolchain_dir}")
  if(${name}_FOUND)
    message(STATUS "${name} ${${name}_VERSION}: ${${name}_DIR}")
    set(${name}_DIR "${${name}_DIR}" PARENT_SCOPE)
    return()
  endif()
  message(STATUS "${name} ${minimum} or newer is not on this machine (tools/setup.sh brings it): fetching ${url}")
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  include(FetchContent)
  FetchContent_Declare(${name} URL "${url}" URL_HASH "SHA256=${sha256}" TIMEOUT 60)
  FetchContent_MakeAvailable(${name})
  string(TOLOWER ${name} lower_name)
  set(${name}_SOURCE_DIR "${${lower_name}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

find_package(Threads REQUIRED)

include(KilnZstd)
if(NOT TARGET kiln_zstd)
  message(FATAL_ERROR "zstd's header and library are not on this machine: run tools/setup.sh, or install libzstd-dev")
endif()

include(KilnLlvm)
include(KilnRust)

if(KILN_BUILD_TOOLS)
  kiln_find_or_fetch(CLI11 2.1
    https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz
    f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a)
endif()
if(KILN_BUILD_TESTS)
  kiln_find_or_fetch(nlohmann_json 3.10  # for the benchmarks' reports
    https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
  kiln_find_or_fetch(Catch2 3.3
    https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
    c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
  list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}" "${Catch2_SOURCE_DIR}/extras")
  include(Catch)
endif()
