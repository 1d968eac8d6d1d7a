# kiln_compile_together(TARGET [EXCEPT source...]): if KILN_COMPILE_TOGETHER is set, compiles the
# sources of TARGET in groups of 32, each group as one file (CMake's unity builds). Headers are then
# read and templates instantiated once for each group, which takes less than half of the time, and
# up to 0.8 GB for each compiler. This is for builds from nothing on few cores, as in tests/run.sh and
# examples/run.sh. Otherwise each source is compiled alone, which detects missing includes.
#
# EXCEPT: sources that define the same name as another source. CMake itself leaves out sources that
# have compile options of their own.
function(kiln_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(KILN_COMPILE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
    set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
