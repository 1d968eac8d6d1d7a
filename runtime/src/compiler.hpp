// Compiler: compiles the source that a program carries into an image for the present device.
//
// This is the interface. rtc_compiler implements it with NVRTC and hipRTC, host_compiler with the
// system's C++ compiler. source_compiler caches the results.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/source_bundle.hpp"
#include "formats/target_id.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// Thread-safe.
class Compiler {
 public:
  Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  virtual ~Compiler() = default;

  // Returns a name such as "NVRTC 13.0" or "g++".
  virtual std::string name() const = 0;
  // Returns what decides an image beside its source: the compiler, its command line, and what kiln
  // adds to the source.
  virtual std::string ingredients(const SourceBundle& bundle, const TargetId& target) const = 0;

  // Returns the image's bytes. `folder` holds the bundle's files and may be written to. The error
  // is kBuildFailed with a note for each line of the compiler's log. Paths in it are relative to
  // the folder.
  virtual Result<std::string> compile(const SourceBundle& bundle, const std::string& folder,
                                      const TargetId& target) const = 0;
};

// Returns the error of a failed compilation. Each line of the compiler's output becomes a note.
Error compile_error(std::string message, std::string log, const std::string& folder);

// Returns the environment variables that are set and change what compilers make. The host's
// compiler gets these and no other variables of the user's, and all of them are part of the cache
// key.
std::vector<std::pair<std::string, std::string>> compiler_variables();

// Identifies a file without reading it: path, size and time of the last change.
std::string file_identity(const std::string& path);

}  // namespace kiln::runtime
