// unload_library LIBRARY: repeatedly loads, uses and unloads a library of a user that contains the
// runtime.
#include <dlfcn.h>

#include <iostream>

int main(int argc, char** argv) {
  const auto fails = [](const char* how) { return std::cerr << how << '\n', 1; };
  if (argc != 2) return fails("usage: unload_library LIBRARY");
  for (int round = 0; round < 3; ++round) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return fails(dlerror());
    const auto count = reinterpret_cast<int (*)()>(dlsym(library, "user_counts_devices"));
    if (count == nullptr || count() < 0) return fails("it does not run");
    dlclose(library);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) return fails("it is still loaded");
  }
  return 0;
}
