// Simulates out-of-memory: the Nth allocation through new, and all later ones, fail.
//
// For programs that link ending_memory.cpp, which replaces new and delete, and that run without a
// sanitizer, which has its own replacements. Single-threaded.
#pragma once

namespace kiln::testing {

// Lets this many allocations succeed from now on, and resets has_memory_ended().
void end_memory_after(long allocations);
// Lets all allocations succeed.
void end_memory_never();
// True if an allocation has failed since then.
bool has_memory_ended();

}  // namespace kiln::testing
