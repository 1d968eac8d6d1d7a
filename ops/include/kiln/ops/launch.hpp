// A launch as a value: which kernel, over which grid, with which arguments.
//
// The families (affine.hpp, fill.hpp, unary.hpp) turn shapes and strides into a Launch and run
// nothing; Launcher (launcher.hpp) runs one. A Launch can be printed, compared and edited between
// the two, which is how the tests reach grids that no helper would choose.
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

// Whose launch numbers are used.
enum class Geometry : std::uint8_t {
  kOwn,        // ours: as many blocks as the work needs, 16 bytes a thread
  kReference,  // the reference host's: 1024 threads a block, one element a thread, counts in 32
               // bits
};

// Whether views go tile by tile, where there is a kernel of our own for that. In our geometry alone.
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

// The layout block ("info") of up to four operands: dims, then one or more stride lists of the same
// length.
using LayoutBlock = InlineList<std::size_t, 5 * kMaxRank>;

inline constexpr std::size_t kMostArguments = 16;

// Plain: making one, changing it and running it again allocate nothing.
struct Launch {
  static constexpr std::size_t kNoArgument = static_cast<std::size_t>(-1);  // in the place of an index
  static constexpr std::uint16_t kByName = 0xFFFF;

  std::string_view module;  // a string literal
  KernelName kernel;
  // The kernel's constant in the generated header, as a position among the helpers' own
  // (src/own_kernels.hpp); kByName: `module` and `kernel` are looked up in the catalog.
  std::uint16_t own_kernel = kByName;
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;                       // dynamic shared memory
  InlineList<Argument, kMostArguments> arguments = {};  // in the kernel's order

  // Launcher puts the layout block into device memory and its address into
  // arguments[layout_argument]. Empty means null, which the kernels read as "everything is
  // contiguous".
  LayoutBlock layout = {};
  std::size_t layout_argument = kNoArgument;

  // Launcher gives the launch scratch memory that nothing else uses while it runs, and puts its address
  // into arguments[workspace_argument].
  std::size_t workspace_bytes = 0;
  std::size_t workspace_argument = kNoArgument;
  // And the addresses of what lies so many bytes behind its beginning.
  struct WorkspacePart {
    std::size_t argument, offset;
    friend bool operator==(const WorkspacePart& a, const WorkspacePart& b) {
      return a.argument == b.argument && a.offset == b.offset;
    }
  };
  static constexpr std::size_t kMostWorkspaceParts = 5;
  InlineList<WorkspacePart, kMostWorkspaceParts> workspace_parts = {};

  // The kernel runs so many times, one after the other. Launcher puts the number of the run, a
  // 32-bit one from 0 on, into arguments[step_argument].
  std::uint32_t steps = 1;
  std::size_t step_argument = kNoArgument;

  // The arguments of a kernel of this type: one of another type than its parameter does not
  // compile.
  template <typename... Parameters, typename... Values>
  void pass(Kernel<Parameters...> /*kernel*/, const Values&... values) {
    detail::check_arguments<detail::TypeList<Values...>, detail::TypeList<Parameters...>>();
    arguments = {Argument::of(values)...};
  }
};

// Launches that run one after the other, and leave each other what lies in the workspace.
struct LaunchSequence {
  std::vector<Launch> launches;
  std::string text;  // which, and why: a line for each
};

// "unary.ugelu_f16<<<512, 256>>>", for messages.
std::string to_string(const Launch& launch);

}  // namespace kiln::ops
