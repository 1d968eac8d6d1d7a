// Counts the bytes that a program holds through new, for tests of the memory use of readers.
//
// For programs that link memory_meter.cpp, which replaces new and delete. If a sanitizer has its
// own replacements, kMetersMemory is false and nothing is counted. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KILN_METERS_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define KILN_METERS_MEMORY false
#endif
#endif
#if !defined(KILN_METERS_MEMORY)
#define KILN_METERS_MEMORY true
#endif

namespace kiln::testing {

inline constexpr bool kMetersMemory = KILN_METERS_MEMORY;

// Measures the peak number of bytes since its construction, beyond those held at that time.
class MemoryMeter {
 public:
  MemoryMeter();
  std::size_t peak() const;

 private:
  std::size_t start_;
};

// The permitted memory for reading a file: docs/TRUST.md.
constexpr std::size_t memory_budget(std::size_t file_size) {
  return 8 * file_size + (std::size_t{64} << 20);
}

// Returns the processor time that this thread has used, in seconds.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace kiln::testing
