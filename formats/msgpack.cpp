#include "formats/msgpack.hpp"

#include <bit>
#include <string>

#include "base/diagnostic.hpp"

namespace kiln {
namespace {

constexpr int kMaxDepth = 16;

class Reader {
 public:
  explicit Reader(Bytes bytes) : all_(bytes), bytes_(bytes) {}

  // Reads a value with everything in it. Arrays and maps are checked and returned as views.
  Result<MsgpackValue> value(int depth) {
    if (depth > kMaxDepth) {
      return damaged("values nested deeper than " + std::to_string(kMaxDepth));
    }
    KILN_TRY_ASSIGN(const MsgpackValue first, head());
    const MsgpackArray* values = first.array();
    if (const MsgpackMap* map = first.map()) values = &map->keys_and_values;
    for (std::uint64_t i = 0; values != nullptr && i < values->size(); ++i) {
      KILN_TRY(value(depth + 1));
    }
    return first;
  }

  // Reads a value that is neither an array nor a map, or the start of an array or map.
  Result<MsgpackValue> head() {
    const auto tag = bytes_.big<std::uint8_t>();
    if (bytes_.failed()) return damaged("the end where a value should start");
    if (tag <= 0x7f) return MsgpackValue{std::uint64_t{tag}};
    if (tag <= 0x8f) return map(tag & 0x0fU);
    if (tag <= 0x9f) return array(tag & 0x0fU);
    if (tag <= 0xbf) return text(tag & 0x1fU);
    if (tag >= 0xe0) return MsgpackValue{std::int64_t{static_cast<std::int8_t>(tag)}};
    switch (tag) {
      case 0xc0: return MsgpackValue{};
      case 0xc2: return MsgpackValue{false};
      case 0xc3: return MsgpackValue{true};
      case 0xc4: return binary(bytes_.big<std::uint8_t>());
      case 0xc5: return binary(bytes_.big<std::uint16_t>());
      case 0xc6: return binary(bytes_.big<std::uint32_t>());
      case 0xca: return real(std::bit_cast<float>(bytes_.big<std::uint32_t>()));
      case 0xcb: return real(std::bit_cast<double>(bytes_.big<std::uint64_t>()));
      case 0xcc: return integer(bytes_.big<std::uint8_t>());
      case 0xcd: return integer(bytes_.big<std::uint16_t>());
      case 0xce: return integer(bytes_.big<std::uint32_t>());
      case 0xcf: return integer(bytes_.big<std::uint64_t>());
      case 0xd0: return signed_integer(bytes_.big<std::int8_t>());
      case 0xd1: return signed_integer(bytes_.big<std::int16_t>());
      case 0xd2: return signed_integer(bytes_.big<std::int32_t>());
      case 0xd3: return signed_integer(bytes_.big<std::int64_t>());
      case 0xd9: return text(bytes_.big<std::uint8_t>());
      case 0xda: return text(bytes_.big<std::uint16_t>());
      case 0xdb: return text(bytes_.big<std::uint32_t>());
      case 0xdc: return array(bytes_.big<std::uint16_t>());
      case 0xdd: return array(bytes_.big<std::uint32_t>());
      case 0xde: return map(bytes_.big<std::uint16_t>());
      case 0xdf: return map(bytes_.big<std::uint32_t>());
      default: return damaged("a value of the unsupported type " + hex(tag));
    }
  }

  Bytes rest() const { return all_.subspan(bytes_.position()); }

  Error damaged(const std::string& what) const {
    return malformed("damaged MessagePack: " + what + ", at byte " +
                     std::to_string(bytes_.position()));
  }

 private:
  Result<MsgpackValue> integer(std::uint64_t number) {
    if (bytes_.failed()) return damaged("the end inside a number");
    return MsgpackValue{number};
  }
  Result<MsgpackValue> signed_integer(std::int64_t number) {
    if (number >= 0) return integer(static_cast<std::uint64_t>(number));
    return MsgpackValue{number};
  }
  Result<MsgpackValue> real(double number) {
    if (bytes_.failed()) return damaged("the end inside a number");
    return MsgpackValue{number};
  }
  Result<MsgpackValue> text(std::uint64_t size) {
    const Bytes piece = bytes_.take(size);
    if (bytes_.failed()) return damaged("the end inside a string");
    return MsgpackValue{as_text(piece)};
  }
  Result<MsgpackValue> binary(std::uint64_t size) {
    const Bytes piece = bytes_.take(size);
    if (bytes_.failed()) return damaged("the end inside a binary value");
    return MsgpackValue{piece};
  }
  Result<MsgpackValue> array(std::uint64_t count) {
    if (bytes_.failed() || count > bytes_.remaining()) {
      return damaged("an array of more elements than there are bytes");
    }
    return MsgpackValue{MsgpackArray(rest(), count)};
  }
  Result<MsgpackValue> map(std::uint64_t count) {
    if (bytes_.failed() || count > bytes_.remaining() / 2) {
      return damaged("a map of more pairs than there are bytes");
    }
    return MsgpackValue{MsgpackMap{MsgpackArray(rest(), 2 * count)}};
  }

  Bytes all_;
  ByteReader bytes_;
};

}  // namespace

MsgpackValue MsgpackArray::Iterator::operator*() const { return Reader(rest_).head().value(); }

MsgpackArray::Iterator& MsgpackArray::Iterator::operator++() {
  Reader reader(rest_);
  reader.value(0).value();  // read_msgpack has checked it
  rest_ = reader.rest();
  --remaining_;
  return *this;
}

const MsgpackArray* MsgpackValue::array() const { return std::get_if<MsgpackArray>(&value); }

const MsgpackMap* MsgpackValue::map() const { return std::get_if<MsgpackMap>(&value); }

std::optional<std::uint64_t> MsgpackValue::number() const {
  const auto* number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<std::string_view> MsgpackValue::text() const {
  const auto* text = std::get_if<std::string_view>(&value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::optional<MsgpackValue> MsgpackValue::find(std::string_view key) const {
  const MsgpackMap* pairs = map();
  if (pairs == nullptr) return std::nullopt;
  const MsgpackArray& values = pairs->keys_and_values;
  for (auto at = values.begin(); at != values.end(); ++at) {
    const bool is_found = (*at).text() == key;
    ++at;
    if (is_found) return *at;
  }
  return std::nullopt;
}

Result<MsgpackValue> read_msgpack(Bytes bytes) {
  Reader reader(bytes);
  auto value = reader.value(0);
  if (value && !reader.rest().empty()) return reader.damaged("bytes after the value");
  return value;
}

}  // namespace kiln
