// Each statement with a comment `// error: TEXT` must not compile: one error must name its line and have
// the TEXT, a regular expression (refused.sh). Everything else compiles.
#include <kernels.hpp>
#include <kiln/device.hpp>
#include <memory>
#include <string>
#include <vector>

// Each comment stays in the line of its statement.
// clang-format off

void launch(const kiln::TypedFunction<std::uint64_t, const float*, float*, float>& scale_f32,
            const kiln::TypedFunction<kiln::Untyped<8>, kiln::Untyped<1>>& untyped,
            const kiln::TypedFunction<kiln::UntypedValue<8>>& by_value);
void launch(const kiln::TypedFunction<std::uint64_t, const float*, float*, float>& scale_f32,
            const kiln::TypedFunction<kiln::Untyped<8>, kiln::Untyped<1>>& untyped,
            const kiln::TypedFunction<kiln::UntypedValue<8>>& by_value) {
  const std::size_t numel = 64;
  const float* const in = nullptr;
  double* const doubles = nullptr;
  float* const out = nullptr;
  const kiln::TypedBuffer<float> buffer;
  const kiln::TypedBuffer<double> doubles_there;
  const kiln::Buffer plain_buffer;
  const kiln::Result<kiln::TypedBuffer<float>> allocated = kiln::TypedBuffer<float>();

  (void)scale_f32.launch({}, numel, in, out, 2.0f);
  (void)scale_f32.launch({}, numel, static_cast<void*>(out), static_cast<void*>(out), 2.0f);
  (void)scale_f32.launch({}, numel, nullptr, nullptr, 2.0f);
  (void)scale_f32.launch({}, numel, buffer, plain_buffer, 2.0f);
  (void)scale_f32.launch({}, numel, in, out);             // error: wrong number of arguments for this kernel
  (void)scale_f32.launch({}, numel, in, out, 2);          // error: launch_argument_fits<4, int,
  (void)scale_f32.launch({}, numel, in, out, 2.0);        // error: launch_argument_fits<4, double,
  (void)scale_f32.launch({}, numel, doubles, out, 2.0f);  // error: launch_argument_fits<2, double ?\*,
  (void)scale_f32.launch({}, numel, out, in, 2.0f);       // error: launch_argument_fits<3, const float ?\*,
  (void)scale_f32.launch({}, 64, in, out, 2.0f);          // error: launch_argument_fits<1, int,
  (void)scale_f32.launch({}, numel, in, 2.0f, out);       // error: launch_argument_fits<3, float,
  (void)scale_f32.launch({}, numel, doubles_there, buffer, 2.0f);  // error: launch_argument_fits<2, kiln::TypedBuffer<double>,
  (void)scale_f32.launch({}, numel, in, allocated, 2.0f);     // error: pass what it holds, .result
  (void)scale_f32.launch({}, numel, buffer, buffer, buffer);  // error: launch_argument_fits<4, kiln::TypedBuffer<float>,

  // Where types are not known, sizes are.
  (void)untyped.launch({}, in, 'x');
  (void)untyped.launch({}, in, 1.0f);  // error: launch_argument_fits<2, float,

  struct Pair {
    float first, second;
  };
  (void)by_value.launch({}, Pair{1, 2});
  (void)by_value.launch({}, buffer);  // error: launch_argument_fits<1, kiln::TypedBuffer<float>,
}

// Copies with another type than that of the buffer, or of memory that is gone before the stream
// reaches the copy.
void copy(const kiln::Device& device, const kiln::TypedBuffer<float>& buffer, kiln::StreamRef stream);
void copy(const kiln::Device& device, const kiln::TypedBuffer<float>& buffer, kiln::StreamRef stream) {
  const std::vector<float> floats(4);
  (void)device.fill(buffer, 0);
  (void)device.fill(buffer, 0, stream);
  (void)device.copy_to_device(buffer, std::vector<float>(4));
  (void)device.copy_to_device_async(buffer, floats, stream);
  (void)device.copy_to_device(buffer, std::vector<int>(4));  // error: the buffer holds values of another type than the range
  (void)device.copy_to_device_async(buffer, std::vector<float>(4), stream);  // error: a copy from or to values that end with this statement
  (void)device.copy_to_host(floats, buffer);  // error: the range that is copied to is constant
  (void)device.fill(buffer, 1.0f);            // error: fill sets bytes to an integer
}

// A Result of something else, which would lose its error, and values that only an explicit
// conversion makes.
kiln::Result<std::string> load();
kiln::Result<bool> load_bool(bool right);
kiln::Result<bool> load_bool(bool right) {
  if (right) return load().has_value();
  return load();  // error: (could not convert|no viable conversion).*Result<bool>
}
kiln::Result<std::vector<int>> make_ints(bool right);
kiln::Result<std::vector<int>> make_ints(bool right) {
  if (right) return kiln::Result<std::vector<int>>(5);
  return 5;  // error: (could not convert|no viable conversion).*Result<std::vector<int>
}
kiln::Result<std::unique_ptr<int>> own(int* number, bool right);
kiln::Result<std::unique_ptr<int>> own(int* number, bool right) {
  if (right) return std::unique_ptr<int>(number);
  return number;  // error: (could not convert|no viable conversion).*Result<std::unique_ptr<int>
}

static_assert(kernels::affine_u8.kParameterCount == 3);
static_assert(kernels::affine_f16.kParameterCount == 3);  // error: affine_f16
