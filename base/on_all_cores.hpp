// Work of many parts, done side by side.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace kiln {

// work(0) to work(count - 1), each once, in any order, on at most as many threads as there are
// cores. Returns when all is done. `work` throws nothing.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const std::size_t workers =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
  try {
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // No more threads to be had: those that started, and this one, do the work.
  }
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace kiln
