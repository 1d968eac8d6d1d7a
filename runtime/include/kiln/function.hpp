// Kernels that are ready to launch.
//
// A Function is a small value that refers to a kernel of a module on a device; copies refer to the
// same kernel. It keeps its device open, like a Buffer or a Stream. If the module is unloaded,
// launches fail with kNotFound until the module is loaded again. A Function that is
// default-constructed or moved from is empty: launches fail with kInvalidInput.
// Thread-safety: any number of threads may launch a Function at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "catalog.hpp"
#include "result.hpp"
#include "stream.hpp"

namespace kiln {

namespace runtime {
struct KernelSlot;
}

// A number of blocks in a grid, or of threads in a block.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dim3 grid = {};                  // blocks
  Dim3 block = {0, 0, 0};          // threads per block; must be set, or the launch is refused
  std::uint32_t shared_bytes = 0;  // dynamic shared memory per block
  StreamRef stream = {};
};

// A kernel found by name. launch() checks the number and types of the arguments against the catalog
// at run time; TypedFunction checks them at compile time. If the type of an argument or of its
// parameter is unknown, as for a struct, their sizes are compared.
class Function {
 public:
  Function() = default;

  // Starts the kernel and returns. Work already on the stream runs first. The arguments are copied
  // before the call returns. For a Buffer or TypedBuffer, the kernel receives its address, data().
  // Errors: kInvalidInput (a grid or block that is empty or too large, too much shared memory,
  // arguments that do not fit the kernel's parameters, a buffer or stream of another device),
  // kNotFound (the module was unloaded), kDriver. Errors of the running kernel are returned by the
  // next synchronize(); on `host`, by this call.
  template <typename... Arguments>
  Result<void> launch(const LaunchConfig& config, const Arguments&... arguments) const {
    static_assert((!detail::is_result<Arguments> && ...),
                  "a kiln::Result is passed to a kernel: pass what it holds, *result");
    static_assert((std::is_trivially_copyable_v<detail::PassedType<Arguments>> && ...),
                  "a kernel argument must be a plain value, a pointer or a device buffer");
    const void* const addresses[] = {detail::Passed<Arguments>::address(arguments)..., nullptr};
    static constexpr Parameter kTypes[] = {Parameter::of<detail::PassedType<Arguments>>()..., {}};
    if (Result<void> here = check_buffers(arguments...); !here) return here;
    return launch_raw(config, addresses, kTypes, sizeof...(Arguments));
  }

  // Launches with arguments that are known only at run time. `addresses` holds `count` pointers,
  // each to a value of the kernel's parameter type. The count is compared with the kernel's. The
  // values' sizes in bytes, or their types (Parameter::of<T>()), are compared if the caller gives
  // them. For an image that the caller brought, kiln compares with what the image or its driver
  // tells.
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          std::size_t count) const;
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          const std::size_t* sizes, std::size_t count) const;
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          const Parameter* types, std::size_t count) const;

  // Does in advance what the first launch would have to do, so that the launch can be captured into
  // a graph. Errors: those of a launch.
  Result<void> prepare() const;

  explicit operator bool() const { return slot_ != nullptr; }
  // As the image exports it, empty for an empty Function. Lives as long as the Function.
  std::string_view name() const;
  const KernelEntry* kernel() const;    // null for a kernel of an image that the caller brought

 private:
  friend class Device;
  template <typename... Parameters>
  friend class TypedFunction;
  explicit Function(std::shared_ptr<runtime::KernelSlot> slot) : slot_(std::move(slot)) {}

  // Checks that every argument that is a buffer lies on the kernel's device.
  template <typename... Arguments>
  Result<void> check_buffers(const Arguments&... arguments) const {
    const Buffer* const buffers[] = {detail::Passed<Arguments>::buffer(arguments)..., nullptr};
    return check_devices(buffers, sizeof...(Arguments));
  }
  Result<void> check_devices(const Buffer* const* buffers, std::size_t count) const;

  std::shared_ptr<runtime::KernelSlot> slot_;  // owns the device
};

// A kernel of a generated header. A launch with too many or too few arguments, or with one of the
// wrong type, does not compile; the message gives the argument's number and both types.
template <typename... Parameters>
class TypedFunction {
 public:
  TypedFunction() = default;

  // Like Function::launch.
  template <typename... Arguments>
  Result<void> launch(const LaunchConfig& config, const Arguments&... arguments) const {
    detail::check_arguments<detail::TypeList<Arguments...>, detail::TypeList<Parameters...>>();
    const void* const addresses[] = {detail::Passed<Arguments>::address(arguments)..., nullptr};
    if (Result<void> here = function_.check_buffers(arguments...); !here) return here;
    return function_.launch_raw(config, addresses, sizeof...(Arguments));
  }
  // Like Function::prepare.
  Result<void> prepare() const { return function_.prepare(); }

  explicit operator bool() const { return static_cast<bool>(function_); }
  std::string_view name() const { return function_.name(); }
  operator Function() const { return function_; }

 private:
  friend class Device;
  explicit TypedFunction(Function function) : function_(std::move(function)) {}
  Function function_;
};

}  // namespace kiln
