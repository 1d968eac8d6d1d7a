// Threads that help the one that starts them.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace kiln {

// Runs work(0) to work(count - 1), each on its own thread. If the system refuses more threads, the
// remaining calls are not made, so the starting thread must be able to do all the work alone. The
// destructor waits for the threads. `work` must not throw and is copied for each thread.
class HelpingThreads {
 public:
  template <typename Work>
  HelpingThreads(std::size_t count, const Work& work) {
    try {
      threads_.reserve(count);
      while (threads_.size() < count) threads_.emplace_back(work, threads_.size());
    } catch (const std::exception&) {
      // The system limits threads or memory. The threads that have started are enough.
    }
  }
  ~HelpingThreads() {
    for (std::thread& thread : threads_) thread.join();
  }
  HelpingThreads(const HelpingThreads&) = delete;
  HelpingThreads& operator=(const HelpingThreads&) = delete;

  std::size_t count() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace kiln
