// Shared libraries opened at run time: the only part of kiln that includes <dlfcn.h>.
//
// A library stays open for the life of the process: drivers keep threads and handlers of their own,
// and closing them is not safe.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kiln::runtime {

// In a reason, between a library and the linker's word on another that it needs.
inline constexpr const char* kNeeds = " needs ";

class Library {
 public:
  // Tries each candidate, a path or a name for the dynamic linker, and takes the first that opens.
  // The linker's reason for each that did not is appended to `reasons`.
  static Library open(std::span<const std::string> candidates, std::vector<std::string>& reasons);

  Library() = default;  // no library
  explicit operator bool() const { return handle_ != nullptr; }
  // Where the linker found it; the candidate itself where it does not tell.
  const std::string& path() const { return path_; }
  // The address of an exported symbol, or null.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// The folder of the program or shared library that the runtime is part of, or empty.
std::string own_folder();

}  // namespace kiln::runtime
