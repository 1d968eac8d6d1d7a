// run_planted IMAGE KERNEL: runs one planted kernel in a checked launch and prints the result.
//
// The program only knows how to set up the fault of a kernel. The test that reads the output
// decides whether the fault was found.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "emulator/dispatch.hpp"

using namespace kiln::emulator;

namespace {

constexpr std::uint32_t kBlocks = 4, kThreads = 256, kCount = kBlocks * kThreads;

int fail(const kiln::Error& error) {
  std::printf("%s", kiln::render(error, kiln::Color::kNo, "run_planted").c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string name = argv[2];
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  const OperationTable operations;
  const auto program = Program::load(std::as_bytes(std::span(bytes)), operations);
  if (!program) return fail(program.error());
  const Kernel* kernel = (*program)->find_kernel(name);
  if (kernel == nullptr) {
    std::printf("no kernel '%s'\n", name.c_str());
    return 2;
  }

  MemoryMap memory(Tracking::kInitialisation);
  const auto in = memory.allocate(kThreads * sizeof(std::uint32_t));
  const auto out = memory.allocate(kCount * sizeof(std::uint32_t));
  if (!in || !out) return 2;
  std::vector<std::uint32_t> values(kThreads);
  if (name != "endless_loop") std::iota(values.begin(), values.end(), 1u);
  if (name != "uninitialised_memory") {
    std::memcpy(*in, values.data(), values.size() * sizeof(std::uint32_t));
    memory.mark_written(reinterpret_cast<u64>(*in), values.size() * sizeof(std::uint32_t));
  }
  std::memset(*out, 0, kCount * sizeof(std::uint32_t));
  memory.mark_written(reinterpret_cast<u64>(*out), kCount * sizeof(std::uint32_t));
  void* const in_pointer = name == "host_pointer" ? values.data() : *in;
  void* const out_pointer = name == "null_output" ? nullptr : *out;
  if (name == "use_after_free") (void)memory.free(*in);

  std::uint32_t count = kCount;
  const void* arguments[] = {&in_pointer, &out_pointer, &count};
  LaunchRequest request;
  request.program = program->get();
  request.kernel = kernel;
  request.memory = &memory;
  request.grid = {kBlocks, 1, 1};
  request.block = {kThreads, 1, 1};
  request.arguments = arguments;
  RunOptions options;
  options.checks = Checks::kEverything;
  options.seed = 7;
  options.instruction_limit = 200'000;
  if (const auto counts = launch(request, options); !counts) return fail(counts.error());
  std::printf("ok: %s\n", name.c_str());
  return 0;
}
