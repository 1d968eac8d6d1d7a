// Reads a number from an environment variable, for drivers in separate libraries. A wrong number
// keeps the driver from opening, with the reason.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/text.hpp"

namespace kiln::runtime {

struct NumberBounds {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

// Bounds for the number of threads of a device that runs on the CPU.
inline constexpr NumberBounds kThreadBounds = {1, 1024};

// Returns nothing if the variable is unset or empty. Throws std::invalid_argument for a wrong
// number.
inline std::optional<std::uint64_t> environment_number(const char* variable, NumberBounds bounds = {}) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error == std::errc() && rest == end && value >= bounds.min && value <= bounds.max) {
    return value;
  }
  std::string message = std::string(variable) + " is " + quote(text) + ", expected a number";
  if (bounds.max != NumberBounds().max) {
    message += " from " + std::to_string(bounds.min) + " to " + std::to_string(bounds.max);
  }
  throw std::invalid_argument(message);
}

}  // namespace kiln::runtime
