# kiln_keep_inside(<target>)
#
# What the target defines stays inside of the library that it becomes a part of, a plug-in of kiln's or a library of a
# user's: of two in one process, each built with a kiln of its own, the dynamic linker would take a function of one for
# that of the other.
function(kiln_keep_inside target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")  # and of the static libraries in it
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
endfunction()
