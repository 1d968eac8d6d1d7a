// Runs a fuzz target with its seeds, its corpus, and changed copies of both, which are the same in
// every run. Each run must stay within the memory budget for its input
// (tests/support/memory_meter.hpp).
// usage: PROGRAM --list                    prints the targets of this program
//        PROGRAM TARGET CORPUS RUNS        CORPUS: a folder, which need not exist; RUNS: changed copies
//        PROGRAM TARGET --seeds FOLDER     writes the seeds there, as a start for libFuzzer
//        PROGRAM TARGET --replay FILE...   runs those files, for example findings of libFuzzer
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/memory_meter.hpp"

using namespace kiln::testing;

namespace {

// Copies the input to an allocation of exactly its size, so that the address sanitizer finds reads
// past it.
void run(const FuzzTarget& target, std::string_view input) {
  const auto copy = std::make_unique<std::uint8_t[]>(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) copy[i] = static_cast<std::uint8_t>(input[i]);
  const MemoryMeter meter;
  target.run(copy.get(), input.size());
  promise(meter.peak() <= memory_budget(input.size()), "the memory of an input");
}

class Changer {
 public:
  explicit Changer(std::uint32_t seed) : random_(seed) {}

  std::string change(std::string text, const std::vector<std::string>& others) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      switch (below(6)) {
        case 0:  // cut
          text.resize(at);
          break;
        case 1:  // one byte
          if (at < text.size()) text[at] = static_cast<char>(below(256));
          break;
        case 2: {  // a number at a limit of its range, of any width
          constexpr std::uint64_t kEdges[] = {0,
                                              1,
                                              0x7f,
                                              0xff,
                                              0x7fff,
                                              0xffff,
                                              0x7fffffff,
                                              0xffffffff,
                                              ~std::uint64_t{0} >> 1,
                                              ~std::uint64_t{0}};
          const std::uint64_t edge = kEdges[below(std::size(kEdges))];
          const std::size_t width = std::size_t{1} << below(4);
          for (std::size_t i = 0; i < width && at + i < text.size(); ++i) {
            text[at + i] = static_cast<char>(edge >> (8 * i) & 0xff);
          }
          break;
        }
        case 3:  // remove some bytes
          text.erase(at, 1 + below(8));
          break;
        case 4:  // duplicate some bytes
          text.insert(at, text.substr(at, 1 + below(16)));
          break;
        default: {  // a piece of another seed
          const std::string& other = others[below(others.size())];
          const std::size_t from = below(other.size() + 1);
          text.replace(at, 1 + below(32), other.substr(from, 1 + below(32)));
          break;
        }
      }
    }
    return text;
  }

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  std::mt19937 random_;
};

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    for (const FuzzTarget& target : fuzz_targets()) std::puts(target.name.data());
    return 0;
  }
  if (argc < 4) return 2;
  const FuzzTarget* const target = find_fuzz_target(argv[1]);
  if (target == nullptr) return 2;
  std::vector<std::string> seeds = target->seeds();
  const std::string_view mode = argv[2];
  if (mode == "--seeds" && argc == 4) {
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      std::ofstream(std::string(argv[3]) + "/seed" + std::to_string(i), std::ios::binary)
          << seeds[i];
    }
    return 0;
  }
  if (mode == "--replay") {
    for (int i = 3; i < argc; ++i) run(*target, read(argv[i]));
    return 0;
  }
  if (argc != 4) return 2;
  if (std::filesystem::is_directory(argv[2])) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) paths.push_back(entry);
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) seeds.push_back(read(path));
  }
  const auto runs = static_cast<std::uint32_t>(std::atoi(argv[3]));
  for (const std::string& seed : seeds) run(*target, seed);
  for (std::uint32_t i = 0; i < runs; ++i) {
    Changer changer(i);
    run(*target, changer.change(seeds[changer.below(seeds.size())], seeds));
  }
  std::printf("%u changed copies of %zu inputs\n", runs, seeds.size());
  return 0;
}
