// builds_test IMAGE: runs every kernel of sample.cu on random bit patterns, and compares the
// results bit for bit with the same computation on this processor. Prints the number of compared
// elements.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "emulator/kernel_runner.hpp"

using namespace kiln::emulator;

namespace {

constexpr u32 kThreads = 256;

// The inputs and the expected results. An element is wrong unless the bits agree or both are NaN.
class Sample {
 public:
  explicit Sample(KernelRunner& runner) : runner_(runner) {}

  template <typename In, typename Out>
  void compare(const std::string& kernel, const std::vector<In>& in,
               const std::vector<Out>& expected, u32 count) {
    KernelRun run;
    run.kernel = kernel;
    run.grid = {(count + kThreads - 1) / kThreads, 1, 1};
    run.block = {kThreads, 1, 1};
    run.options.threads = 2;
    run.options.seed = 5;
    RunArgument values{Passing::kAsBuffer, bytes_of(in)};
    RunArgument results{Passing::kAsBuffer, std::vector<std::byte>(expected.size() * sizeof(Out))};
    run.arguments = {values, results, {Passing::kByValue, bytes_of(std::vector<u32>{count})}};
    const auto counts = runner_.run(run);
    if (!counts) {
      std::printf("%s", kiln::render(counts.error(), kiln::Color::kNo, kernel).c_str());
      ++failures_;
      return;
    }
    std::vector<Out> out(expected.size());
    std::memcpy(out.data(), run.arguments[1].bytes.data(), run.arguments[1].bytes.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != out[i] && expected[i] != expected[i]) continue;
      if (std::memcmp(&out[i], &expected[i], sizeof(Out)) == 0) continue;
      std::printf("%s: element %zu: %.17g, expected %.17g\n", kernel.c_str(), i,
                  static_cast<double>(out[i]), static_cast<double>(expected[i]));
      ++failures_;
      break;
    }
    compared_ += out.size();
  }

  int conclude() const {
    std::printf("%zu elements compared, %d kernels wrong\n", compared_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  template <typename T>
  static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    return {bytes, bytes + values.size() * sizeof(T)};
  }

  KernelRunner& runner_;
  std::size_t compared_ = 0;
  int failures_ = 0;
};

template <typename T>
std::vector<T> random_bits(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) {
    const u64 bits = random();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}
// For integer division: values of all magnitudes, without zero.
template <typename T>
std::vector<T> random_divisible(std::size_t count) {
  std::vector<T> values = random_bits<T>(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(values[i] >> (i / 2 % 60));
    if (values[i] == 0 || values[i] == static_cast<T>(-1)) values[i] = 3;
  }
  return values;
}

template <typename Out, typename In, typename Formula>
std::vector<Out> each(const std::vector<In>& in, Formula formula) {
  std::vector<Out> out;
  for (const In& value : in) out.push_back(static_cast<Out>(formula(value)));
  return out;
}
template <typename T, typename Formula>
std::vector<T> each_pair(const std::vector<T>& in, Formula formula) {
  std::vector<T> out;
  for (std::size_t i = 0; i + 1 < in.size(); i += 2) out.push_back(formula(in[i], in[i + 1]));
  return out;
}

u32 mix(u32 x) {
  u32 result = 0;
  for (u32 i = 0; i < x % 23; ++i) result = result * 31 + x * (((result ^ i) & 15) + 1);
  return result;
}
u32 branches(u32 x) {
  switch (x % 7) {
    case 0: x = x * 3; break;
    case 1: x ^= 77; break;
    case 2: x /= 7; break;
    case 3: x = 0 - x; break;
    case 4: x = std::rotl(x, 2); break;
    default: x = ~x;
  }
  while (x > 1000) x = x / 2 - x % 3;
  return x;
}

void run_all(Sample& sample) {
  constexpr u32 kMany = 100'000;
  constexpr u32 kSome = 5'000;
  const auto floats = random_bits<float>(2 * kMany);
  sample.compare("divide_f32", floats, each_pair(floats, [](float a, float b) { return a / b; }),
                 kMany);
  sample.compare("sqrt_f32", floats, each<float>(floats, [](float x) { return std::sqrt(x); }),
                 2 * kMany);
  const auto doubles = random_bits<double>(2 * kMany);
  sample.compare("divide_f64", doubles,
                 each_pair(doubles, [](double a, double b) { return a / b; }), kMany);
  sample.compare("sqrt_f64", doubles, each<double>(doubles, [](double x) { return std::sqrt(x); }),
                 2 * kMany);
  const auto wide = random_divisible<i64>(2 * kSome);
  sample.compare("divide_i64", wide, each_pair(wide, [](i64 a, i64 b) { return a / b + a % b; }),
                 kSome);
  const auto positive = random_divisible<u64>(2 * kSome);
  sample.compare("divide_u64", positive,
                 each_pair(positive, [](u64 a, u64 b) { return a / b ^ a % b; }), kSome);
  const auto numbers = random_bits<u32>(kSome);
  sample.compare("call_mix", numbers, each<u32>(numbers, mix), kSome);
  sample.compare("branches", numbers, each<u32>(numbers, branches), kSome);
  const auto small = random_bits<i16>(kSome);
  sample.compare("narrow", small,
                 each<i16>(small, [](i16 x) { return x * static_cast<i8>(x >> 4) - (x >> 3); }),
                 kSome);
  std::vector<u32> sums((kSome + kThreads - 1) / kThreads);
  for (u32 i = 0; i < kSome; ++i) sums[i / kThreads] += numbers[i];
  sample.compare("tree_sum", numbers, sums, kSome);
  std::vector<u32> histogram(16);
  for (const u32 x : numbers) ++histogram[x % 16];
  sample.compare("histogram", numbers, histogram, kSome);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  const auto runner = make_kernel_runner();
  if (auto loaded = runner->load(std::as_bytes(std::span(bytes))); !loaded) {
    std::printf("%s", kiln::render(loaded.error(), kiln::Color::kNo, argv[1]).c_str());
    return 1;
  }
  for (const MissingInstruction& missing : runner->missing()) {
    std::printf("the emulator lacks %s\n", missing.name.c_str());
  }
  Sample sample(*runner);
  run_all(sample);
  return runner->missing().empty() ? sample.conclude() : 1;
}
