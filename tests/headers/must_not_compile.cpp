// Each variant is compiled twice: as it stands it must compile, with -DBAD it must not, and the
// compiler's output must hold the message that CMakeLists.txt expects.
#if defined(WRONG_FORMAT) && defined(BAD)
#include <kiln/version.hpp>
#undef KILN_CATALOG_FORMAT
#define KILN_CATALOG_FORMAT 999
#endif

#include <kernels.hpp>
#include <kiln/function.hpp>

void use(const kiln::TypedFunction<8, 8, 1>& affine_u8);
void use(const kiln::TypedFunction<8, 8, 1>& affine_u8) {
  void* const data = nullptr;
  const unsigned char one = 1;
#if defined(WRONG_COUNT) && defined(BAD)
  (void)affine_u8.launch({}, std::size_t{1}, data);
#elif defined(WRONG_SIZE) && defined(BAD)
  (void)affine_u8.launch({}, std::size_t{1}, data, 1.0f);
#else
  (void)affine_u8.launch({}, std::size_t{1}, data, one);
#endif
}

#if defined(UNKNOWN_KERNEL) && defined(BAD)
constexpr auto kernel = kernels::affine_f16;
#else
constexpr auto kernel = kernels::affine_u8;
#endif
static_assert(kernel.kParameterCount == 3);
