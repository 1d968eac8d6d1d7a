// A vendor's matrix library, opened at run time. kiln uses a single function of it.
#pragma once

#include <memory>

#include "gemm.hpp"
#include "runtime/src/library.hpp"

namespace kiln::ops {

class GemmLibrary {
 public:
  GemmLibrary() = default;
  GemmLibrary(const GemmLibrary&) = delete;
  GemmLibrary& operator=(const GemmLibrary&) = delete;
  virtual ~GemmLibrary() = default;

  // The device must be current on the calling thread, and no other call may be in progress.
  virtual Result<void> run(const Gemm& gemm) = 0;
};

// Each function takes an opened library of the kind in its name. The device must be current on the
// calling thread, also when the result is destroyed. Errors: kUnavailable (a missing function),
// kDriver.
Result<std::unique_ptr<GemmLibrary>> open_cublas(const runtime::Library& library, StreamRef stream);
Result<std::unique_ptr<GemmLibrary>> open_rocblas(const runtime::Library& library, StreamRef stream);
Result<std::unique_ptr<GemmLibrary>> open_cblas(const runtime::Library& library);

// Finds a function of the library. The error says that the library lacks it.
template <typename Function>
Result<void> find(const runtime::Library& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  if (function != nullptr) return {};
  return Error{
      ErrorCode::kUnavailable, library.path() + " has no function '" + name + "'", {}, {}};
}

}  // namespace kiln::ops
