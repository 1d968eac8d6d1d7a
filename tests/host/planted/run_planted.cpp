// run_planted IMAGE WAVE KERNEL: runs one planted kernel on the engine, and prints the result.
//
// The program only knows the names and arguments of the kernels. The test that reads the output
// decides whether the fault was found. Built with the sanitizer of the image.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "host/engine.hpp"
#include "host/image.hpp"

using namespace kiln::host;

namespace {

constexpr std::uint32_t kBlocks = 8, kThreads = 128;
constexpr std::uint32_t kColumns = 16;  // for count_columns
// Number of launches of a kernel whose results are not checked. The thread sanitizer remembers only
// part of the past: it misses a race in about one launch of a hundred, and finds it in another.
constexpr int kLaunches = 4;

// Returns the value of each element after a correct kernel. The same rule applies to the faulty
// counterparts.
std::uint32_t expected(const std::string& kernel, std::uint32_t index, std::uint32_t threads) {
  if (kernel == "neighbours") return index / threads * threads + (index + 1) % threads;
  if (kernel == "wave_neighbours") return index ^ 1;
  if (kernel == "block_sum" || kernel == "sum_by_32") return threads * (threads - 1) / 2;
  if (kernel == "count_all") return kBlocks * threads;
  if (kernel == "count_columns") return 2 * kBlocks * threads / kColumns;
  return 0;
}

std::size_t checked_elements(const std::string& kernel, std::uint32_t threads) {
  if (kernel == "neighbours" || kernel == "wave_neighbours") return std::size_t{kBlocks} * threads;
  if (kernel == "block_sum" || kernel == "sum_by_32") return kBlocks;
  if (kernel == "count_all") return 1;
  if (kernel == "count_columns") return kColumns;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::uint32_t wave = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::string kernel = argv[3];
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  auto image = Image::load(std::as_bytes(std::span(bytes)), wave);
  if (!image) {
    std::printf("error: %s\n", image.error().message.c_str());
    return 1;
  }

  std::uint32_t threads = kThreads;
  if (kernel == "shuffle_in_32") threads = 32;
  if (kernel == "write_past_shared") threads = 1024;
  std::uint32_t count = kBlocks * threads;
  // Exactly as many elements as the kernel may access, so that one more is outside.
  if (kernel == "write_past_end") --count;
  std::vector<std::uint32_t> out(count);
  auto* data = out.data();
  const void* arguments[] = {&data, &count};

  Launch launch;
  launch.kernel = kernel;
  launch.run = (*image)->find(kernel);
  if (launch.run == nullptr) {
    std::printf("error: no kernel '%s'\n", kernel.c_str());
    return 1;
  }
  launch.arguments = arguments;
  launch.grid = {kBlocks, 1, 1};
  launch.block = {threads, 1, 1};
  if (kernel == "count_columns") launch.block = {kColumns, 2, threads / kColumns / 2};
  launch.wave_width = wave;
  Engine engine(2);
  const std::size_t checked = checked_elements(kernel, threads);
  for (int i = 0; i < (checked == 0 ? kLaunches : 1); ++i) {
    if (auto launched = engine.launch(launch); !launched) {
      std::printf("error: %s\n", launched.error().message.c_str());
      return 1;
    }
  }
  for (std::size_t i = 0; i < checked; ++i) {
    const std::uint32_t want = expected(kernel, static_cast<std::uint32_t>(i), threads);
    if (out[i] != want) {
      std::printf("error: kernel '%s', element %zu: %u, expected %u\n", kernel.c_str(), i, out[i],
                  want);
      return 1;
    }
  }
  std::printf("ok: %s\n", kernel.c_str());
  return 0;
}
