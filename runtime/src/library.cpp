#include "runtime/src/library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace kiln::runtime {

Library Library::open(std::span<const std::string> candidates, std::vector<std::string>& reasons) {
  Library library;
  for (const std::string& candidate : candidates) {
    library.handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) {
      const char* message = dlerror();
      const std::string reason = message != nullptr ? message : candidate + ": cannot be opened";
      // If a library that the candidate needs is missing, the message names only that library.
      reasons.push_back(reason.find(candidate) == std::string::npos ? candidate + kNeeds + reason : reason);
      continue;
    }
    library.path_ = candidate;
    link_map* map = nullptr;
    if (dlinfo(library.handle_, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0') {
      library.path_ = map->l_name;
    }
    break;
  }
  return library;
}

void* Library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

}  // namespace kiln::runtime
