// How drivers word their errors, as the contract in driver.hpp demands.
#pragma once

#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::runtime {

// Returns the error "<call>: <name>: <text>", or "<call>: unknown error 12345" if the driver has no
// name for the status.
inline Error driver_error(ErrorCode code, std::string_view call, int status, const char* name,
                          const char* text) {
  std::string message(call);
  if (name == nullptr) {
    message += ": unknown error " + std::to_string(status);
  } else {
    message += ": " + std::string(name);
    if (text != nullptr && *text != '\0') message += ": " + std::string(text);
  }
  return Error{code, std::move(message), {}, {}};
}

// Returns the error for a driver library that lacks a required function.
inline Error missing_symbol(std::string_view library, std::string_view symbol) {
  return Error{
      ErrorCode::kUnavailable,
      std::string(library) + " has no '" + std::string(symbol) + "': the driver is too old",
      {},
      {}};
}

// Adds each line of a compiler's log as a note to the error that the log explains.
inline void add_log(Error& error, std::string_view compiler, std::string_view log) {
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    std::string_view line = log.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (!line.empty()) error.note(std::string(compiler) + ": " + std::string(line));
    if (end == std::string_view::npos) break;
    log.remove_prefix(end + 1);
  }
}

}  // namespace kiln::runtime
