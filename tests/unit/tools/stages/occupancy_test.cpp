#include "tools/stages/occupancy.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;
using namespace kiln::tools;

namespace {

std::uint32_t waves(const std::string& target, std::uint32_t registers, std::uint32_t wave = 32) {
  KernelInfo kernel;
  kernel.registers = registers;
  kernel.wave_width = wave;
  return occupancy(parse_target_id(target).value(), kernel).value().waves;
}

}  // namespace

TEST_CASE("occupancy is what a processor's registers leave room for") {
  // NVIDIA's occupancy calculator. Warps come in groups of four, one for each part of an SM.
  CHECK(waves("sm_80", 32) == 64);
  CHECK(waves("sm_80", 33) == 48);
  CHECK(waves("sm_90", 128) == 16);
  CHECK(waves("sm_90", 255) == 8);
  CHECK(waves("sm_86", 32) == 48);
  // LLVM: AMDGPUBaseInfo.
  CHECK(waves("gfx1030", 64) == 16);
  CHECK(waves("gfx1030", 65) == 12);
  CHECK(waves("gfx1100", 96) == 16);
  CHECK(waves("gfx1100", 97) == 12);
  CHECK(waves("gfx1102", 65) == 12);
  CHECK(waves("gfx90a", 64, 64) == 8);
  CHECK(waves("gfx90a", 128, 64) == 4);
  CHECK(waves("gfx906", 25, 64) == 9);
  CHECK(waves("gfx906", 256, 64) == 1);
  KernelInfo untold;
  CHECK_FALSE(occupancy(parse_target_id("sm_80").value(), untold));
  untold.registers = 10;
  CHECK_FALSE(occupancy(parse_target_id("compute_80").value(), untold));
}
