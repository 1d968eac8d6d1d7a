# kiln_add_kernels: builds the kernels of a manifest into a library that programs can link.
#
#   kiln_add_kernels(TARGET name MANIFEST targets.json
#                    [TARGETS gfx1100 sm_90 ...]     build for these only [the manifest's]
#                    [MODULES affine fill ...]       these modules only [all]
#                    [EMBED array|asm|split]         where the images are stored [the manifest's]
#                    [EMIT cpp c rust catalog]       what is written for programs [the manifest's]
#                    [NAMESPACE ns]                  the header's namespace [the manifest's]
#                    [OPTIONS --allow-missing ...])  more options of `kiln build`
#
# After `target_link_libraries(program PRIVATE name)` the program can `#include` the generated
# header by the file name that the manifest gives it. The other generated files have the same name
# with other endings. The kernels are built again when the manifest, a source or a header that a
# source includes has changed, or when a generated file was deleted. Only the images that depend on
# the change are built.
#
# In a cross build the target's kiln cannot run. -DKILN_PROGRAM=/usr/local/bin/kiln then names the
# kiln of the machine that builds. Both must have the same version.
#
# Needs Ninja or Makefiles. EMBED asm needs the language ASM: project(... LANGUAGES CXX ASM).
function(kiln_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;MANIFEST;EMBED;NAMESPACE" "TARGETS;MODULES;EMIT;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kiln_add_kernels: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(single TARGET MANIFEST EMBED NAMESPACE)
    set(given "${ARGV}")
    list(FILTER given INCLUDE REGEX "^${single}$")
    list(LENGTH given count)
    if(count GREATER 1)
      set(hint)
      if(single STREQUAL TARGET)
        set(hint ": it names the library; TARGETS names what to build for")
      endif()
      message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): ${single} is given twice${hint}")
    endif()
  endforeach()
  foreach(required TARGET MANIFEST)
    if(NOT arg_${required})
      message(FATAL_ERROR "kiln_add_kernels: ${required} is missing")
    endif()
  endforeach()

  _kiln_check_words(${arg_TARGET} EMBED "array;asm;split" ${arg_EMBED})
  _kiln_check_words(${arg_TARGET} EMIT "cpp;c;rust;catalog" ${arg_EMIT})
  foreach(option IN LISTS arg_OPTIONS)
    if(option MATCHES "^--emit(=|$)")
      message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): OPTIONS ${option}: write EMIT, which the build system knows of")
    endif()
  endforeach()

  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE)
  if(NOT EXISTS "${manifest}")
    _kiln_manifests_beside("${manifest}" near)
    message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): there is no manifest ${manifest}${near}")
  endif()
  set(program kiln::kiln)
  if(KILN_PROGRAM)
    set(program "${KILN_PROGRAM}")
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): this is a cross build, and the target's kiln cannot "
      "run here: name one that can, of the same version: -DKILN_PROGRAM=/path/to/kiln")
  endif()
  # The build system must know the names of the generated files. They are in the manifest.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  file(READ "${manifest}" text)
  string(JSON header ERROR_VARIABLE no_header GET "${text}" embed header)
  if(no_header)
    set(header kernels.hpp)
  endif()
  string(JSON mode ERROR_VARIABLE no_mode GET "${text}" embed mode)
  if(no_mode)
    set(mode array)
  endif()
  if(arg_EMBED)
    set(mode "${arg_EMBED}")
  endif()
  if(mode STREQUAL asm AND NOT CMAKE_ASM_COMPILER)
    message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): EMBED asm needs the language ASM: project(... LANGUAGES CXX ASM), or C ASM")
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.kiln")
  set(generated "${out}/include/${header}")
  set(options --embed ${mode})
  if(arg_NAMESPACE)
    list(APPEND options --namespace "${arg_NAMESPACE}")
  endif()
  foreach(target IN LISTS arg_TARGETS)
    list(APPEND options --target "${target}")
  endforeach()
  foreach(module IN LISTS arg_MODULES)
    list(APPEND options --module "${module}")
  endforeach()
  set(outputs "${arg_EMIT}")
  if("--amalgamate" IN_LIST arg_OPTIONS)
    list(APPEND outputs amalgamated)
  endif()
  if(NOT outputs)
    _kiln_outputs_of(outputs "${text}")
  endif()
  foreach(output IN LISTS arg_EMIT)
    list(APPEND options --emit "${output}")
  endforeach()
  # `byproducts` are the files that a build generates, except those in `compiled`, which become
  # parts of the library.
  _kiln_generated_files(compiled byproducts "${header}" ${mode} ${outputs})
  list(TRANSFORM compiled PREPEND "${out}/include/")
  list(TRANSFORM byproducts PREPEND "${out}/include/")
  # kiln does not touch a header that would not change. The stamp's time is that of the last build.
  set(stamp "${generated}.stamp")
  if(POLICY CMP0116)
    # depfiles may contain paths relative to the binary directory; kiln's are absolute
    cmake_policy(SET CMP0116 NEW)
  endif()
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${byproducts} ${compiled}
    COMMAND "${program}" build "${manifest}" --out "${out}" --depfile "${out}/kernels.d" ${options} ${arg_OPTIONS}
    DEPENDS "${manifest}" "${program}"
    DEPFILE "${out}/kernels.d"
    COMMENT "Building the GPU kernels of ${arg_TARGET}"
    USES_TERMINAL VERBATIM)

  # Ninja generates a deleted byproduct again but Make does not. For Make, a target that runs before
  # each build checks for them.
  set(before)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(before ${arg_TARGET}.look)
    set(expected ${byproducts} ${compiled})
    list(JOIN expected "|" expected)
    add_custom_target(${before} VERBATIM
      COMMAND "${CMAKE_COMMAND}" "-DSTAMP=${stamp}" "-DEXPECTED=${expected}"
        -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/KilnForgetStamp.cmake")
  endif()

  if(compiled)
    if("cpp" IN_LIST outputs AND mode STREQUAL split AND NOT CMAKE_CXX_COMPILER)
      message(FATAL_ERROR "kiln_add_kernels(${arg_TARGET}): EMBED split of a C++ header needs the language CXX: "
        "project(... LANGUAGES CXX)")
    endif()
    set(generating ${arg_TARGET})
    set(language C)
    if(CMAKE_CXX_COMPILER)
      set(language CXX)
    endif()
    add_library(${arg_TARGET} STATIC ${compiled} ${byproducts} "${stamp}")
    set_target_properties(${arg_TARGET} PROPERTIES LINKER_LANGUAGE ${language})
    target_include_directories(${arg_TARGET} PUBLIC "${out}/include")
    target_link_libraries(${arg_TARGET} PUBLIC kiln::headers)
  else()
    set(generating ${arg_TARGET}.generate)
    add_custom_target(${generating} DEPENDS "${stamp}")
    add_library(${arg_TARGET} INTERFACE)
    add_dependencies(${arg_TARGET} ${generating})
    target_include_directories(${arg_TARGET} INTERFACE "${out}/include")
    target_link_libraries(${arg_TARGET} INTERFACE kiln::headers)
  endif()
  if(before)
    add_dependencies(${generating} ${before})
  endif()
endfunction()

# Returns the entries of embed.emit in the manifest's text. kiln reports a wrong or empty list when
# it builds.
function(_kiln_outputs_of result text)
  set(outputs)
  string(JSON count ERROR_VARIABLE no_list LENGTH "${text}" embed emit)
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON output ERROR_VARIABLE no_output GET "${text}" embed emit ${i})
      list(APPEND outputs "${output}")
    endforeach()
  endif()
  if(NOT outputs)
    set(outputs cpp)
  endif()
  set(${result} "${outputs}" PARENT_SCOPE)
