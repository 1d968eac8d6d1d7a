// Memory that launches work in: what its beginning holds. Plain C++17, for device code and host
// programs.
#pragma once

namespace kiln::tuning {

// A workspace begins with so many bytes of counters, which are zero between launches.
inline constexpr unsigned kWorkspaceCounters = 1u << 16;

}  // namespace kiln::tuning
