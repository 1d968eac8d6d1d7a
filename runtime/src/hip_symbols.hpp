// hip::Symbols: the table hip_symbols.def as a struct of function pointers, and its resolver.
#pragma once

#include <string>

#include "runtime/src/hip_types.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime::hip {

struct Symbols {
#define KILN_HIP_SYMBOL(presence, name, result, parameters) result(*name) parameters = nullptr;
#include "runtime/src/hip_symbols.def"

  // Finds every function. Returns the first required one that is missing, or empty.
  std::string resolve(const Library& library) {
    enum Presence { REQUIRED, OPTIONAL };
#define KILN_HIP_SYMBOL(presence, name, result, parameters)             \
  name = reinterpret_cast<result(*) parameters>(library.symbol(#name)); \
  if (presence == REQUIRED && name == nullptr) return #name;
#include "runtime/src/hip_symbols.def"
    return {};
  }

  // Whether memory can come from a pool, in the order of a stream.
  bool has_pools() const {
    return hipMemPoolCreate != nullptr && hipMemPoolDestroy != nullptr &&
           hipMemPoolSetAttribute != nullptr && hipMallocFromPoolAsync != nullptr &&
           hipFreeAsync != nullptr && hipStreamIsCapturing != nullptr;
  }

  // Whether images can be loaded as libraries, and their variables found, which release 7 brought.
  bool has_libraries() const {
    return hipLibraryLoadData != nullptr && hipLibraryUnload != nullptr &&
           hipLibraryGetKernelCount != nullptr && hipLibraryGetKernel != nullptr &&
           hipLibraryGetGlobal != nullptr && hipKernelGetFunction != nullptr;
  }
};

}  // namespace kiln::runtime::hip
