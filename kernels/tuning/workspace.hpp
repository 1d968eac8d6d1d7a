// The layout of a launch's workspace memory. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// Size in bytes of the counters with which a workspace begins. They are zero between launches.
inline constexpr unsigned kWorkspaceCounters = 1u << 16;

}  // namespace kiln::tuning
