#!/usr/bin/env bash
# Checks that the other scripts of this folder can fail: each must refuse a tree that breaks its
# rule.
# usage: refuses.sh COMPILER
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

refuse() {  # FILE CONTENT EXPECTED COMMAND...
  local output
  rm -rf "${tree:?}"/*
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "$2" >"$tree/$1"
  if output=$("${@:4}" 2>&1); then
    echo "passes, but should not: $1: $2"
    exit 1
  fi
  [[ $output == *"$3"* ]] || { printf 'refused, but not for "%s":\n%s\n' "$3" "$output"; exit 1; }
}

refuse base/a.hpp '#include "tools/model/plan.hpp"' "'base' may include kiln" "$here/includes.sh" "$tree"
refuse formats/a.cpp '  #  include <dlfcn.h>' 'only runtime/src/library.cpp' "$here/includes.sh" "$tree"
refuse runtime/src/a.cpp '#include "kiln/catalog.hpp"
#include "generator/catalog.hpp"' "generator/catalog.hpp" "$here/includes.sh" "$tree"
refuse runtime/src/a.cpp '#include <kiln/ops.hpp>' "'runtime/src' may include" "$here/includes.sh" "$tree"
refuse readme.txt '' 'no include was found' "$here/includes.sh" "$tree"
refuse ops/a.hpp '#if defined(__HIPCC__)' 'ops/a.hpp:1:' "$here/vendor_switches.sh" "$tree"
refuse kernels/families/a.cuh '#  elif __CUDA_ARCH__ >= 800' 'name the feature' "$here/vendor_switches.sh" "$tree"
refuse base/a.hpp 'inline std::string f();' 'base/a.hpp does not compile alone' "$here/headers_alone.sh" "$tree" "$1"
refuse runtime/include/kiln/a.hpp 'template <typename T> concept C = true;' 'as c++17' "$here/headers_alone.sh" "$tree" "$1"
refuse tools/magic/a.cpp '' 'no line for tools/magic/' "$here/folders.sh" "$tree"
