// True if two functions take the same arguments at machine level: the same number, the same sizes,
// and pointers in the same places. Names of types may differ.
#pragma once

#include <type_traits>

namespace kiln::testing {

template <typename Ours, typename Theirs>
inline constexpr bool kSameArgument = std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
                                      sizeof(Ours) == sizeof(Theirs);

template <typename Ours, typename Theirs>
inline constexpr bool kSameShape = false;

template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) inline constexpr bool kSameShape<
    OurResult (*)(Ours...), TheirResult (*)(Theirs...)> = kSameArgument<OurResult, TheirResult> &&
                                                          (kSameArgument<Ours, Theirs> && ...);

}  // namespace kiln::testing
