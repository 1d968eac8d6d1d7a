// Compiled alone, with the generated header first: everything a program may ask of it at compile time.
#include <kernels.hpp>

static_assert(kernels::catalog().name == "demo");
static_assert(kernels::catalog().digest.size() == 64);
static_assert(kernels::catalog().targets.size() == 4);
static_assert(kernels::catalog().targets[0] == "gfx1030");
static_assert(kernels::catalog().missing_targets.size() == 1);
static_assert(kernels::catalog().missing_targets[0] == "sm_80");
static_assert(kernels::catalog().modules.size() == 3);

static_assert(kernels::find("affine") == &kernels::modules::affine);
static_assert(kernels::find("affin") == nullptr);
static_assert(kernels::find("") == nullptr);
static_assert(&kernels::get(kernels::Id::copy) == &kernels::modules::copy);
static_assert(kernels::modules::copy.id == static_cast<std::uint32_t>(kernels::Id::copy));

// Kernels by name, the names that are no identifiers among them.
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

// Two modules have a kernel of this name: the module tells them apart.
static_assert(kernels::affine::affine_f32.kParameterCount == 3);
static_assert(kernels::copy_::affine_f32.kParameterCount == 1);

// A kernel that is called like its module keeps its name: the module's namespace gives way.
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
