// The entries that Bazel's caches keep under /ac: an ActionResult of the Remote Execution API v2,
// limited to the fields that kiln uses. Servers such as bazel-remote parse it and refuse anything
// else.
//
//   ActionResult = { 2: OutputFile   4: exit_code (varint, 0)   5: stdout_raw (bytes) }
//   OutputFile   = { 1: path   2: Digest }
//   Digest       = { 1: hash, 64 hex digits   2: size_bytes }
//
// Protocol Buffers: each field begins with a varint of number * 8 + wire type (0 varint, 2 length
// and bytes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.hpp"

namespace kiln::tools {

struct ActionResult {
  struct File {
    Digest digest;
    std::uint64_t size = 0;
  };
  std::optional<File> output;  // the only file that kiln names
  std::string text;            // stdout_raw
};

std::string write_action_result(const ActionResult& result);

// Returns nothing if the bytes are not such a message. Unknown fields are skipped.
std::optional<ActionResult> read_action_result(std::string_view bytes);

}  // namespace kiln::tools
