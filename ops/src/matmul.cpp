#include "kiln/ops/matmul.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "gemm_library.hpp"

namespace kiln::ops {
namespace {

using runtime::Library;

// The names under which a backend's library is searched, and a hint to install it.
struct Vendor {
  const char* name;
  std::vector<std::string> candidates;
  const char* hint;
};

Result<Vendor> vendor_of(const DeviceInfo& device) {
  switch (device.backend) {
    case Backend::kCuda:
      return Vendor{"cuBLAS",
                    {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                     "/usr/local/cuda/lib64/libcublas.so"},
                    "install the CUDA toolkit's libcublas"};
    case Backend::kHip:
      return Vendor{"rocBLAS",
                    {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so",
                     "/opt/rocm/lib/librocblas.so"},
                    "install rocblas"};
    case Backend::kHost:
      return Vendor{"a BLAS",
                    {"libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libcblas.so.3",
                     "libblas.so.3"},
                    "install one: apt install libopenblas0"};
    case Backend::kEmulator: break;
  }
  return Error{ErrorCode::kUnavailable,
               "there is no matrix library for " + device.id + " (" + device.name + ")",
               {},
               {}};
}

Result<std::unique_ptr<GemmLibrary>> open(Backend backend, const Library& library,
                                          StreamRef stream) {
  if (backend == Backend::kCuda) return open_cublas(library, stream);
  if (backend == Backend::kHip) return open_rocblas(library, stream);
  return open_cblas(library);
}

}  // namespace

struct MatrixMultiplier::State {
  Device device;
  std::string path;
  std::unique_ptr<GemmLibrary> library;
  std::mutex mutex;

  ~State() {
    // Errors are ignored, because an earlier call has already reported them.
    (void)device.as_current([&]() -> Result<void> {
      library.reset();
      return {};
    });
    // If the device can no longer be made current, the driver has ended, and the library's handle
    // with it.
    (void)library.release();
  }
};

MatrixMultiplier::MatrixMultiplier(std::unique_ptr<State> state) : state_(std::move(state)) {}
MatrixMultiplier::MatrixMultiplier(MatrixMultiplier&&) noexcept = default;
MatrixMultiplier& MatrixMultiplier::operator=(MatrixMultiplier&&) noexcept = default;
MatrixMultiplier::~MatrixMultiplier() = default;

Result<MatrixMultiplier> MatrixMultiplier::open(Device device, StreamRef stream) {
  if (stream.is_empty()) {
    return Error{ErrorCode::kInvalidInput, "matmul: an empty stream", {}, {}}.note(
        "it was default-constructed or moved from");
  }
  KILN_TRY_ASSIGN(Vendor vendor, vendor_of(device.info()));
  if (const char* chosen = std::getenv("KILN_BLAS_LIBRARY"); chosen != nullptr && *chosen != '\0') {
    vendor.candidates = {chosen};
  }
  std::vector<std::string> reasons;
  const Library library = Library::open(vendor.candidates, reasons);
  if (!library) {
    Error error{ErrorCode::kUnavailable,
                std::string("matmul on ") + device.info().id + " needs " + vendor.name +
                    ", which cannot be opened",
                {},
                {}};
    for (const std::string& reason : reasons) error.note(reason);
    return error.hint(vendor.hint);
  }
  auto state = std::unique_ptr<State>(new State{device, library.path(), {}, {}});
  const Backend backend = device.info().backend;
  KILN_TRY(device.as_current([&]() -> Result<void> {
    KILN_TRY_ASSIGN(state->library, ops::open(backend, library, stream));
    return {};
  }));
  return MatrixMultiplier(std::move(state));
}

const std::string& MatrixMultiplier::library() const { return state_->path; }

Result<void> MatrixMultiplier::run(const Matmul& product) const {
  if (state_ == nullptr) {
    return Error{ErrorCode::kInvalidInput, "matmul: the multiplier was moved from", {}, {}};
  }
  KILN_TRY_ASSIGN(const Gemm gemm, plan_gemm(product));
  // The libraries do not check their operands.
  for (const auto& [name, data] : {std::pair{"lhs", product.lhs}, {"rhs", product.rhs}, {"out", product.out}}) {
    if (data != nullptr) continue;
    return Error{ErrorCode::kInvalidInput, "matmul: " + std::string(name) + " is a null pointer", {}, {}};
  }
  const std::lock_guard lock(state_->mutex);
  return state_->device.as_current([&] { return state_->library->run(gemm); });
}

}  // namespace kiln::ops
