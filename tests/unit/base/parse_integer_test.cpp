#include "base/parse_integer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

namespace kiln {

TEST_CASE("parse_integer takes a text that is one number") {
  CHECK(parse_integer<std::uint32_t>("0") == 0U);
  CHECK(parse_integer<std::uint32_t>("4294967295") == 4294967295U);
  CHECK(parse_integer<int>("-12") == -12);
  CHECK(parse_integer<std::uint8_t>("ff", 16) == 255);
}

TEST_CASE("parse_integer refuses other characters and numbers that do not fit") {
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "4294967296"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer<std::uint32_t>(text));
  }
}

}  // namespace kiln
