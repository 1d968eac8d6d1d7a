// Launches that a program edits after they were planned, on the device of KILN_TEST_DRIVER
// (tests/runtime/subject.hpp): their kernels take any addresses, and any grid.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kiln/ops.hpp"
#include "ops_subject.hpp"
#include "places.hpp"

namespace kiln::ops {
namespace {

constexpr std::size_t kRows = 48, kColumns = 96, kPitch = 128;

// Two views of one shape, whose sum is planned by whole chunks of rows, or by groups of neighbours.
struct Operands {
  const char* name;
  Layout lhs, rhs;
};

Launch sum_of(const Operands& operands, const Gpu& gpu, const void* lhs, const void* rhs,
              void* out) {
  Binary call;
  call.dtype = DType::kU32;
  call.lhs_layout = operands.lhs;
  call.rhs_layout = operands.rhs;
  call.lhs = lhs, call.rhs = rhs, call.out = out;
  return plan(call, gpu).value();
}

TEST_CASE("A launch runs at other addresses than it was planned with") {
  const OpsSubject subject;
  std::vector<std::uint32_t> values(kColumns * kPitch + 1);
  std::iota(values.begin(), values.end(), 1u);
  const Buffer in = *subject.device.upload(values);
  const Buffer out = *subject.device.allocate<std::uint32_t>(kRows * kColumns + 1);
  const auto at = [](const Buffer& buffer, std::size_t place) {
    return static_cast<std::uint32_t*>(buffer.data()) + place;
  };
  const Operands all[] = {
      {"rows", {{kRows, kColumns}, {kPitch, 1}}, {{kRows, kColumns}, {0, 1}}},
      {"groups", {{kRows, kColumns}, {1, kPitch}}, {{kRows, kColumns}, {kPitch, 1}}},
      // Windows that overlap begin at any element.
      {"windows", {{kRows, kColumns}, {1, 1}}, {{kRows, kColumns}, {kPitch, 1}}},
      {"turned windows",
       {{2, kRows / 2, kColumns}, {1, 1, 64}},
       {{2, kRows / 2, kColumns}, {0, 128, 1}}},
  };
  for (const Operands& operands : all) {
    for (const Gpu& gpu : {Gpu{"sm_90", 1}, Gpu{"gfx90a", 1}, Gpu{"gfx1030", 1}}) {
      for (const bool with_addresses : {false, true}) {
        for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
          INFO(operands.name << " for " << gpu.target << ", planned "
                             << (with_addresses ? "with" : "without") << " addresses, run " << shift
                             << " elements on");
          Launch launch = with_addresses ? sum_of(operands, gpu, at(in, 0), at(in, 0), at(out, 0))
                                         : sum_of(operands, gpu, nullptr, nullptr, nullptr);
          launch.arguments[3] = Argument::of(static_cast<const void*>(at(in, shift)));
          launch.arguments[4] = Argument::of(static_cast<const void*>(at(in, 0)));
          launch.arguments[5] = Argument::of(static_cast<void*>(at(out, shift)));
          for (const std::uint32_t blocks : {launch.grid.x, 1u}) {
            launch.grid.x = blocks;
            const Result<void> ran = subject.launcher.run(launch);
            if (!ran) FAIL(ran.error().text());
            const auto results = *subject.device.download<std::uint32_t>(out);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < kRows * kColumns; ++i) {
              wrong += results[shift + i] != values[shift + place_in(operands.lhs, i)] +
                                                 values[place_in(operands.rhs, i)];
            }
            CHECK(wrong == 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kiln::ops
