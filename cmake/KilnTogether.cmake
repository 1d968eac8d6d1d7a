# kiln_compile_together(TARGET [EXCEPT source...]): with KILN_COMPILE_TOGETHER, the sources of TARGET are
# compiled eight by eight, as one file each (CMake's unity builds). Headers are read and templates
# instantiated once for the eight, which takes half the time. For builds from nothing: tests/run.sh and
# examples/run.sh use it. Without it each source is compiled alone, which shows what a source forgot to include.
#
# EXCEPT: what names something of its own as another source does. CMake leaves out what has options of its
# own by itself.
function(kiln_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(KILN_COMPILE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