endfunction()

# Returns the names of the files that `kiln build` generates for `outputs`, the remaining arguments:
# first those that are compiled, then those that are included or shipped. The names must agree with
# generator/generate.cpp; tests/golden/generator/file_names.txt tests both. kiln reports an unknown
# mode or output of the manifest when it builds.
function(_kiln_generated_files compiled included header mode)
  string(REGEX REPLACE "\\.[^.]*$" "" stem "${header}")
  set(sources)
  set(others)
  if("cpp" IN_LIST ARGN)
    list(APPEND others "${header}")
    if(mode STREQUAL asm)
      list(APPEND sources "${stem}.S")
    elseif(mode STREQUAL split)
      list(APPEND sources "${stem}.cpp")
    endif()
  endif()
  if("c" IN_LIST ARGN)
    list(APPEND others "${stem}.h")
    if(mode STREQUAL asm)
      list(APPEND sources "${stem}_c.S")
    elseif(mode STREQUAL split)
      list(APPEND sources "${stem}.c")
    endif()
  endif()
  if("rust" IN_LIST ARGN)
    list(APPEND others "${stem}.rs")
  endif()
  if("amalgamated" IN_LIST ARGN)
    list(APPEND others "${stem}_amalgamated.hpp")
  endif()
  # The Rust module and the C assembly include the catalog.
  if("catalog" IN_LIST ARGN OR "rust" IN_LIST ARGN OR ("c" IN_LIST ARGN AND mode STREQUAL asm))
    list(APPEND others "${stem}.kiln")
  endif()
  set(${compiled} "${sources}" PARENT_SCOPE)
  set(${included} "${others}" PARENT_SCOPE)
endfunction()

# Fails if an argument contains a word that `kiln build` would reject.
function(_kiln_check_words target argument known)
  foreach(word IN LISTS ARGN)
    if(NOT word IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "kiln_add_kernels(${target}): ${argument} ${word}: expected ${known}")
    endif()
  endforeach()
endfunction()

# Returns "; did you mean targets.json?", naming the manifests in the folder of `manifest`, which
# does not exist. Returns nothing if the folder contains none.
function(_kiln_manifests_beside manifest result)
  get_filename_component(folder "${manifest}" DIRECTORY)
  file(GLOB candidates RELATIVE "${folder}" "${folder}/*.json")
  set(found "")
  foreach(candidate IN LISTS candidates)
    file(READ "${folder}/${candidate}" text)
    string(JSON modules ERROR_VARIABLE no_modules GET "${text}" modules)
    string(JSON targets ERROR_VARIABLE no_targets GET "${text}" targets)
    if(NOT no_modules AND NOT no_targets)
      list(APPEND found "${candidate}")
    endif()
  endforeach()
  list(JOIN found " or " found)
  if(found)
    set(found "; did you mean ${found}?")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
