// Threads that help the one that starts them.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace kiln {

// Runs work(0) to work(count - 1), each on a thread of its own, or on fewer threads where the system gives no
// more: whoever starts them gets all done without any. The destructor waits for them. `work` throws nothing, and
// is copied for each.
class HelpingThreads {
 public:
  template <typename Work>
  HelpingThreads(std::size_t count, const Work& work) {
    try {
      threads_.reserve(count);
      while (threads_.size() < count) threads_.emplace_back(work, threads_.size());
    } catch (const std::exception&) {
      // A limit on threads or on memory. Those that started are enough.
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
