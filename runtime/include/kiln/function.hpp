// Kernels that are ready to launch.
//
// A Function is a small value that stands for (device, module, kernel); copies stand for the same. Like a
// Buffer or a Stream, it keeps its device open. Unloading the module does not break it: a launch then fails
// with kNotFound, and works again once the module is loaded.
// Thread-safety: launch from as many threads as you like.
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

// Blocks of a grid, or threads of a block.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchConfig {
  Dim3 grid = {};                  // blocks
  Dim3 block = {0, 0, 0};          // threads a block: to be said, or the launch is refused
  std::uint32_t shared_bytes = 0;  // dynamic shared memory a block
  StreamRef stream = {};
};

// A kernel found by name. Its launch checks the arguments' number and types against the catalog when
// it runs; TypedFunction checks them when the program is compiled. Where either type is not known, as
// of a struct, the sizes are compared.
class Function {
 public:
  Function() = default;

  // Starts the kernel and returns; work already on the stream runs first. Arguments are copied before
  // the call returns; of a Buffer or TypedBuffer the kernel gets the address, data(). Errors:
  // kInvalidInput (an empty or too large grid or block, arguments that do not fit the kernel's
  // parameters, a buffer or a stream of another device), kNotFound (the module was unloaded), kDriver.
  // An error of the kernel itself surfaces at the next synchronize(), or on `host` here.
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

  // The same for arguments that are known only at run time: `addresses` holds `count` pointers, each
  // to a value of the kernel's parameter type. The count is compared with the kernel's; so are the
  // values' sizes in bytes, or their types (Parameter::of<T>()), where the caller gives them. Of an
  // image that the caller brought, kiln knows what the image or its driver tells.
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          std::size_t count) const;
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          const std::size_t* sizes, std::size_t count) const;
  Result<void> launch_raw(const LaunchConfig& config, const void* const* addresses,
                          const Parameter* types, std::size_t count) const;

  // Does now what the first launch would have to do, so that it may be captured into a graph. Errors: as
  // those of a launch.
  Result<void> prepare() const;

  explicit operator bool() const { return slot_ != nullptr; }
  std::string_view name() const;        // as the image exports it
  const KernelEntry* kernel() const;    // null for an image that the caller brought

 private:
  friend class Device;
  template <typename... Parameters>
  friend class TypedFunction;
  explicit Function(std::shared_ptr<runtime::KernelSlot> slot) : slot_(std::move(slot)) {}

  // That those of the arguments which are buffers lie on the kernel's device.
  template <typename... Arguments>
  Result<void> check_buffers(const Arguments&... arguments) const {
    const Buffer* const buffers[] = {detail::Passed<Arguments>::buffer(arguments)..., nullptr};
    return check_devices(buffers, sizeof...(Arguments));
  }
  Result<void> check_devices(const Buffer* const* buffers, std::size_t count) const;

  std::shared_ptr<runtime::KernelSlot> slot_;  // owns the device
};

// A kernel of a generated header. Launching it with too many or too few arguments, or with one of
// another type than its parameter, does not compile; the message has the argument's number and both types.
template <typename... Parameters>
class TypedFunction {
 public:
  TypedFunction() = default;

  // As Function::launch.
  template <typename... Arguments>
  Result<void> launch(const LaunchConfig& config, const Arguments&... arguments) const {
    detail::check_arguments<detail::TypeList<Arguments...>, detail::TypeList<Parameters...>>();
    const void* const addresses[] = {detail::Passed<Arguments>::address(arguments)..., nullptr};
    if (Result<void> here = function_.check_buffers(arguments...); !here) return here;
    return function_.launch_raw(config, addresses, sizeof...(Arguments));
  }
  // As Function::prepare.
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
