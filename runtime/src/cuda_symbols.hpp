// cuda::Symbols: the table cuda_symbols.def as a struct of function pointers, and its resolver.
#pragma once

#include <string>

#include "runtime/src/cuda_types.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime::cuda {

struct Symbols {
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters) CUresult(*name) parameters = nullptr;
#include "runtime/src/cuda_symbols.def"

  // Finds every function. Returns the first required one that is missing, or empty.
  std::string resolve(const Library& library) {
    enum Presence { REQUIRED, OPTIONAL };
#define KILN_CUDA_SYMBOL(presence, name, exported, parameters)                \
  name = reinterpret_cast<CUresult(*) parameters>(library.symbol(#exported)); \
  if (presence == REQUIRED && name == nullptr) return #exported;
#include "runtime/src/cuda_symbols.def"
    return {};
  }

  // Whether memory can come from a pool, in the order of a stream: since 11.2.
  bool has_pools() const {
    return cuMemPoolCreate != nullptr && cuMemPoolDestroy != nullptr &&
           cuMemPoolSetAttribute != nullptr && cuMemAllocFromPoolAsync != nullptr &&
           cuMemFreeAsync != nullptr;
  }
};

}  // namespace kiln::runtime::cuda
