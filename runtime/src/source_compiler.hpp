// From the source that a program carries to an image for the very device: once a machine, then from
// disk.
//
//   <cache folder>/<key>.image   the SHA-256 of key and image in hexadecimal, a newline, the image
//
// The key is made of the source, the target, the compiler's identity and the variables that it reads.
// An entry is written aside and renamed, so that any number of processes may share the folder; one
// that does not check out is a miss, and a folder that cannot be written to costs time and nothing
// else. One that belongs to another user, or that everybody may write to, is not used.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kiln/device.hpp"
#include "kiln/result.hpp"
#include "runtime/src/compiler.hpp"

namespace kiln::runtime {

struct CompilerOptions {
  std::string nvrtc_library, hiprtc_library;  // the one path to try; empty: the usual ones
  std::string host_compiler;                  // empty: the usual ones
  std::string cache_folder;                   // empty: nothing is kept
};

struct CompiledImage {
  std::string bytes;
  std::string compiler;  // "NVRTC 13.0"
  bool is_from_cache = false;
  std::string distrust;  // why the cache is not used; empty: no reason
};

// Thread-safety: everything.
class SourceCompiler {
 public:
  explicit SourceCompiler(CompilerOptions options) : options_(std::move(options)) {}

  // Errors: kUnavailable, there is no compiler; kBuildFailed, with its log; kInvalidInput for a
  // bundle that is damaged; kEnvironment where no folder can be made.
  Result<CompiledImage> compile(std::string_view source_bundle, Backend backend,
                                const TargetId& target);

 private:
  // Found or opened on the first use; a compiler that is not there is looked for again.
  Result<std::shared_ptr<const Compiler>> compiler_for(Backend backend);

  const CompilerOptions options_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<const Compiler> nvrtc_, hiprtc_, host_;
};

}  // namespace kiln::runtime
