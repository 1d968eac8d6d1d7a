// kiln.h where memory ends: the Nth allocation and all after it fail, for every N, and each call ends
// with an error, never with the end of the program. Ends with 0 when it is so.
#include <cstdio>
#include <cstring>

#include "kiln/kiln.h"
#include "tests/support/ending_memory.hpp"

namespace {

// No driver takes part: one in this process would lack memory, too.
kiln_error* open_runtime(kiln_runtime** runtime) { return kiln_runtime_open("cuda:0", runtime); }
kiln_error* name_no_device(kiln_runtime** runtime) { return kiln_runtime_open("a name that no device has", runtime); }
kiln_error* open_no_catalog(kiln_runtime**) {
  kiln_catalog* catalog = nullptr;
  return kiln_catalog_open("a file that is not there.kiln", &catalog);
}
kiln_error* give_nothing(kiln_runtime**) { return kiln_runtime_open(nullptr, nullptr); }

// Whether every call but the last, which has memory enough, ends with that error.
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
