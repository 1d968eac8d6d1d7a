// A GPU vendor's matrix library: a handle that is created once, and one function that multiplies.
//
// `Vendor` declares what the vendor's manual specifies:
//   Handle, GemmFunction                    its types
//   kCreate, kDestroy, kSetStream, kGemm    the names of its functions
//   kStatusName                             names a status; missing in older releases
//   call(GemmFunction*, Handle, const Gemm&, const void* alpha, const void* beta) -> status
#pragma once

#include <utility>

#include "base/diagnostic.hpp"
#include "gemm_library.hpp"

namespace kiln::ops {

// plan_gemm() has checked that sizes fit into int.
inline int count(std::int64_t n) { return static_cast<int>(n); }

template <typename Vendor>
class GpuGemm final : public GemmLibrary {
 public:
  static Result<std::unique_ptr<GemmLibrary>> open(const runtime::Library& library,
                                                   StreamRef stream) {
    auto opened = std::unique_ptr<GpuGemm>(new GpuGemm);
    int (*create)(Handle*) = nullptr;
    int (*set_stream)(Handle, void*) = nullptr;
    int (*destroy)(Handle) = nullptr;
    KILN_TRY(find(library, Vendor::kCreate, create));
    KILN_TRY(find(library, Vendor::kDestroy, destroy));
    KILN_TRY(find(library, Vendor::kSetStream, set_stream));
    KILN_TRY(find(library, Vendor::kGemm, opened->gemm_));
    (void)find(library, Vendor::kStatusName, opened->status_name_);
    opened->is_default_stream_ = stream.native() == nullptr;
    KILN_TRY(opened->check(Vendor::kCreate, create(&opened->handle_)));
    opened->destroy_ = destroy;
    KILN_TRY(opened->check(Vendor::kSetStream, set_stream(opened->handle_, stream.native())));
    return std::unique_ptr<GemmLibrary>(std::move(opened));
  }

  ~GpuGemm() override {
    if (destroy_ != nullptr) destroy_(handle_);
  }

  Result<void> run(const Gemm& gemm) override {
    const bool twice = gemm.dtype == DType::kF64;
    const float alpha = static_cast<float>(gemm.alpha), beta = static_cast<float>(gemm.beta);
    const void* const scale = twice ? static_cast<const void*>(&gemm.alpha) : &alpha;
    const void* const keep = twice ? static_cast<const void*>(&gemm.beta) : &beta;
    Result<void> done = check(Vendor::kGemm, Vendor::call(gemm_, handle_, gemm, scale, keep));
    // The libraries' own errors do not explain this case.
    if (!done && is_default_stream_) {
      done.error().hint(
          "while a stream is captured into a graph, multiply on that one: "
          "MatrixMultiplier::open(device, stream)");
    }
    return done;
  }

 private:
  using Handle = typename Vendor::Handle;

  GpuGemm() = default;

  Result<void> check(const char* call, int status) const {
    if (status == 0) return {};
    const char* const name = status_name_ != nullptr ? status_name_(status) : nullptr;
    return Error{ErrorCode::kDriver,
                 std::string(call) + ": " +
                     (name != nullptr ? name : "status " + std::to_string(status))};
  }

  typename Vendor::GemmFunction* gemm_ = nullptr;
  int (*destroy_)(Handle) = nullptr;  // set once there is a handle
  const char* (*status_name_)(int) = nullptr;
  Handle handle_ = nullptr;
  bool is_default_stream_ = true;
};

}  // namespace kiln::ops
