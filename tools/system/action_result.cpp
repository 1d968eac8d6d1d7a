#include "tools/system/action_result.hpp"

#include <utility>

namespace kiln::tools {
namespace {

constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
constexpr std::uint64_t kOutputFiles = 2, kStdoutRaw = 5;  // fields of ActionResult
constexpr std::uint64_t kPath = 1, kDigest = 2;            // fields of OutputFile
constexpr std::uint64_t kHash = 1, kSize = 2;              // fields of Digest

void put_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

void put_bytes(std::string& text, std::uint64_t field, std::string_view bytes) {
  put_varint(text, field << 3 | kBytes);
  put_varint(text, bytes.size());
  text += bytes;
}

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

struct Field {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};

std::optional<Field> take_field(std::string_view& rest) {
  const std::optional<std::uint64_t> key = take_varint(rest);
  if (!key) return std::nullopt;
  Field field{.number = *key >> 3, .value = 0, .bytes = {}};
  std::uint64_t length = 0;
  switch (*key & 7) {
    case kVarint: {
      const auto value = take_varint(rest);
      if (!value) return std::nullopt;
      field.value = *value;
      return field;
    }
    case kFixed64: length = 8; break;
    case kFixed32: length = 4; break;
    case kBytes: {
      const auto given = take_varint(rest);
      if (!given) return std::nullopt;
      length = *given;
      break;
    }
    default: return std::nullopt;
  }
  if (length > rest.size()) return std::nullopt;
  field.bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  return field;
}

std::optional<ActionResult::File> read_file(std::string_view bytes) {
  ActionResult::File file;
  bool has_hash = false;
  while (!bytes.empty()) {
    const std::optional<Field> field = take_field(bytes);
    if (!field) return std::nullopt;
    if (field->number != kDigest) continue;
    for (std::string_view digest = field->bytes; !digest.empty();) {
      const std::optional<Field> part = take_field(digest);
      if (!part) return std::nullopt;
      if (part->number == kHash) has_hash = Digest::parse(part->bytes, file.digest);
      if (part->number == kSize) file.size = part->value;
    }
  }
  return has_hash ? std::optional(file) : std::nullopt;
}

}  // namespace

std::string write_action_result(const ActionResult& result) {
  std::string text;
  if (result.output) {
    std::string digest, file;
    put_bytes(digest, kHash, result.output->digest.hex());
    put_varint(digest, kSize << 3 | kVarint);
    put_varint(digest, result.output->size);
    put_bytes(file, kPath, "output");
    put_bytes(file, kDigest, digest);
    put_bytes(text, kOutputFiles, file);
  }
  put_bytes(text, kStdoutRaw, result.text);
  return text;
}

std::optional<ActionResult> read_action_result(std::string_view bytes) {
  ActionResult result;
  while (!bytes.empty()) {
    const std::optional<Field> field = take_field(bytes);
    if (!field) return std::nullopt;
    if (field->number == kStdoutRaw) result.text = field->bytes;
    if (field->number != kOutputFiles || result.output) continue;
    result.output = read_file(field->bytes);
    if (!result.output) return std::nullopt;
  }
  return result;
}

}  // namespace kiln::tools
