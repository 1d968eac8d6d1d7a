#include "runtime/src/compiler.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/src/driver_error.hpp"

namespace kiln::runtime {

namespace fs = std::filesystem;

Error compile_error(std::string message, std::string log, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (std::size_t at = 0; (at = log.find(prefix, at)) != std::string::npos;) {
    log.erase(at, prefix.size());
  }
  Error error{ErrorCode::kBuildFailed, std::move(message), {}, {}};
  add_log(error, "the compiler", log);
  return error;
}

std::vector<std::pair<std::string, std::string>> compiler_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name :
       {"CCC_OVERRIDE_OPTIONS", "COMPILER_PATH", "CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH",
        "DEVICE_LIB_PATH", "GCC_EXEC_PREFIX", "HIPRTC_COMPILE_OPTIONS_APPEND",
        "HIPRTC_LINK_OPTIONS_APPEND", "HIP_PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "LLVM_PATH",
        "ROCM_PATH", "SOURCE_DATE_EPOCH"}) {
    if (const char* value = std::getenv(name)) found.emplace_back(name, value);
  }
  return found;
}

std::string file_identity(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  return whole.string() + " " + std::to_string(fs::file_size(whole, error)) + " " +
         std::to_string(fs::last_write_time(whole, error).time_since_epoch().count());
}

}  // namespace kiln::runtime
