// kernels.hpp: 5 GPU kernels in 2 modules for 3 targets.
//
// Made by kiln 0.1.0 from the manifest of 'demo'. Do not edit: `kiln build` writes it again.
// Needs C++17, <kiln/catalog.hpp> and the standard library; no CUDA, no HIP.
// The images are in it, as string literals.
//
//   kernels::find("affine")   the module of that name, or nullptr
//   kernels::modules::affine  a module: its kernels and its images
//   kernels::affine_f32       a kernel, with its parameters' types in its own
//   kernels::catalog()        all of it
//
// Of an argument of unknown type only the size is checked: an int for a float compiles.
// Drop extern "C", or name an abi file.
//
// Targets: gfx1030 gfx90a:xnack+ compute_80
// Left out (--allow-missing; their tools were not there): sm_90
//
//   module  unit  target         format  kernels  bytes  stored  sha256
//   affine  0     gfx1030        hsaco         3     19      19  19421e136c89a939
//   affine  0     gfx90a:xnack+  hsaco         3     25      25  4ed3a4efed96f04f
//   affine  0     compute_80     ptx           3     14      14  15f9bc7eeee0f649
//   copy    0     gfx1030        hsaco         1  4,096      24  67474a7ae9db7850
//   copy    0     gfx90a:xnack+  hsaco         1     30      30  3809802ec7385a8b
//   copy    0     compute_80     ptx           1     14      14  15f9bc7eeee0f649
//   copy    1     gfx1030        hsaco         1     24      24  5bd74bee3f7a3e57
//   copy    1     gfx90a:xnack+  hsaco         1     30      30  7f8cb6fc9a444d7b
//   copy    1     compute_80     ptx           1     14      14  15f9bc7eeee0f649
//   total                                         4,266     194
//
// Catalog 189379e5a61acf564405e2522e2e40598b61b65edefb85d0dc47334b19917048
#pragma once

#include <kiln/catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#if !defined(KILN_CATALOG_FORMAT) || KILN_CATALOG_FORMAT != 3
#error "kernels.hpp has catalog format 3, and the <kiln/catalog.hpp> found has another: generate it with the kiln of that release"
#elif KILN_VERSION < 100
#error "kernels.hpp needs kiln 0.1.0 or newer, and the <kiln/catalog.hpp> found is older: update it, or lower minimum_runtime in the manifest"
#else

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Woverlength-strings"
#endif

