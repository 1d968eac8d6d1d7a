// How strided views are walked. Plain C++17, for device code and host programs.
#pragma once

namespace kiln::tuning {

// A line is kLine neighbours in the innermost dim, one for each of as many threads. A thread takes
// the same element of kLines lines.
inline constexpr unsigned kLogLine = 5, kLine = 1 << kLogLine;
inline constexpr unsigned kLogLines = 2, kLines = 1 << kLogLines;
// Maximum number of neighbours in another dim that a thread takes together.
inline constexpr unsigned kNeighbours = 8;

}  // namespace kiln::tuning
