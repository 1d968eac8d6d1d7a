# kiln_warnings: every target of ours links it PRIVATE, no target of a user does. If sources are
# compiled together, a name of one may hide a name of another. Then only names hidden within a
# function are reported, which g++ supports.
set(kiln_shadow -Wshadow)
if(KILN_COMPILE_TOGETHER)
  set(kiln_shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
add_library(kiln_warnings INTERFACE)
target_compile_options(kiln_warnings INTERFACE
  -Wall -Wextra -Wpedantic ${kiln_shadow} -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${KILN_WARNINGS_AS_ERRORS}>:-Werror>)
# g++ 12 misreads "literal" + std::string under -O2 and above (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kiln_warnings INTERFACE -Wno-restrict)
endif()
if(KILN_SANITIZE)
  target_compile_options(kiln_warnings INTERFACE
    -fsanitize=${KILN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(kiln_warnings INTERFACE -fsanitize=${KILN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The code that the sanitizers insert prevents g++ from seeing that std::variant is initialised.
    target_compile_options(kiln_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(KILN_BUILD_FUZZERS)  # gives libFuzzer the coverage of each input
  target_compile_options(kiln_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()
