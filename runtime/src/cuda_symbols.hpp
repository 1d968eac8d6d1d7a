// cuda::Symbols: the functions of cuda_symbols.def as a struct of pointers, and its resolver.
#pragma once

#include <string>

#include "runtime/src/cuda_types.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime::cuda {

struct Symbols {
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters) CUresult(*name) parameters = nullptr;
#include "runtime/src/cuda_symbols.def"

  // Finds every function. Returns the name of the first required one that is missing, or an empty
  // string.
  std::string resolve(const Library& library) {
    enum Presence { REQUIRED, OPTIONAL };
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters)                \
  name = reinterpret_cast<CUresult(*) parameters>(library.symbol(#exported)); \
  if (presence == REQUIRED && name == nullptr) return #exported;
#include "runtime/src/cuda_symbols.def"
    return {};
  }

  // True if the driver supports stream-ordered memory pools, available since 11.2.
  bool has_pools() const {
    return cuMemPoolCreate != nullptr && cuMemPoolDestroy != nullptr &&
           cuMemPoolSetAttribute != nullptr && cuMemAllocFromPoolAsync != nullptr &&
           cuMemFreeAsync != nullptr;
  }
};

}  // namespace kiln::runtime::cuda
