// Checks the block of a launch against the number of threads that its kernel was compiled for. All
// devices give the same message.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/result.hpp"

namespace kiln {

inline Result<void> check_launch_bound(std::uint64_t threads, std::uint64_t bound) {
  if (threads <= bound) return {};
  return Error{ErrorCode::kInvalidInput,
               "a block of " + std::to_string(threads) +
                   " threads, the kernel is compiled for up to " + std::to_string(bound),
               {},
               {}}
      .hint(
          "launch smaller blocks, or raise the kernel's bound: the number in KILN_KERNEL or "
          "__launch_bounds__");
}

}  // namespace kiln
