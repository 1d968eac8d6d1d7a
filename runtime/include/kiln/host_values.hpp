// What a program may copy to and from a device: contiguous values of a plain type.
//
// This is everything that std::data() and std::size() take: std::vector, std::array, std::span, C
// arrays, PinnedBuffer, ArrayView. For other memory, pass a pointer and a count.
#pragma once

#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

#include "catalog.hpp"
#include "memory.hpp"

namespace kiln::detail {

// The type of a range's values, const if they cannot be written. There is no such type for device
// memory, or for a type that is not a range.
template <typename Range, typename = void>
struct HostValues {};
template <typename Range>
struct HostValues<Range,
                  std::void_t<decltype(std::data(std::declval<Range&>())),
                              decltype(std::size(std::declval<Range&>())),
                              std::enable_if_t<!std::is_base_of_v<
                                  Buffer, std::remove_cv_t<std::remove_reference_t<Range>>>>>> {
  using type = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;
};

template <typename Range>
using HostElement = typename HostValues<std::remove_reference_t<Range>>::type;
template <typename Range>
using HostValue = std::remove_const_t<HostElement<Range>>;

// True for a type that only points to its values, so that they outlive an object of the type.
template <typename Range>
inline constexpr bool is_view = false;
template <typename T>
inline constexpr bool is_view<ArrayView<T>> = true;
template <typename Character>
inline constexpr bool is_view<std::basic_string_view<Character>> = true;
#if defined(__cpp_lib_span)
template <typename T, std::size_t Extent>
inline constexpr bool is_view<std::span<T, Extent>> = true;
#endif

// Stops compilation if a copy would use memory that is gone before the copy is done.
template <typename Range>
constexpr void check_outlives_call() {
  static_assert(
      std::is_lvalue_reference_v<Range> ||
          is_view<std::remove_cv_t<std::remove_reference_t<Range>>>,
      "a copy from or to values that end with this statement: keep them until it is done");
}

// Stops compilation if a typed buffer and a range hold values of different types.
template <typename T, typename Value>
constexpr void check_same_value(const TypedBuffer<T>*, const Value*) {
  static_assert(std::is_same_v<T, Value>, "the buffer holds values of another type than the range");
}
template <typename Value>
constexpr void check_same_value(const Buffer*, const Value*) {
  static_assert(std::is_trivially_copyable_v<Value>, "device memory holds plain bytes");
}

// Returns the size of `count` values in bytes. If it overflows, returns the greatest number, which
// no device can allocate.
template <typename T>
constexpr std::size_t bytes_of(std::size_t count) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  return count > kMost / sizeof(T) ? kMost : count * sizeof(T);
}

}  // namespace kiln::detail
