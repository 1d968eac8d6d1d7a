#include "runtime/src/rtc_compiler.hpp"

#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "runtime/src/driver_error.hpp"
#include "runtime/src/file.hpp"
#include "runtime/src/library.hpp"

namespace kiln::runtime {
namespace {

struct RtcSymbols {
#define KILN_RTC_SYMBOL(name, nvrtc, hiprtc, result, parameters) result(*name) parameters = nullptr;
#include "runtime/src/rtc_symbols.def"

  // Finds every function. Returns the name of the first that is missing, or an empty string.
  std::string resolve(const Library& library, bool is_cuda) {
#define KILN_RTC_SYMBOL(name, nvrtc, hiprtc, result, parameters)                             \
  name = reinterpret_cast<result(*) parameters>(library.symbol(is_cuda ? #nvrtc : #hiprtc)); \
  if (name == nullptr) return is_cuda ? #nvrtc : #hiprtc;
#include "runtime/src/rtc_symbols.def"
    return {};
  }
};

// NVRTC and hipRTC have no standard library. These headers have what device code needs from it.
constexpr char kIntegers[] = R"(#pragma once
namespace std {
using int8_t = signed char; using uint8_t = unsigned char;
using int16_t = short; using uint16_t = unsigned short;
using int32_t = int; using uint32_t = unsigned int;
using int64_t = long long; using uint64_t = unsigned long long;
using size_t = decltype(sizeof 0); using ptrdiff_t = long;
using intptr_t = long; using uintptr_t = unsigned long;
}
using namespace std;
)";
constexpr const char* kHeaderNames[] = {"cstdint", "cstddef", "stdint.h", "stddef.h"};
constexpr const char* kHeaders[] = {kIntegers, kIntegers, kIntegers, kIntegers};

class RtcCompiler final : public Compiler {
 public:
  RtcCompiler(const RtcSymbols& rtc, bool is_cuda, std::string path)
      : rtc_(rtc), is_cuda_(is_cuda), path_(std::move(path)) {
    int major = 0, minor = 0;
    rtc_.version(&major, &minor);
    name_ = (is_cuda_ ? "NVRTC " : "hipRTC ") + std::to_string(major) + "." + std::to_string(minor);
  }

  std::string name() const override { return name_; }
  std::string ingredients(const SourceBundle& bundle, const TargetId& target) const override {
    return name_ + " " + file_identity(path_) + "\n" + join(options(bundle, "", target), "\n") +
           "\n" + kIntegers;
  }

  Result<std::string> compile(const SourceBundle& bundle, const std::string& folder,
                              const TargetId& target) const override {
    const std::vector<std::string> words = options(bundle, folder, target);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());

    // Uses an absolute name, because quoted includes are searched beside the source. With a
    // relative name, that would be below the program's current folder.
    const SourceBundle::File& source = bundle.files.front();
    const std::string name = folder + "/" + source.path;
    void* program = nullptr;
    if (const int status = rtc_.create(&program, source.text.c_str(), name.c_str(),
                                       std::size(kHeaders), kHeaders, kHeaderNames);
        status != 0) {
      return failure("CreateProgram", status);
    }
    Result<std::string> image = compile(program, pointers, folder);
    rtc_.destroy(&program);
    return image;
  }

 private:
  std::vector<std::string> options(const SourceBundle& bundle, const std::string& folder,
                                   const TargetId& target) const {
    std::vector<std::string> words = {
        (is_cuda_ ? "--gpu-architecture=" : "--offload-arch=") + to_string(target), "--std=c++17"};
    if (is_cuda_) words.emplace_back("--device-as-default-execution-space");
    const std::string& source = bundle.files.front().path;
    const std::size_t slash = source.rfind('/');
    words.push_back("-I" + folder +
                    (slash == std::string::npos ? "" : "/" + source.substr(0, slash)));
    for (const std::string& directory : bundle.include_directories) {
      words.push_back("-I" + folder + "/" + directory);
    }
    for (const std::string& define : bundle.defines) words.push_back("-D" + define);
    words.insert(words.end(), bundle.flags.begin(), bundle.flags.end());
    const auto& own = is_cuda_ ? bundle.nvidia_flags : bundle.amd_flags;
    words.insert(words.end(), own.begin(), own.end());
    return words;
  }

  Result<std::string> compile(void* program, const std::vector<const char*>& options,
                              const std::string& folder) const {
    const int compiled = rtc_.compile(program, static_cast<int>(options.size()), options.data());
    if (compiled != 0) {
      std::size_t size = 0;
      std::string log;
      if (rtc_.log_size(program, &size) == 0 && size != 0) {
        log.resize(size);
        rtc_.log(program, log.data());
        log.resize(size - 1);  // removes the NUL
      }
      return compile_error(failure("CompileProgram", compiled).message, std::move(log), folder);
    }
    std::size_t size = 0;
    if (const int status = rtc_.code_size(program, &size); status != 0) {
      return failure(is_cuda_ ? "GetCUBINSize" : "GetCodeSize", status);
    }
    std::string image(size, '\0');
    if (const int status = rtc_.code(program, image.data()); status != 0) {
      return failure(is_cuda_ ? "GetCUBIN" : "GetCode", status);
    }
    return image;
  }

  Error failure(std::string_view call, int status) const {
    return Error{
        ErrorCode::kBuildFailed,
        (is_cuda_ ? "nvrtc" : "hiprtc") + std::string(call) + ": " + rtc_.error_text(status),
        {},
        {}};
  }

  RtcSymbols rtc_;
  bool is_cuda_;
  std::string path_, name_;
};

// Versioned names come first, as for the drivers, and then usual folders of toolkits that the
// linker does not search.
std::vector<std::string> candidates(bool is_cuda) {
  if (is_cuda) {
    return {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
            "/usr/local/cuda/lib64/libnvrtc.so"};
  }
  return {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so",
          "/opt/rocm/lib/libhiprtc.so"};
}

}  // namespace

Result<std::unique_ptr<Compiler>> open_rtc_compiler(Backend backend, const std::string& library) {
  const bool is_cuda = backend == Backend::kCuda;
  std::vector<std::string> reasons;
  const Library opened =
      Library::open(library.empty() ? candidates(is_cuda) : std::vector{library}, reasons);
  if (!opened) {
    Error error{ErrorCode::kUnavailable,
                std::string("no ") + (is_cuda ? "NVRTC" : "hipRTC") + " on this machine",
                {},
                {}};
    for (const std::string& reason : reasons) error.note(reason);
    return error;
  }
  RtcSymbols symbols;
  if (const std::string missing = symbols.resolve(opened, is_cuda); !missing.empty()) {
    return missing_symbol(opened.path(), missing);
  }
  return std::unique_ptr<Compiler>(std::make_unique<RtcCompiler>(symbols, is_cuda, opened.path()));
}

}  // namespace kiln::runtime
