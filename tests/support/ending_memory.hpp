// A memory that ends: the Nth allocation through new, and all after it, fail.
//
// For programs that link ending_memory.cpp, which replaces new and delete, and that no sanitizer checks,
// which would put its own in their place. One thread alone.
#pragma once

namespace kiln::testing {

// Lets so many allocations succeed from now on, and forgets those that failed.
void end_memory_after(long allocations);
// Lets all succeed.
void end_memory_never();
// Whether one failed since.
bool has_memory_ended();

}  // namespace kiln::testing
