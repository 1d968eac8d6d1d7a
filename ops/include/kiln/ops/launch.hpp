// A launch as a value: which kernel, over which grid, with which arguments.
//
// The families (affine.hpp, fill.hpp, unary.hpp) turn shapes and strides into a Launch and run
// nothing; Launcher (launcher.hpp) runs one. A Launch can be printed, compared and edited between
// the two, which is how the tests reach grids that no helper would choose.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kiln/function.hpp"
#include "kiln/ops/dtype.hpp"
#include "kiln/ops/layout.hpp"
#include "kiln/ops/scalar.hpp"

namespace kiln::ops {

// Whose launch numbers are used.
enum class Geometry : std::uint8_t {
  kOwn,        // ours: as many blocks as the work needs, 16 bytes a thread
  kReference,  // the reference host's: 1024 threads a block, one element a thread, counts in 32
               // bits
};

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
  static Argument null() { return of(static_cast<const void*>(nullptr)); }
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

struct Launch {
  static constexpr std::size_t kNoLayout = static_cast<std::size_t>(-1);

  std::string_view module;  // a string literal
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;   // dynamic shared memory
  std::vector<Argument> arguments;  // in the kernel's order

  // The layout block ("info"): dims, then one or more stride lists of the same length. Launcher
  // puts it into device memory and its address into arguments[layout_argument]. Empty means null,
  // which the kernels read as "everything is contiguous".
  std::vector<std::size_t> layout;
  std::size_t layout_argument = kNoLayout;
};

// "unary.ugelu_f16<<<512, 256>>>", for messages.
std::string to_string(const Launch& launch);

}  // namespace kiln::ops
