# kiln_keep_inside(<target>)
#
# Keeps the symbols of the target inside the library that it becomes a part of, which is a plug-in
# of kiln or a library of a user. Without this, if one process contains two such libraries, each
# built with its own kiln, the dynamic linker would use a function of one in place of the same
# function of the other.
function(kiln_keep_inside target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")  # hides the symbols of its static libraries, too
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
endfunction()
