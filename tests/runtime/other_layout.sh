#!/bin/sh
# Checks that a program compiled with -D_GLIBCXX_DEBUG needs another Runtime::open than others do,
# so that the linker refuses it instead of the program ending somewhere by a signal.
# usage: other_layout.sh CXX INCLUDE OBJECT
set -eu
needs() {
  printf '#include <kiln/runtime.hpp>\nint main() { return kiln::Runtime::open() ? 0 : 1; }\n' |
    "$1" -std=c++17 -I "$2" -x c++ -c -o "$3" "$4" -
  nm --undefined-only "$3" | c++filt | grep 'kiln::Runtime::open'
}
usual=$(needs "$@" -U_GLIBCXX_DEBUG)
debug=$(needs "$@" -D_GLIBCXX_DEBUG)
case $debug in
  "$usual" | "") echo "the same: $debug"; exit 1 ;;
  *GLIBCXX_DEBUG*) ;;
  *) echo "the macro is not named: $debug"; exit 1 ;;
esac