namespace kernels {
inline namespace catalog_189379e5a61acf56 {

using Module = ::kiln::ModuleEntry;

// The position of a module in catalog().modules.
enum class Id : std::uint32_t {
  affine,
  copy,
};

namespace detail {

using ::kiln::Compression;
using Format = ::kiln::ImageFormat;
using ::kiln::Parameter;
inline constexpr auto unknown = ::kiln::ParameterKind::kUnknown;
inline constexpr auto value = ::kiln::ParameterKind::kValue;
inline constexpr auto pointer = ::kiln::ParameterKind::kPointer;

// Each argument: its type and offset, or {offset, size, kind}.
inline constexpr Parameter parameters_0[] = {{0, 8, value}, {8, 8, pointer}, {16, 4, value}};
inline constexpr Parameter parameters_1[] = {Parameter::of<std::uint64_t>(0),
                                             Parameter::of<const float*>(8),
                                             Parameter::of<void*>(16),
                                             Parameter::of<::kiln::bf16>(24), {32, 8, pointer}};
inline constexpr Parameter parameters_2[] = {{0, 8, unknown}, {8, 8, unknown}};

}  // namespace detail

// The tables and the bytes of each module.
namespace data {

namespace affine {

inline constexpr ::kiln::KernelEntry kernels[] = {
    {"_Z5scaleIfEvPT_", 0, detail::parameters_0},
    {"affine_f32", 0, detail::parameters_1},
    {"operator", 0, {}},
};

alignas(4096) inline constexpr unsigned char gfx1030[19 + 1] =
    "\177ELF affine gfx1030";

alignas(4096) inline constexpr unsigned char gfx90a_xnack_on[25 + 1] =
    "\177ELF affine gfx90a:xnack+";

alignas(64) inline constexpr unsigned char compute_80[14 + 1] =
    ".version 7.8\12\0";

inline constexpr ::kiln::ImageEntry images[] = {
    {"gfx1030", detail::Format::kHsaco, detail::Compression::kNone, 0, 0,
     gfx1030, 19, 19, 0x19421e136c89a939},
    {"gfx90a:xnack+", detail::Format::kHsaco, detail::Compression::kNone, 0, 0,
     gfx90a_xnack_on, 25, 25, 0x4ed3a4efed96f04f},
    {"compute_80", detail::Format::kPtx, detail::Compression::kNone, 0, 78,
     compute_80, 14, 14, 0x15f9bc7eeee0f649},
};

}  // namespace affine

namespace copy {

inline constexpr ::kiln::KernelEntry kernels[] = {
    {"affine_f32", 0, detail::parameters_2},
    {"copy", 1, detail::parameters_2},
};

alignas(64) inline constexpr unsigned char unit0_gfx1030[24 + 1] =
    "\177ELF copy gfx1030 unit 0";

alignas(4096) inline constexpr unsigned char unit0_gfx90a_xnack_on[30 + 1] =
    "\177ELF copy gfx90a:xnack+ unit 0";

alignas(64) inline constexpr unsigned char unit0_compute_80[14 + 1] =
    ".version 7.8\12\0";

alignas(4096) inline constexpr unsigned char unit1_gfx1030[24 + 1] =
    "\177ELF copy gfx1030 unit 1";

alignas(4096) inline constexpr unsigned char unit1_gfx90a_xnack_on[30 + 1] =
    "\177ELF copy gfx90a:xnack+ unit 1";

alignas(64) inline constexpr unsigned char unit1_compute_80[14 + 1] =
    ".version 7.8\12\0";

inline constexpr ::kiln::ImageEntry images[] = {
    {"gfx1030", detail::Format::kHsaco, detail::Compression::kZstd, 0, 0,
     unit0_gfx1030, 24, 4096, 0x67474a7ae9db7850},
    {"gfx90a:xnack+", detail::Format::kHsaco, detail::Compression::kNone, 0, 0,
     unit0_gfx90a_xnack_on, 30, 30, 0x3809802ec7385a8b},
    {"compute_80", detail::Format::kPtx, detail::Compression::kNone, 0, 78,
     unit0_compute_80, 14, 14, 0x15f9bc7eeee0f649},
    {"gfx1030", detail::Format::kHsaco, detail::Compression::kNone, 1, 0,
     unit1_gfx1030, 24, 24, 0x5bd74bee3f7a3e57},
    {"gfx90a:xnack+", detail::Format::kHsaco, detail::Compression::kNone, 1, 0,
     unit1_gfx90a_xnack_on, 30, 30, 0x7f8cb6fc9a444d7b},
    {"compute_80", detail::Format::kPtx, detail::Compression::kNone, 1, 78,
     unit1_compute_80, 14, 14, 0x15f9bc7eeee0f649},
};

}  // namespace copy

}  // namespace data

namespace modules {
inline constexpr Module affine{"affine", 0, 1, data::affine::kernels, data::affine::images,
    0xd18b0d4411bb927a};
inline constexpr Module copy{"copy", 1, 2, data::copy::kernels, data::copy::images,
    0x6f5a6034e770acbf};
}  // namespace modules

// The kernels. Where two modules have one of the same name, say <namespace>::<kernel>.
inline namespace affine {
// _Z5scaleIfEvPT_, scale<float>
inline constexpr ::kiln::Kernel<::kiln::UntypedValue<8>, ::kiln::Untyped<8>,
                                ::kiln::UntypedValue<4>>
    _5fZ5scaleIfEvPT_5f_{&modules::affine, 0};
// affine_f32(number_of_elements, input, blocks_of_the_output, factor_of_the_output, anything)
inline constexpr ::kiln::Kernel<std::uint64_t, const float*, void*, ::kiln::bf16,
                                ::kiln::Untyped<8>>
    affine_f32{&modules::affine, 1};
// operator
inline constexpr ::kiln::Kernel<> operator_{&modules::affine, 2};
template <typename P0> struct no_such_kernel_scale {
#if !defined(__NVCC__) && !defined(__EDG__)
  static_assert(sizeof(no_such_kernel_scale*) == 0,
    "the sources do not instantiate this kernel: they have scale<float>");
#endif
};
template <typename P0> extern const no_such_kernel_scale<P0> scale;
template <> inline constexpr auto scale<float> = _5fZ5scaleIfEvPT_5f_;
}  // namespace affine

inline namespace copy_ {
inline constexpr ::kiln::Kernel<::kiln::Untyped<8>, ::kiln::Untyped<8>>
    affine_f32{&modules::copy, 0};
inline constexpr ::kiln::Kernel<::kiln::Untyped<8>, ::kiln::Untyped<8>> copy{&modules::copy, 1};
}  // namespace copy_

namespace detail {
inline constexpr std::string_view targets[] = {"gfx1030", "gfx90a:xnack+", "compute_80"};
inline constexpr std::string_view missing_targets[] = {"sm_90"};
inline constexpr const Module* all_modules[] = {&modules::affine, &modules::copy};
inline constexpr ::kiln::Catalog all{
    "demo",
    "189379e5a61acf564405e2522e2e40598b61b65edefb85d0dc47334b19917048",
    targets, missing_targets, all_modules};
}  // namespace detail

constexpr const ::kiln::Catalog& catalog() { return detail::all; }

// The module called `name`, or nullptr.
constexpr const Module* find(std::string_view name) { return catalog().find(name); }

// The module with this id.
constexpr const Module& get(Id id) { return *catalog().modules[static_cast<std::size_t>(id)]; }

}  // namespace catalog_189379e5a61acf56
}  // namespace kernels

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
