// Runs work that consists of many parts in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

#include "base/helping_threads.hpp"

namespace kiln {

// Calls work(0) to work(count - 1), each once and in any order, on at most `threads` threads
// including the caller's. Returns when all is done. After an exception in `work`, no more calls
// begin, and the first exception is rethrown when all threads have ended.
template <typename Work>
void on_threads(std::size_t threads, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&](std::size_t) {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    const HelpingThreads helpers(std::max<std::size_t>(std::min(threads, count), 1) - 1, run);
    run(0);
  }
  if (thrown) std::rethrow_exception(thrown);
}

// The same with at most one thread per core.
template <typename Work>
void on_all_cores(std::size_t count, const Work& work) {
  on_threads(std::max(1U, std::thread::hardware_concurrency()), count, work);
}

}  // namespace kiln
