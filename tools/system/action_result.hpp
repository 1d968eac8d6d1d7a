// The entry that Bazel's caches keep under /ac: an ActionResult of the Remote Execution API v2, as
// far as kiln fills it in. A server such as bazel-remote reads it and refuses anything else.
//
//   ActionResult = { 2: OutputFile   4: exit_code (varint, 0)   5: stdout_raw (bytes) }
//   OutputFile   = { 1: path   2: Digest }        Digest = { 1: hash, 64 hex digits   2: size_bytes
//   }
//
// Protocol Buffers: each field is a varint of number * 8 + wire type (0 varint, 2 length and
// bytes).
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
  std::optional<File> output;  // the one file that kiln names
  std::string text;            // stdout_raw
};

std::string write_action_result(const ActionResult& result);

// Nothing where the bytes are no such message; fields that kiln does not know are passed over.
std::optional<ActionResult> read_action_result(std::string_view bytes);

}  // namespace kiln::tools
