#include "tools/system/plugin.hpp"

#include <dlfcn.h>

namespace kiln::tools {

Result<void*> open_plugin(const std::string& path, const char* function) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library != nullptr ? dlsym(library, function) : nullptr;
  if (symbol != nullptr) return symbol;
  const char* reason = dlerror();
  return Error{
      ErrorCode::kUnavailable, reason != nullptr ? reason : path + " cannot be opened", {}, {}, {}};
}

}  // namespace kiln::tools
