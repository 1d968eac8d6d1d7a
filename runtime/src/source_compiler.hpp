// Compiles the source that a program carries for the present device. Each machine compiles it once
// and then reads the result from disk.
//
//   <cache folder>/<key>.image   the SHA-256 of key and image in hexadecimal, a newline, the image
//
// The key covers the source, the target, the compiler's ingredients and the variables that it reads.
// An entry is written aside and renamed, so that any number of processes may share the folder. A
// damaged entry counts as missing. If the folder cannot be written, each program compiles anew. A
// folder that belongs to another user, or that everybody may write to, is not used.
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
  std::string nvrtc_library, hiprtc_library;  // the only path to try; empty: the usual ones
  std::string host_compiler;                  // empty: the usual ones
  std::string cache_folder;                   // empty: no cache
};

struct CompiledImage {
  std::string bytes;
  std::string compiler;  // "NVRTC 13.0"
  bool is_from_cache = false;
  std::string why_uncached;  // why the cache is not used; empty if it is
};

// Thread-safe.
class SourceCompiler {
 public:
  explicit SourceCompiler(CompilerOptions options) : options_(std::move(options)) {}

  // Errors: kUnavailable if there is no compiler, kBuildFailed with the compiler's log,
  // kInvalidInput for a damaged bundle, and kEnvironment if no folder can be made.
  Result<CompiledImage> compile(std::string_view source_bundle, Backend backend,
                                const TargetId& target);

 private:
  // Finds or opens the compiler on first use. A missing compiler is searched again on the next
  // call.
  Result<std::shared_ptr<const Compiler>> compiler_for(Backend backend);

  const CompilerOptions options_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<const Compiler> nvrtc_, hiprtc_, host_;
};

}  // namespace kiln::runtime
