#include "tests/bench/host/plain_loop.hpp"

#include <cmath>
#include <thread>
#include <vector>

namespace kiln::bench {

void plain_affine(const float* in, float* out, std::size_t count, float mul, float add,
                  unsigned threads) {
  const auto run_share = [&](unsigned share) {
    const std::size_t last = count * (share + 1) / threads;
    for (std::size_t i = count * share / threads; i < last; ++i) {
      out[i] = std::fma(in[i], mul, add);
    }
  };
  std::vector<std::thread> others;
  for (unsigned share = 1; share < threads; ++share) others.emplace_back(run_share, share);
  run_share(0);
  for (std::thread& other : others) other.join();
}

}  // namespace kiln::bench
