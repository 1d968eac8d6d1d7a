#include "own_kernels.hpp"

#include <kiln_kernels.hpp>
#include <type_traits>

namespace kiln::ops {
namespace {

// Returns the constant. Compiles only if the constant has the type that the plans pass arguments
// for.
template <typename Expected, typename Constant>
constexpr Kernel<> untyped(const Constant& constant) {
  static_assert(std::is_same_v<Constant, Expected>,
                "the generated header has other parameters for this kernel than own_kernels.hpp");
  return {constant.module, constant.index};
}

constexpr Kernel<> kConstants[] = {
#define KILN_OWN_KERNEL(module, family, root, name, first, dtype, out, cost, scalars, ...) \
  untyped<__VA_ARGS__>(kiln_kernels::module::name),
#include "own_kernels.def"
};

}  // namespace

Kernel<> own_kernel(std::size_t position) { return kConstants[position]; }

}  // namespace kiln::ops
