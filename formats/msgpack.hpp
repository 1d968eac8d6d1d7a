// MessagePack, as far as AMD's kernel metadata uses it: nil, booleans, integers, floats, strings,
// binary, arrays and maps. Extension types are an error.
//
// Byte order: big-endian. Spec: msgpack.org, "MessagePack specification"; what the metadata holds:
// hsaco.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/byte_reader.hpp"

namespace kiln {

struct MsgpackValue {
  using Array = std::vector<MsgpackValue>;
  struct Map {  // as many keys as values, in the order of the file
    Array keys;
    Array values;
  };

  // Strings and binaries are views into the input. A non-negative integer is always the unsigned
  // one.
  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string_view, Bytes,
               Array, Map>
      value;

  const Array* array() const;  // null when it is something else
  const Map* map() const;
  std::optional<std::uint64_t> number() const;
  std::optional<std::string_view> text() const;
  // The value of that key when this is a map that has it, else null.
  const MsgpackValue* find(std::string_view key) const;
};

// Reads the one value that `bytes` are. Bytes that are left over, nesting deeper than 16 and a
// count beyond what the input could hold are errors.
Result<MsgpackValue> read_msgpack(Bytes bytes);

}  // namespace kiln
