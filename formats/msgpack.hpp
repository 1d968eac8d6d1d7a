// MessagePack, as far as AMD's kernel metadata uses it: nil, booleans, integers, floats, strings,
// binary, arrays and maps. Extension types are an error.
//
// A value is a view into the input, which must outlive it. Arrays and maps are parsed anew whenever
// they are iterated, so reading needs no memory, whatever the input holds.
//
// Byte order: big-endian. Spec: msgpack.org, "MessagePack specification". hsaco.hpp describes the
// metadata.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include "formats/byte_reader.hpp"

namespace kiln {

struct MsgpackValue;

// The values of an array, in order.
class MsgpackArray {
 public:
  class Iterator {
   public:
    Iterator(Bytes rest, std::uint64_t remaining) : rest_(rest), remaining_(remaining) {}
    MsgpackValue operator*() const;
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const { return remaining_ == 0; }

   private:
    Bytes rest_;  // starts with the current value
    std::uint64_t remaining_;
  };

  MsgpackArray(Bytes bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}
  std::uint64_t size() const { return size_; }
  Iterator begin() const { return {bytes_, size_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  Bytes bytes_;  // starts with the first value; may extend past the last
  std::uint64_t size_;
};

// Alternating keys and values, in the order of the file.
struct MsgpackMap {
  MsgpackArray keys_and_values;
};

struct MsgpackValue {
  // A non-negative integer always uses the unsigned type.
  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string_view, Bytes,
               MsgpackArray, MsgpackMap>
      value;

  const MsgpackArray* array() const;  // null if it is something else
  const MsgpackMap* map() const;
  std::optional<std::uint64_t> number() const;
  std::optional<std::string_view> text() const;
  // Returns the value with this key, if this is a map that has it.
  std::optional<MsgpackValue> find(std::string_view key) const;
};

// Reads the one value that `bytes` consist of and checks everything in it. Errors: leftover bytes,
// nesting deeper than 16, and a count beyond what the input can hold.
Result<MsgpackValue> read_msgpack(Bytes bytes);

}  // namespace kiln
