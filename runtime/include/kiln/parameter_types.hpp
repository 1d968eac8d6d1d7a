// The types of kernel parameters, and which arguments a program may pass for them.
//
// A parameter is one of
//   bool, std::int8_t ... std::uint64_t, float, double   a value
//   f8, f16, bf16                                        the bits of a narrow float
//   T*, const T*                                         a pointer to one of these, or to void
//   Untyped<N>                                           N bytes of an unknown type
//   UntypedValue<N>                                      N bytes passed by value, such as a struct
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "is_result.hpp"

namespace kiln {

class Buffer;

// The bits of 8-bit and 16-bit numbers. They are stored and passed on; there is no arithmetic.
struct f8 {  // OCP 8-bit float: 4 exponent and 3 mantissa bits, no infinities, NaN is 0x7F and 0xFF
  std::uint8_t bits;
};
struct f16 {  // IEEE 754 binary16
  std::uint16_t bits;
};
struct bf16 {  // bfloat16: the upper half of a float
  std::uint16_t bits;
};

constexpr bool operator==(f8 a, f8 b) { return a.bits == b.bits; }
constexpr bool operator!=(f8 a, f8 b) { return a.bits != b.bits; }
constexpr bool operator==(f16 a, f16 b) { return a.bits == b.bits; }
constexpr bool operator!=(f16 a, f16 b) { return a.bits != b.bits; }
constexpr bool operator==(bf16 a, bf16 b) { return a.bits == b.bits; }
constexpr bool operator!=(bf16 a, bf16 b) { return a.bits != b.bits; }

// The type of a value, or of what a pointer points to.
enum class ElementType : std::uint8_t {
  kUnknown,
  kVoid,
  kBool,
  kU8,
  kU16,
  kU32,
  kU64,
  kI8,
  kI16,
  kI32,
  kI64,
  kF8,
  kF16,
  kBf16,
  kF32,
  kF64,
};

// Stands for a parameter of which only the size is known. It takes any argument of that size.
template <std::size_t Size>
struct Untyped {};

// Stands for a parameter passed by value, such as a struct. It takes any argument of that size
// except an address.
template <std::size_t Size>
struct UntypedValue {};

// True if `Argument` is another library's name for the type `Parameter`. Programs specialise it:
//   template <> inline constexpr bool kiln::is_another_name_for<__half, kiln::f16> = true;
template <typename Argument, typename Parameter>
inline constexpr bool is_another_name_for = false;

namespace detail {

// True for integers of the same size and signedness, such as `long long` and `long` on Linux. A
// kernel cannot tell such types apart.
template <typename Argument, typename Parameter>
constexpr bool is_same_integer() {
  return std::is_integral_v<Argument> && std::is_integral_v<Parameter> &&
         !std::is_same_v<Argument, bool> && !std::is_same_v<Parameter, bool> &&
         sizeof(Argument) == sizeof(Parameter) &&
         std::is_signed_v<Argument> == std::is_signed_v<Parameter>;
}

// Returns kUnknown for a type that is not a parameter type.
template <typename T>
constexpr ElementType element_type() {
  if constexpr (std::is_void_v<T>) return ElementType::kVoid;
  else if constexpr (std::is_same_v<T, bool>) return ElementType::kBool;
  else if constexpr (std::is_same_v<T, float>) return ElementType::kF32;
  else if constexpr (std::is_same_v<T, double>) return ElementType::kF64;
  else if constexpr (std::is_same_v<T, f8>) return ElementType::kF8;
  else if constexpr (std::is_same_v<T, f16>) return ElementType::kF16;
  else if constexpr (std::is_same_v<T, bf16>) return ElementType::kBf16;
  else if constexpr (is_same_integer<T, std::uint8_t>()) return ElementType::kU8;
  else if constexpr (is_same_integer<T, std::uint16_t>()) return ElementType::kU16;
  else if constexpr (is_same_integer<T, std::uint32_t>()) return ElementType::kU32;
  else if constexpr (is_same_integer<T, std::uint64_t>()) return ElementType::kU64;
  else if constexpr (is_same_integer<T, std::int8_t>()) return ElementType::kI8;
  else if constexpr (is_same_integer<T, std::int16_t>()) return ElementType::kI16;
  else if constexpr (is_same_integer<T, std::int32_t>()) return ElementType::kI32;
  else if constexpr (is_same_integer<T, std::int64_t>()) return ElementType::kI64;
  else return ElementType::kUnknown;
}

template <typename Argument, typename Parameter>
struct ArgumentFit {
  static constexpr bool value = [] {
    if constexpr (std::is_same_v<Argument, Parameter>) {
      return true;
    } else if constexpr (is_another_name_for<Argument, Parameter>) {
      return sizeof(Argument) == sizeof(Parameter) && std::is_trivially_copyable_v<Argument>;
    } else {
      return is_same_integer<Argument, Parameter>();
    }
  }();
};

template <typename Argument, std::size_t Size>
struct ArgumentFit<Argument, Untyped<Size>> {
  static constexpr bool value = sizeof(Argument) == Size && std::is_trivially_copyable_v<Argument>;
};
template <typename Argument, std::size_t Size>
struct ArgumentFit<Argument, UntypedValue<Size>> {
  static constexpr bool value = ArgumentFit<Argument, Untyped<Size>>::value &&
                                !std::is_pointer_v<Argument> && !std::is_null_pointer_v<Argument>;
};

// A pointer to const may not be passed if the kernel writes through it. `void` fits every type.
template <typename From, typename To>
struct ArgumentFit<From*, To*> {
  static constexpr bool value = [] {
    using Source = std::remove_const_t<From>;
    using Target = std::remove_const_t<To>;
    if constexpr ((std::is_const_v<From> && !std::is_const_v<To>) || std::is_function_v<From> ||
                  std::is_volatile_v<From>) {
      return false;
    } else if constexpr (std::is_void_v<Source> || std::is_void_v<Target>) {
      return true;
    } else {
      return ArgumentFit<Source, Target>::value;
    }
  }();
};

template <typename To>
struct ArgumentFit<std::nullptr_t, To*> {
  static constexpr bool value = true;
};

// The type that a launch passes for an argument, the address of its bytes, and the buffer, if the
// argument is one. The bytes are usually the argument itself. For a device buffer they are its
// address (memory.hpp), and for nullptr, which has no bytes of its own, a null pointer.
template <typename Argument>
struct Passed {
  using type = Argument;
  static const Buffer* buffer(const Argument&) { return nullptr; }
  static const void* address(const Argument& argument) { return &reinterpret_cast<const char&>(argument); }
};
template <>
struct Passed<std::nullptr_t> {
  using type = std::nullptr_t;
  static const Buffer* buffer(std::nullptr_t) { return nullptr; }
  static const void* address(std::nullptr_t) {
    static constexpr const void* kNull = nullptr;
    return &kNull;
  }
};

template <typename Argument>
using PassedType = typename Passed<std::remove_cv_t<std::remove_reference_t<Argument>>>::type;

}  // namespace detail

// True if an argument of this type may be passed for this parameter.
template <typename Argument, typename Parameter>
inline constexpr bool fits_parameter =
    detail::ArgumentFit<detail::PassedType<Argument>, Parameter>::value;

namespace detail {

// True if argument `Number` of a launch, counted from 1, fits. Compilers print this name in their
// message. A Result counts as fitting, since LaunchArgument reports it separately.
template <int Number, typename Argument, typename Parameter>
inline constexpr bool launch_argument_fits = is_result<Argument> || fits_parameter<Argument, Parameter>;

// Stops compilation if an argument does not fit its parameter.
template <int Number, typename Argument, typename Parameter>
struct LaunchArgument {
  static_assert(!is_result<Argument>, "a kiln::Result is passed to a kernel: pass what it holds, *result");
  static_assert(launch_argument_fits<Number, Argument, Parameter>,
                "an argument of this launch has another type than the kernel's parameter: "
                "launch_argument_fits<number, argument, parameter> is false");
};

template <typename... Types>
struct TypeList {
  static constexpr int kCount = sizeof...(Types);
};

// Checks each argument against its parameter. Both lists have the same length.
template <typename Arguments, typename Parameters, typename Numbers>
struct LaunchArguments;
template <typename... Arguments, typename... Parameters, int... Numbers>
struct LaunchArguments<TypeList<Arguments...>, TypeList<Parameters...>, std::integer_sequence<int, Numbers...>>
    : LaunchArgument<Numbers + 1, Arguments, Parameters>... {};

// Stops compilation if a launch has too many or too few arguments, or one that does not fit.
template <typename Arguments, typename Parameters>
constexpr void check_arguments() {
  static_assert(Arguments::kCount == Parameters::kCount, "wrong number of arguments for this kernel");
  if constexpr (Arguments::kCount == Parameters::kCount) {
    (void)LaunchArguments<Arguments, Parameters, std::make_integer_sequence<int, Arguments::kCount>>();
  }
}

}  // namespace detail
}  // namespace kiln
