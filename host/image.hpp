// A host image in memory: a shared object opened from bytes, checked before anything in it runs.
//
// The bytes are written to an anonymous file (memfd), or to a private temporary file if the system
// has none, which is then opened by dlopen. Thread-safe once loaded.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "kernels/device/host_abi.hpp"
#include "kiln/result.hpp"

namespace kiln::host {

class Image {
 public:
  // Errors: kInvalidInput (not a host image, or an image of another kiln version or wave width),
  // kUnavailable (this processor or C library lacks something that the image needs).
  static Result<std::unique_ptr<Image>> load(std::span<const std::byte> bytes,
                                             std::uint32_t wave_width);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // Returns the function that runs a kernel's threads, or null.
  RunFunction find(const std::string& kernel) const;
  // Returns the address of a variable that the image exports, or null. `bytes` becomes the size of
  // its symbol.
  void* find_symbol(const std::string& name, std::size_t& bytes) const;

 private:
  Image(int file, void* library) : file_(file), library_(library) {}
  int file_;  // stays open: sanitizers read names from it
  void* library_;
};

}  // namespace kiln::host
