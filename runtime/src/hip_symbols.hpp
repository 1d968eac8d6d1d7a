// hip::Symbols: the functions of hip_symbols.def as a struct of pointers, and its resolver.
#pragma once

#include <string>

#include "runtime/src/hip_types.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime::hip {

struct Symbols {
#define KILN_HIP_SYMBOL(presence, name, result, parameters) result(*name) parameters = nullptr;
#include "runtime/src/hip_symbols.def"

  // Finds every function. Returns the name of the first required one that is missing, or an empty
  // string.
  std::string resolve(const Library& library) {
    enum Presence { REQUIRED, OPTIONAL };
#define KILN_HIP_SYMBOL(presence, name, result, parameters)             \
  name = reinterpret_cast<result(*) parameters>(library.symbol(#name)); \
  if (presence == REQUIRED && name == nullptr) return #name;
#include "runtime/src/hip_symbols.def"
    return {};
  }

  // True if the release supports stream-ordered memory pools.
  bool has_pools() const {
    return hipMemPoolCreate != nullptr && hipMemPoolDestroy != nullptr &&
           hipMemPoolSetAttribute != nullptr && hipMallocFromPoolAsync != nullptr &&
           hipFreeAsync != nullptr && hipStreamIsCapturing != nullptr;
  }

  // True if images can be loaded as libraries and their variables found, available since release 7.
  bool has_libraries() const {
    return hipLibraryLoadData != nullptr && hipLibraryUnload != nullptr &&
           hipLibraryGetKernelCount != nullptr && hipLibraryGetKernel != nullptr &&
           hipLibraryGetGlobal != nullptr && hipKernelGetFunction != nullptr;
  }
};

}  // namespace kiln::runtime::hip
