# kiln_source_digest(VARIABLE FILE...): sets VARIABLE to a SHA-256 over these files of the project. A
# cache key that contains it changes with the code, without a version that people must remember to
# change. CMake runs again when a file changes.
function(kiln_source_digest variable)
  set(digests "")
  foreach(file ${ARGN})
    set(path "${PROJECT_SOURCE_DIR}/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(SHA256 "${path}" digest)
    string(APPEND digests "${digest}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  set(${variable} "${digest}" PARENT_SCOPE)
endfunction()
