# Writes the source revision into OUTPUT. Runs as a script at every build:
#   cmake -DSOURCE=dir -DOUTPUT=file -P KilnRevision.cmake
# OUTPUT changes only if the revision changes, so that a build with nothing to do compiles nothing.
# If the sources are a copy inside the repository of another project, the revision is "unknown",
# because the revision of that repository is not kiln's.
set(revision "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" rev-parse --show-prefix
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(head AND prefix STREQUAL "")
    set(revision "${head}")
    execute_process(COMMAND "${GIT}" -C "${SOURCE}" --no-optional-locks status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND revision "-modified")
    endif()
  endif()
endif()
set(text "#include \"tools/revision.hpp\"\n\nstd::string_view kiln::tools::source_revision() { return \"${revision}\"; }\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
