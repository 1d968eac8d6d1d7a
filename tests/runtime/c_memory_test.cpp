// kiln.h when memory runs out: for every N, the Nth allocation and all later ones fail, and each
// call returns an error and never ends the program. Exits with 0 if that is so.
#include <cstdio>
#include <cstring>

#include "kiln/kiln.h"
#include "tests/support/ending_memory.hpp"

namespace {

// No driver takes part, because a driver in this process would also run out of memory.
kiln_error* open_runtime(kiln_runtime** runtime) { return kiln_runtime_open("cuda:0", runtime); }
kiln_error* name_no_device(kiln_runtime** runtime) { return kiln_runtime_open("a name that no device has", runtime); }
kiln_error* open_no_catalog(kiln_runtime**) {
  kiln_catalog* catalog = nullptr;
  return kiln_catalog_open("a file that is not there.kiln", &catalog);
}
kiln_error* give_nothing(kiln_runtime**) { return kiln_runtime_open(nullptr, nullptr); }

// True if every call except the last, which has enough memory, returns that error.
bool tells(kiln_error* (*call)(kiln_runtime**), const char* name) {
  for (long allowed = 0; allowed < 1000; ++allowed) {
    kiln_runtime* runtime = nullptr;
    kiln::testing::end_memory_after(allowed);
    kiln_error* const error = call(&runtime);
    kiln::testing::end_memory_never();
    const bool is_told = kiln_error_get_code(error) == KILN_ENVIRONMENT &&
                         std::strcmp(kiln_error_get_text(error), "out of memory") == 0;
    kiln_error_free(error);
    kiln_runtime_free(runtime);
    if (!kiln::testing::has_memory_ended()) return allowed > 0;
    if (!is_told) return std::printf("failed: %s with %ld allocations\n", name, allowed), false;
  }
  return false;
}

}  // namespace

int main() {
  const bool all = tells(open_runtime, "open_runtime") && tells(name_no_device, "name_no_device") &&
                   tells(open_no_catalog, "open_no_catalog") && tells(give_nothing, "give_nothing");
  return all ? 0 : 1;
}
