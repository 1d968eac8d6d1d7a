// Runs one kernel of a code object, with arguments given as bytes. This is the interface between
// `kiln run` and the emulator.
//
// The command-line tool opens libkiln_emulator only to run a kernel, so that otherwise it neither
// links LLVM nor waits for it to load. Both sides come from the same release and the same compiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/dispatch.hpp"

namespace kiln::emulator {

enum class Passing : u8 { kByValue, kAsBuffer };

// One argument. After the run, the bytes of a buffer are those that the kernel left in it.
struct RunArgument {
  Passing passing = Passing::kByValue;
  std::vector<std::byte> bytes;
  bool is_written = true;  // false: a buffer without initial values
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
