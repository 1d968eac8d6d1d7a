// Compiles without a macro. With -DWRONG_... it must not compile, and the output of the compiler
// must contain the message that CMakeLists.txt expects.
#if defined(WRONG_FORMAT)
#include <kiln/version.hpp>
#undef KILN_CATALOG_FORMAT
#define KILN_CATALOG_FORMAT 999
#endif

#include <kernels.hpp>
#include <kiln/device.hpp>
#include <memory>
#include <string>
#include <vector>

// The arguments of one launch: correct, or wrong in one way.
#if defined(WRONG_COUNT)
#define ARGUMENTS numel, in, out
#elif defined(WRONG_INT_FOR_FLOAT)
#define ARGUMENTS numel, in, out, 2
#elif defined(WRONG_DOUBLE_FOR_FLOAT)
#define ARGUMENTS numel, in, out, 2.0
#elif defined(WRONG_DOUBLES_FOR_FLOATS)
#define ARGUMENTS numel, doubles, out, 2.0f
#elif defined(WRONG_SWAPPED)
#define ARGUMENTS numel, out, in, 2.0f
#elif defined(WRONG_INT_FOR_SIZE)
#define ARGUMENTS 64, in, out, 2.0f
#elif defined(WRONG_VALUE_FOR_POINTER)
#define ARGUMENTS numel, in, 2.0f, out
#elif defined(WRONG_BUFFER)
#define ARGUMENTS numel, buffer_of_doubles, buffer, 2.0f
#elif defined(WRONG_RESULT)
#define ARGUMENTS numel, in, allocated, 2.0f
#elif defined(WRONG_BUFFER_FOR_VALUE)
#define ARGUMENTS numel, buffer, buffer, buffer
#else
#define ARGUMENTS numel, in, out, 2.0f
#endif

void use(const kiln::TypedFunction<std::uint64_t, const float*, float*, float>& scale_f32,
         const kiln::TypedFunction<kiln::Untyped<8>, kiln::Untyped<1>>& untyped,
         const kiln::TypedFunction<kiln::UntypedValue<8>>& by_value);
void use(const kiln::TypedFunction<std::uint64_t, const float*, float*, float>& scale_f32,
         const kiln::TypedFunction<kiln::Untyped<8>, kiln::Untyped<1>>& untyped,
         const kiln::TypedFunction<kiln::UntypedValue<8>>& by_value) {
  [[maybe_unused]] const std::size_t numel = 64;
  [[maybe_unused]] const float* const in = nullptr;
  [[maybe_unused]] double* const doubles = nullptr;
  [[maybe_unused]] float* const out = nullptr;
  [[maybe_unused]] const kiln::TypedBuffer<float> buffer;
  [[maybe_unused]] const kiln::TypedBuffer<double> buffer_of_doubles;
  [[maybe_unused]] const kiln::Buffer plain_buffer;
  [[maybe_unused]] const kiln::Result<kiln::TypedBuffer<float>> allocated = kiln::TypedBuffer<float>();
  (void)scale_f32.launch({}, ARGUMENTS);
  (void)scale_f32.launch({}, numel, static_cast<void*>(out), static_cast<void*>(out), 2.0f);
  (void)scale_f32.launch({}, numel, nullptr, nullptr, 2.0f);
  (void)scale_f32.launch({}, numel, buffer, plain_buffer, 2.0f);
#if defined(WRONG_SIZE)
  (void)untyped.launch({}, in, 1.0f);
#else
  (void)untyped.launch({}, in, 'x');
#endif
#if defined(WRONG_ADDRESS_FOR_STRUCT)
  (void)by_value.launch({}, buffer);
#else
  struct Pair {
    float first, second;
  };
  (void)by_value.launch({}, Pair{1, 2});
#endif
}

// Copies with another type than that of the buffer, or of memory that is gone before the stream
// reaches the copy.
void copy(const kiln::Device& device, const kiln::TypedBuffer<float>& buffer, kiln::StreamRef stream);
void copy(const kiln::Device& device, const kiln::TypedBuffer<float>& buffer, kiln::StreamRef stream) {
  const std::vector<float> floats(4);
#if defined(WRONG_OTHER_VALUES)
  (void)device.copy_to_device(buffer, std::vector<int>(4));
#elif defined(WRONG_ENDS_AT_ONCE)
  (void)device.copy_to_device_async(buffer, std::vector<float>(4), stream);
#elif defined(WRONG_INTO_CONSTANT)
  (void)device.copy_to_host(floats, buffer);
#elif defined(WRONG_FILL)
  (void)device.fill(buffer, 1.0f);
#else
  (void)device.fill(buffer, 0);
  (void)device.fill(buffer, 0, stream);
  (void)device.copy_to_device(buffer, std::vector<float>(4));
  (void)device.copy_to_device_async(buffer, floats, stream);
#endif
}

// A Result of something else, which would lose its error, and values that only an explicit
// conversion makes.
kiln::Result<std::string> load();
kiln::Result<bool> load_bool();
kiln::Result<bool> load_bool() {
#if defined(WRONG_BOOL_OF_RESULT)
  return load();
#else
  return load().has_value();
#endif
}
kiln::Result<std::vector<int>> make_ints();
kiln::Result<std::vector<int>> make_ints() {
#if defined(WRONG_INTS_OF_COUNT)
  return 5;
#else
  return kiln::Result<std::vector<int>>(5);
#endif
}
kiln::Result<std::unique_ptr<int>> own(int* number);
kiln::Result<std::unique_ptr<int>> own(int* number) {
#if defined(WRONG_OWNER_OF_POINTER)
  return number;
#else
  return std::unique_ptr<int>(number);
#endif
}

#if defined(WRONG_UNKNOWN_KERNEL)
constexpr auto kernel = kernels::affine_f16;
#else
constexpr auto kernel = kernels::affine_u8;
#endif
static_assert(kernel.kParameterCount == 3);
