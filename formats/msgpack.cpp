#include "formats/msgpack.hpp"

#include <bit>
#include <string>

#include "base/diagnostic.hpp"

namespace kiln {
namespace {

constexpr int kMaximumDepth = 16;

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  Result<MsgpackValue> value(int depth) {
    if (depth > kMaximumDepth) {
      return wrong("values nested deeper than " + std::to_string(kMaximumDepth));
    }
    const auto tag = bytes_.big<std::uint8_t>();
    if (bytes_.failed()) return wrong("the end where a value should start");
    if (tag <= 0x7f) return MsgpackValue{std::uint64_t{tag}};
    if (tag <= 0x8f) return map(tag & 0x0fU, depth);
    if (tag <= 0x9f) return array(tag & 0x0fU, depth);
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
      case 0xdc: return array(bytes_.big<std::uint16_t>(), depth);
      case 0xdd: return array(bytes_.big<std::uint32_t>(), depth);
      case 0xde: return map(bytes_.big<std::uint16_t>(), depth);
      case 0xdf: return map(bytes_.big<std::uint32_t>(), depth);
      default: return wrong("a value of the unsupported type " + hex(tag));
    }
  }

  bool at_end() const { return bytes_.at_end(); }

  Error wrong(const std::string& what) const {
    return malformed("damaged MessagePack: " + what + ", at byte " +
                     std::to_string(bytes_.position()));
  }

 private:
  Result<MsgpackValue> integer(std::uint64_t number) {
    if (bytes_.failed()) return wrong("the end inside a number");
    return MsgpackValue{number};
  }
  Result<MsgpackValue> signed_integer(std::int64_t number) {
    if (number >= 0) return integer(static_cast<std::uint64_t>(number));
    return MsgpackValue{number};
  }
  Result<MsgpackValue> real(double number) {
    if (bytes_.failed()) return wrong("the end inside a number");
    return MsgpackValue{number};
  }
  Result<MsgpackValue> text(std::uint64_t size) {
    const Bytes piece = bytes_.take(size);
    if (bytes_.failed()) return wrong("the end inside a string");
    return MsgpackValue{as_text(piece)};
  }
  Result<MsgpackValue> binary(std::uint64_t size) {
    const Bytes piece = bytes_.take(size);
    if (bytes_.failed()) return wrong("the end inside a binary value");
    return MsgpackValue{piece};
  }
  Result<MsgpackValue> array(std::uint64_t count, int depth) {
    if (bytes_.failed() || count > bytes_.remaining()) {
      return wrong("an array of more elements than there are bytes");
    }
    MsgpackValue::Array elements;
    for (std::uint64_t i = 0; i < count; ++i) {
      KILN_TRY_ASSIGN(MsgpackValue element, value(depth + 1));
      elements.push_back(std::move(element));
    }
    return MsgpackValue{std::move(elements)};
  }
  Result<MsgpackValue> map(std::uint64_t count, int depth) {
    if (bytes_.failed() || count > bytes_.remaining() / 2) {
      return wrong("a map of more pairs than there are bytes");
    }
    MsgpackValue::Map pairs;
    for (std::uint64_t i = 0; i < count; ++i) {
      KILN_TRY_ASSIGN(MsgpackValue key, value(depth + 1));
      KILN_TRY_ASSIGN(MsgpackValue element, value(depth + 1));
      pairs.keys.push_back(std::move(key));
      pairs.values.push_back(std::move(element));
    }
    return MsgpackValue{std::move(pairs)};
  }

  ByteReader bytes_;
};

}  // namespace

const MsgpackValue::Array* MsgpackValue::array() const { return std::get_if<Array>(&value); }

const MsgpackValue::Map* MsgpackValue::map() const { return std::get_if<Map>(&value); }

std::optional<std::uint64_t> MsgpackValue::number() const {
  const auto* number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<std::string_view> MsgpackValue::text() const {
  const auto* text = std::get_if<std::string_view>(&value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

const MsgpackValue* MsgpackValue::find(std::string_view key) const {
  const Map* pairs = map();
  if (pairs == nullptr) return nullptr;
  for (std::size_t i = 0; i < pairs->keys.size(); ++i) {
    if (pairs->keys[i].text() == key) return &pairs->values[i];
  }
  return nullptr;
}

Result<MsgpackValue> read_msgpack(Bytes bytes) {
  Reader reader(bytes);
  auto value = reader.value(0);
  if (value && !reader.at_end()) return reader.wrong("bytes after the value");
  return value;
}

}  // namespace kiln
