// detail::is_result<T>: whether T is a Result. A generated header needs this, and not result.hpp.
#pragma once

namespace kiln {

template <typename T>
class Result;

namespace detail {

template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;

}  // namespace detail

}  // namespace kiln
