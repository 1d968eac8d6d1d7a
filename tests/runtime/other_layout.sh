#!/bin/sh
# Checks that programs compiled with -D_GLIBCXX_DEBUG, with -D_GLIBCXX_USE_CXX11_ABI=0 and with both
# need another Runtime::open than others do, so that the linker refuses them instead of the program
# ending somewhere by a signal.
# usage: other_layout.sh CXX INCLUDE OBJECT
set -eu
cxx=$1 include=$2 object=$3
needs() { # OPTION...
  printf '#include <kiln/runtime.hpp>\nint main() { return kiln::Runtime::open() ? 0 : 1; }\n' |
    "$cxx" -std=c++17 -I "$include" -x c++ -c -o "$object" "$@" -
  nm --undefined-only "$object" | c++filt | grep 'kiln::Runtime::open'
}
expect() { # TAGS OPTION...
  expected="kiln::Runtime::open(kiln::OpenOptions$1)" && shift
  needed=$(needs "$@")
  case $needed in
    *"$expected") ;;
    *) echo "with $*: needs '$needed', not '$expected'"; exit 1 ;;
  esac
}
expect '' -U_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=1
expect '[abi:GLIBCXX_DEBUG]' -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=1
expect '[abi:OLD_STRINGS]' -U_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0
expect '[abi:GLIBCXX_DEBUG][abi:OLD_STRINGS]' -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0
