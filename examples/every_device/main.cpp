// Runs the same operations on every device of this machine, including its own processor, and on the
// devices named on the command line:
//
//   every_device [DEVICE...]
//
// The input is a transposed matrix. Each result is checked against a plain loop and compared bit by
// bit with the first device's. A square is the same on all devices. silu differs in the last
// places, within its bound, as exponential functions do.
//
// Exit status: 0 if every device that has kernels in this build was right; 1 if one was wrong, a
// named device does not exist, or none could run.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/ops.hpp"
#include "kiln/runtime.hpp"

namespace {

using Values = std::vector<float>;

constexpr std::size_t kRows = 300, kColumns = 200;

struct Operation {
  kiln::ops::UnaryOp op;
  double (*plain)(double);
  std::int64_t bound;  // in units in the last place: docs/TESTING.md
};

constexpr Operation kOperations[] = {
    {kiln::ops::UnaryOp::kSquare, [](double x) { return x * x; }, 0},
    {kiln::ops::UnaryOp::kSilu, [](double x) { return x / (1.0 + std::exp(-x)); }, 5},
};

// Values from -10 to 10. Element (row, column) of the matrix lies at row + column * kRows.
Values make_input() {
  Values input(kRows * kColumns);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = -10.0F + 20.0F * static_cast<float>(i) / static_cast<float>(input.size());
  }
  return input;
}

Values run_plain_loop(const Operation& operation, const Values& input) {
  Values output;
  output.reserve(input.size());
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      output.push_back(static_cast<float>(operation.plain(input[row + column * kRows])));
    }
  }
  return output;
}

kiln::Result<Values> run(const kiln::Device& device, const Operation& operation,
                         const Values& input) {
  const auto in = device.upload(input);
  if (!in) return in.error();
  const auto out = device.allocate<float>(input.size());
  if (!out) return out.error();

  kiln::ops::Unary call;
  call.op = operation.op;
  call.dtype = kiln::ops::DType::kF32;
  call.layout = {{kRows, kColumns}, {1, kRows}};  // sizes and strides
  call.inp = in->data();
  call.out = out->data();
  const kiln::ops::Launcher launcher(device);
  if (const auto launched = launcher.launch(call); !launched) return launched.error();
  return device.download(*out);
}

// Maps floats to integers in the same order. Neighbouring floats differ by one.
std::int64_t position(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::int64_t magnitude = bits & 0x7fffffffU;
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

// Returns the greatest distance between two elements, in units in the last place.
std::int64_t distance(const Values& a, const Values& b) {
  std::int64_t greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::abs(position(a[i]) - position(b[i])));
  }
  return greatest;
}

std::size_t count_unlike(const Values& a, const Values& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += position(a[i]) != position(b[i]) ? 1 : 0;
  return count;
}

void print(const kiln::Error& error) { std::printf("%s\n", error.text().c_str()); }

}  // namespace

int main(int argc, char** argv) {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return print(runtime.error()), 1;
  std::vector<std::string> ids;
  for (const kiln::DeviceInfo& info : runtime->devices()) ids.push_back(info.id);
  for (int i = 1; i < argc; ++i) {
    if (std::find(ids.begin(), ids.end(), argv[i]) == ids.end()) ids.emplace_back(argv[i]);
  }

  const Values input = make_input();
  bool any = false, all_right = true;
  for (const Operation& operation : kOperations) {
    const Values expected = run_plain_loop(operation, input);
    std::printf("%s_f32 of a transposed %zux%zu matrix; right is within %d ulp of a plain loop\n",
                std::string(kiln::ops::info(operation.op).root).c_str(), kRows, kColumns,
                static_cast<int>(operation.bound));
    Values first;  // result of the first device that ran
    for (const std::string& id : ids) {
      std::printf("  %-18s ", id.c_str());
      const auto device = runtime->device(id);
      if (!device) {
        print(device.error());
        all_right = false;
        continue;
      }
      const auto output = run(*device, operation, input);
      if (!output) {
        print(output.error());
        all_right = all_right && output.error().code == kiln::ErrorCode::kNoImage;
        continue;
      }
      if (first.empty()) first = *output;
      const std::int64_t off = distance(*output, expected);
      any = true;
      all_right = all_right && off <= operation.bound;
      std::printf("%s: within %d ulp, %5zu of %zu elements unlike the first device's; %s\n",
                  off <= operation.bound ? "right" : "WRONG", static_cast<int>(off),
                  count_unlike(*output, first), output->size(), device->info().name.c_str());
    }
  }
  return any && all_right ? 0 : 1;
}
