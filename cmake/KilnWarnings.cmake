# kiln_warnings: linked PRIVATE by every target of ours, by no target of a user.
add_library(kiln_warnings INTERFACE)
target_compile_options(kiln_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${KILN_WARNINGS_AS_ERRORS}>:-Werror>)
if(KILN_SANITIZE)
  target_compile_options(kiln_warnings INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(kiln_warnings INTERFACE -fsanitize=${KILN_SANITIZE})
endif()
