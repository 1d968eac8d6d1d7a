#include "own_kernels.hpp"

#include <kiln_kernels.hpp>
#include <type_traits>

namespace kiln::ops {
namespace {

// The constant, if its type is the one that the plans pass arguments for.
template <typename Expected, typename Constant>
constexpr Kernel<> untyped(const Constant& constant) {
  static_assert(std::is_same_v<Constant, Expected>,
                "the generated header has other parameters for this kernel than own_kernels.hpp");
  return {constant.module, constant.index};
}

constexpr Kernel<> kConstants[] = {
#define KILN_OWN_KERNEL_ROW(type, module, root, name, dtype) \
  untyped<type<StorageOf<DType::dtype>::Type>>(kiln_kernels::module::name),
    KILN_OWN_KERNELS(KILN_OWN_KERNEL_ROW)
#undef KILN_OWN_KERNEL_ROW
};

}  // namespace

Kernel<> own_kernel(std::size_t position) { return kConstants[position]; }

}  // namespace kiln::ops
