// kiln run: runs one kernel of an AMD code object on an emulated GPU.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"
#include "tools/commands/world.hpp"

namespace kiln::tools {

struct RunOptions {
  std::filesystem::path file;
  std::string kernel;  // empty: list the kernels and the instructions that the emulator lacks
  std::vector<std::string> arguments;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::optional<std::array<std::uint32_t, 3>> block;  // none: one thread, with a remark
  std::uint32_t dynamic_lds = 0;
  unsigned threads = 0;  // 0: one per core
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> instruction_limit;
  bool check = false;
};

Result<int> run_run(const RunOptions& options, World& world);

}  // namespace kiln::tools
