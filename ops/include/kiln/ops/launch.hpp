// A launch as a value: a kernel, its grid and its arguments.
//
// The families (affine.hpp, fill.hpp, unary.hpp, ...) turn shapes and strides into a Launch and run
// nothing. Launcher (launcher.hpp) runs it. In between, a program can print, compare and edit the
// Launch; the tests edit it to reach grids that no helper chooses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kiln/function.hpp"
#include "kiln/ops/dtype.hpp"
#include "kiln/ops/inline_list.hpp"
#include "kiln/ops/layout.hpp"
#include "kiln/ops/scalar.hpp"

namespace kiln::ops {

// Which grid and block a plan uses.
enum class Geometry : std::uint8_t {
  kOwn,        // kiln's own: as many blocks as the work needs, 16 bytes per thread
  kReference,  // candle's: 1024 threads per block, one element per thread, counts in 32 bits
};

// When a strided view is processed tile by tile, if kiln has a kernel for that. Only with
// Geometry::kOwn.
enum class Tiles : std::uint8_t { kBySize, kNever, kAlways };

// One kernel argument: up to 8 bytes by value.
class Argument {
 public:
  template <typename T>
  static Argument of(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    Argument argument;
    std::memcpy(argument.bytes_.data(), &value, sizeof value);
    argument.size_ = sizeof value;
    return argument;
  }
  static Argument of(std::nullptr_t) { return of(static_cast<const void*>(nullptr)); }
  static Argument null() { return of(nullptr); }
  static Argument of(const Scalar& scalar) {
    Argument argument;
    std::memcpy(argument.bytes_.data(), &scalar.bits, sizeof scalar.bits);  // little-endian hosts
    argument.size_ = static_cast<std::uint8_t>(size_of(scalar.dtype));
    return argument;
  }

  const void* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }

 private:
  alignas(8) std::array<std::uint8_t, 8> bytes_{};
  std::uint8_t size_ = 0;
};

// The layout block ("info") of a kernel: the dims, then the strides of each operand, `num_dims` of
// each. In kiln's own geometry, dims of size 1 are left out, dims that all operands walk as one are
// merged, and a table of the views may follow (kernels/tuning/views.hpp), which the upper half of
// num_dims announces. A block must begin at a multiple of sixteen bytes; Launcher's do.
using LayoutBlock = InlineList<std::size_t, 5 * kMaxRank>;

inline constexpr std::size_t kMaxArguments = 16;

// One kernel launch. A plain value: creating, changing and running it again allocates no memory.
struct Launch {
  static constexpr std::size_t kNoArgument = static_cast<std::size_t>(-1);  // "no argument"
  static constexpr std::uint16_t kByName = 0xFFFF;

  std::string_view module;  // a string literal
  KernelName kernel;
  // What the launch computes, if its call needs several: "gates". A string literal.
  std::string_view purpose = {};
  // The kernel as a position among the helpers' own kernels (src/own_kernels.hpp). kByName: look up
  // `module` and `kernel` in the catalog instead.
  std::uint16_t own_kernel = kByName;
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;                      // dynamic shared memory per block
  InlineList<Argument, kMaxArguments> arguments = {};  // in the order of the kernel's parameters

  // Launcher puts the layout block into device memory and its address into
  // arguments[layout_argument]. If the block is empty, the argument stays null, and the kernel
  // takes all operands as contiguous.
  LayoutBlock layout = {};
  std::size_t layout_argument = kNoArgument;

  // Launcher provides scratch memory, which nothing else uses while the launch runs, and puts its
  // address into arguments[workspace_argument].
  std::size_t workspace_bytes = 0;
  std::size_t workspace_argument = kNoArgument;
  // An argument that Launcher sets to the address `offset` bytes after the start of the scratch
  // memory.
  struct WorkspacePart {
    std::size_t argument, offset;
    friend bool operator==(const WorkspacePart& a, const WorkspacePart& b) {
      return a.argument == b.argument && a.offset == b.offset;
    }
  };
  static constexpr std::size_t kMaxWorkspaceParts = 5;
  InlineList<WorkspacePart, kMaxWorkspaceParts> workspace_parts = {};

  // Number of times that the kernel runs, one after the other. Launcher puts the number of the run,
  // a u32 that starts at 0, into arguments[step_argument].
  std::uint32_t steps = 1;
  std::size_t step_argument = kNoArgument;

  // Sets the arguments for a kernel of this type. An argument of another type than its parameter
  // does not compile.
  template <typename... Parameters, typename... Values>
  void pass(Kernel<Parameters...> /*kernel*/, const Values&... values) {
    detail::check_arguments<detail::TypeList<Values...>, detail::TypeList<Parameters...>>();
    arguments = {Argument::of(values)...};
  }
};

// Launches that run one after the other and pass data on in the scratch memory.
struct LaunchSequence {
  std::vector<Launch> launches;
};

// Returns a text for messages, such as "unary.ugelu_f16<<<512, 256>>>".
std::string to_string(const Launch& launch);
// Returns a line for each launch: its text and its purpose.
std::string to_string(const LaunchSequence& sequence);

}  // namespace kiln::ops
