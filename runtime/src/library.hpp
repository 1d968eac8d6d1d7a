// Shared libraries opened at run time. This is the only part of kiln that includes <dlfcn.h>.
//
// A library stays open for the life of the process: drivers have their own threads and handlers, so
// closing them is not safe.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kiln::runtime {

// Separates, in a reason, a library from the linker's message about another library that it needs.
inline constexpr const char* kNeeds = " needs ";

class Library {
 public:
  // Opens the first candidate that can be opened. A candidate is a path or a name for the dynamic
  // linker. Appends the linker's reason for each failed candidate to `reasons`.
  static Library open(std::span<const std::string> candidates, std::vector<std::string>& reasons);

  Library() = default;  // no library
  explicit operator bool() const { return handle_ != nullptr; }
  // Returns the path where the linker found the library, or the candidate itself if the linker does
  // not report it.
  const std::string& path() const { return path_; }
  // Returns the address of an exported symbol, or null.
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// Returns the folder of the program or shared library that contains the runtime, or an empty
// string.
std::string own_folder();

}  // namespace kiln::runtime
