// Compiled alone, with the generated header first: everything that a program may query at compile
// time.
#include <kernels.hpp>

#include <type_traits>

static_assert(kernels::catalog().name == "demo");
static_assert(kernels::catalog().digest.size() == 64);
static_assert(kernels::catalog().targets.size() == 4);
static_assert(kernels::catalog().targets[0] == "gfx1030");
static_assert(kernels::catalog().missing_targets.size() == 1);
static_assert(kernels::catalog().missing_targets[0] == "sm_80");
static_assert(kernels::catalog().modules.size() == 4);

static_assert(kernels::find("affine") == &kernels::modules::affine);
static_assert(kernels::find("affin") == nullptr);
static_assert(kernels::find("") == nullptr);
static_assert(&kernels::get(kernels::Id::copy) == &kernels::modules::copy);
static_assert(kernels::modules::copy.id == static_cast<std::uint32_t>(kernels::Id::copy));

// Kernels by name, including names that are not identifiers.
constexpr const kernels::Module& affine = *kernels::find("affine");
static_assert(affine.kernels.size() == 4);
static_assert(affine.find("affine_f32") >= 0);
static_assert(affine.find("operator") >= 0);
static_assert(affine.find("_Z5scaleIfEvPT_") == 0);
static_assert(affine.find("affine_f") == -1);
static_assert(affine.find("zebra") == -1);

// Kernels as constants.
static_assert(kernels::affine_u8.name() == "affine_u8");
static_assert(kernels::operator_.name() == "operator");
static_assert(kernels::_5fZ5scaleIfEvPT_5f_.name() == "_Z5scaleIfEvPT_");
static_assert(kernels::tick.kParameterCount == 0);
static_assert(kernels::tick.accepts<>());
static_assert(kernels::affine_u8.accepts<std::size_t, void*, unsigned char>());
static_assert(!kernels::affine_u8.accepts<std::size_t, void*, int>());
static_assert(!kernels::affine_u8.accepts<std::size_t, void*>());
static_assert(kernels::affine_u8.entry().parameters[2].offset == 16);
static_assert(kernels::affine_u8.entry().parameters[1].kind == kiln::ParameterKind::kPointer);

// Kernels with known types: each line of the table in docs/HEADER.md. Conversions that a launch
// would do silently are refused.
template <typename... Arguments>
constexpr bool scales = kernels::scale_f32.accepts<Arguments...>();
using Size = std::size_t;
static_assert(std::is_same_v<decltype(kernels::scale_f32),
                             const kiln::Kernel<std::uint64_t, const float*, float*, float>>);
static_assert(scales<Size, const float*, float*, float>);
static_assert(scales<unsigned long long, float*, float*, const float&>);
static_assert(scales<Size, void*, void*, float>);
static_assert(scales<Size, const void*, void*, float>);
static_assert(scales<Size, std::nullptr_t, std::nullptr_t, float>);
static_assert(!scales<Size, const float*, float*, int>);
static_assert(!scales<Size, const float*, float*, double>);
static_assert(!scales<Size, double*, float*, float>);
static_assert(!scales<Size, float*, const float*, float>);
static_assert(!scales<Size, const float*, const void*, float>);
static_assert(!scales<Size, const float*, float, float*>);
static_assert(!scales<int, const float*, float*, float>);
static_assert(!scales<std::int64_t, const float*, float*, float>);
static_assert(!scales<Size, const volatile float*, float*, float>);
static_assert(!scales<Size, const float**, float*, float>);
static_assert(!scales<Size, const float[8], float*, float>);
static_assert(!scales<Size, void (*)(), float*, float>);
static_assert(!scales<Size, Size, float*, float>);
static_assert(!scales<Size, const float*, float*>);
static_assert(kernels::fill_f16.accepts<kiln::f16*, kiln::f16>());
static_assert(kernels::fill_f16.accepts<void*, kiln::f16>());
static_assert(!kernels::fill_f16.accepts<kiln::bf16*, kiln::f16>());
static_assert(!kernels::fill_f16.accepts<kiln::f16*, kiln::bf16>());
static_assert(!kernels::fill_f16.accepts<kiln::f16*, std::uint16_t>());
static_assert(!kernels::fill_f16.accepts<std::uint16_t*, kiln::f16>());
using Pack = decltype(kernels::pack_q8);
static_assert(Pack::accepts<const kiln::f16*, float*, const float*, int, bool, void*>());
static_assert(!Pack::accepts<const kiln::f16*, const float*, float*, int, bool, void*>());
static_assert(!Pack::accepts<const kiln::f16*, float*, float*, int, int, void*>());
static_assert(!Pack::accepts<const kiln::f16*, float*, float*, int, char, void*>());
static_assert(!Pack::accepts<const kiln::f16*, float*, float*, unsigned, bool, void*>());
static_assert(Pack::accepts<kiln::f16*, void*, void*, int, bool, std::uint64_t>());

// A type of another library can be declared.
struct OtherHalf {
  unsigned short x;
};
template <>
inline constexpr bool kiln::is_another_name_for<OtherHalf, kiln::f16> = true;
static_assert(kernels::fill_f16.accepts<OtherHalf*, OtherHalf>());
static_assert(!kernels::fill_f16.accepts<const OtherHalf*, OtherHalf>());

static_assert(sizeof(kiln::f8) == 1 && sizeof(kiln::f16) == 2 && sizeof(kiln::bf16) == 2);
static_assert(std::is_trivial_v<kiln::f16> && std::is_standard_layout_v<kiln::f16>);

// Two modules have a kernel of this name, so the module is part of the constant's name.
static_assert(kernels::affine::affine_f32.kParameterCount == 3);
static_assert(kernels::copy_::affine_f32.kParameterCount == 1);

// A kernel with the same name as its module keeps the name; the namespace of the module is renamed.
static_assert(kernels::copy.name() == "copy");
static_assert(kernels::copy.entry().unit == 1);
static_assert(kernels::modules::copy.name == "copy");

// Images.
static_assert(affine.images.size() == 4);
static_assert(affine.images[3].target == "compute_80");
static_assert(affine.images[3].ptx_isa == 78);
static_assert(affine.images[3].size == 100'001);  // with its NUL
static_assert(kernels::modules::copy.unit_count == 2);
static_assert(kernels::modules::copy.images.size() == 8);
static_assert(kernels::modules::copy.images[4].unit == 1);
static_assert(kernels::modules::empty.kernels.empty());
