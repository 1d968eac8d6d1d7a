// Runs one kernel of a code object with arguments given as bytes: what `kiln run` needs of the
// emulator, and the seam to it.
//
// The command-line tool opens libkiln_emulator when it is asked to run something, so that it
// neither links LLVM nor waits for it otherwise. Both sides are built from one release with one
// compiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/dispatch.hpp"

namespace kiln::emulator {

enum class Passing : u8 { kByValue, kAsBuffer };

// One argument; a buffer's bytes are replaced by what the kernel left in them.
struct RunArgument {
  Passing passing = Passing::kByValue;
  std::vector<std::byte> bytes;
  bool is_written = true;  // false: a buffer that nobody initialised
};

struct KernelRun {
  std::string kernel;
  std::array<u32, 3> grid{1, 1, 1};
  std::array<u32, 3> block{1, 1, 1};
  u32 dynamic_lds = 0;
  std::vector<RunArgument> arguments;
  RunOptions options;
};

class KernelRunner {
 public:
  KernelRunner() = default;
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;
  virtual ~KernelRunner() = default;

  virtual Result<void> load(Bytes code_object) = 0;
  virtual std::string processor() const = 0;
  virtual u32 wave_width() const = 0;
  virtual std::vector<Kernel> kernels() const = 0;
  virtual std::vector<MissingInstruction> missing() const = 0;
  virtual Result<Counts> run(KernelRun& run) = 0;
};

// extern "C" void kiln_open_kernel_runner(kiln::emulator::KernelRunnerPlugin* plugin);
struct KernelRunnerPlugin {
  KernelRunner* runner = nullptr;  // stays null on failure, with the reason in `error`
  void (*close)(KernelRunner*) = nullptr;
  const char* error = nullptr;
};
using OpenKernelRunnerEntry = void (*)(KernelRunnerPlugin*);
inline constexpr char kOpenKernelRunnerEntry[] = "kiln_open_kernel_runner";

std::unique_ptr<KernelRunner> make_kernel_runner();

}  // namespace kiln::emulator
