// Compiler: what turns the source that a program carries into an image for the device at hand.
//
// Owns the interface; NVRTC and hipRTC are in rtc_compiler, the system's C++ compiler is in
// host_compiler. What is compiled is kept by source_compiler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/source_bundle.hpp"
#include "formats/target_id.hpp"
#include "kiln/result.hpp"

namespace kiln::runtime {

// Thread-safety: everything.
class Compiler {
 public:
  Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  virtual ~Compiler() = default;

  // "NVRTC 13.0", "g++".
  virtual std::string name() const = 0;
  // What tells it from every other compiler, and from itself once it is updated.
  virtual std::string identity() const = 0;

  // The image's bytes. `folder` holds the bundle's files, and may be written to. Errors:
  // kBuildFailed with the compiler's log, a note a line, in which paths are relative to the folder.
  virtual Result<std::string> compile(const SourceBundle& bundle, const std::string& folder,
                                      const TargetId& target) const = 0;
};

// The failure of a compiler whose output, a line each, becomes notes.
Error compile_error(std::string message, std::string log, const std::string& folder);

// What identifies a file short of its content: path, size and time of its last change.
// The variables that change what compilers make and that are set: the host's compiler sees these and
// no others of the user's, and all of them count.
std::vector<std::pair<std::string, std::string>> compiler_variables();

std::string file_identity(const std::string& path);

}  // namespace kiln::runtime
