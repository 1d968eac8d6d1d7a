#include "formats/byte_reader.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>

using namespace kiln;

TEST_CASE("slice gives what lies inside, and nothing else", "[byte_reader]") {
  const std::string text = "abcdef";
  const Bytes bytes = as_bytes(text);
  CHECK(as_text(slice(bytes, 0, 6).value()) == "abcdef");
  CHECK(as_text(slice(bytes, 2, 3).value()) == "cde");
  CHECK(slice(bytes, 6, 0)->empty());
  CHECK_FALSE(slice(bytes, 0, 7));
  CHECK_FALSE(slice(bytes, 6, 1));
  CHECK_FALSE(slice(bytes, 7, 0));
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  CHECK_FALSE(slice(bytes, kMax, 1));
  CHECK_FALSE(slice(bytes, 1, kMax));  // a sum that wraps to 0
  CHECK_FALSE(slice(bytes, kMax - 1, kMax));
}

TEST_CASE("ByteReader reads both byte orders", "[byte_reader]") {
  const std::string text("\x01\x02\x03\x04\xff\xfe\x80\x00\x00\x00", 10);
  ByteReader little(as_bytes(text));
  CHECK(little.little<std::uint32_t>() == 0x04030201);
  CHECK(little.little<std::int16_t>() == -257);
  CHECK(little.position() == 6);
  ByteReader big(as_bytes(text));
  CHECK(big.big<std::uint32_t>() == 0x01020304);
  CHECK(big.big<std::int16_t>() == -2);
  CHECK(big.big<std::uint8_t>() == 0x80);
  CHECK(big.remaining() == 3);
}

TEST_CASE("ByteReader fails for good when it is asked for more than there is", "[byte_reader]") {
  const std::string text = "abc";
  ByteReader reader(as_bytes(text));
  CHECK(reader.little<std::uint8_t>() == 'a');
  CHECK(reader.little<std::uint32_t>() == 0);
  CHECK(reader.failed());
  CHECK(reader.at_end());
  CHECK(reader.take(1).empty());
  CHECK(reader.little<std::uint8_t>() == 0);
  CHECK(reader.failed());
}

TEST_CASE("ByteReader aligns from the start of its input", "[byte_reader]") {
  const std::string text = "abcdefgh";
  ByteReader reader(as_bytes(text));
  reader.align(4);
  CHECK(reader.position() == 0);
  reader.skip(1);
  reader.align(4);
  CHECK(reader.position() == 4);
  reader.skip(1);
  reader.align(16);
  CHECK(reader.failed());
}

TEST_CASE("c_string ends at a NUL that must be there", "[byte_reader]") {
  const std::string text("ab\0cd", 5);
  CHECK(c_string(as_bytes(text), 0) == "ab");
  CHECK(c_string(as_bytes(text), 1) == "b");
  CHECK(c_string(as_bytes(text), 2) == "");
  CHECK_FALSE(c_string(as_bytes(text), 3));
  CHECK_FALSE(c_string(as_bytes(text), 5));
}

TEST_CASE("hex spells a number", "[byte_reader]") {
  CHECK(hex(0) == "0x0");
  CHECK(hex(0x53f) == "0x53f");
  CHECK(hex(~std::uint64_t{0}) == "0xffffffffffffffff");
}
