if(WIN32)
  message(FATAL_ERROR "kiln runs on Linux alone: Windows and MSVC are not supported; build and run in WSL 2")
endif()

# The options of a build of kiln itself.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

option(KILN_BUILD_TOOLS "Build the kiln command-line driver" ON)
option(KILN_BUILD_OPS "Build kiln::ops, which holds our kernels for every target (minutes)" ${PROJECT_IS_TOP_LEVEL})
option(KILN_BUILD_TESTS "Build the tests (needs Catch2 3)" ${PROJECT_IS_TOP_LEVEL})
# A compiler newer than those that kiln is tested with may warn of more, which stops no build.
set(kiln_warnings_as_errors ${PROJECT_IS_TOP_LEVEL})
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 14) OR
   (CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 20))
  set(kiln_warnings_as_errors OFF)
endif()
option(KILN_WARNINGS_AS_ERRORS "Treat warnings in kiln's own code as errors" ${kiln_warnings_as_errors})
set(KILN_SANITIZE "" CACHE STRING "Sanitizers for kiln's own code: address,undefined or thread")
option(KILN_COMPILE_TOGETHER "Compile the sources of a library together: less time, for builds from nothing" OFF)
