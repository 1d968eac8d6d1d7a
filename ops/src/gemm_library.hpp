// A vendor's matrix library, opened at run time: one call of it is enough.
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

  // The device is current on the calling thread, and no other call is under way.
  virtual Result<void> run(const Gemm& gemm) = 0;
};

// Each expects the library that its name says, and the device current on the calling thread, for the
// library's destructor too. Errors: kUnavailable (a function that it lacks), kDriver.
Result<std::unique_ptr<GemmLibrary>> open_cublas(const runtime::Library& library, StreamRef stream);
Result<std::unique_ptr<GemmLibrary>> open_rocblas(const runtime::Library& library, StreamRef stream);
Result<std::unique_ptr<GemmLibrary>> open_cblas(const runtime::Library& library);

// A function of the library, or the error that it has none of that name.
template <typename Function>
Result<void> find(const runtime::Library& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  if (function != nullptr) return {};
  return Error{
      ErrorCode::kUnavailable, library.path() + " has no function '" + name + "'", {}, {}};
}

}  // namespace kiln::ops
