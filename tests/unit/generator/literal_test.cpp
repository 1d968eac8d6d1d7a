#include "generator/literal.hpp"

#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "base/text.hpp"

namespace {

// Reads a literal back as a compiler would; anything else in `source` fails the test.
std::string parse(std::string_view source) {
  std::string bytes;
  bool inside = false;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '"') {
      inside = !inside;
    } else if (!inside) {
      CHECK((c == ' ' || c == '\n'));
    } else if (c != '\\') {
      CHECK((c >= 0x20 && c < 0x7f));
      bytes += c;
    } else {
      unsigned value = 0, digits = 0;
      while (digits < 3 && i + 1 < source.size() && source[i + 1] >= '0' && source[i + 1] <= '7') {
        value = value * 8 + static_cast<unsigned>(source[++i] - '0');
        ++digits;
      }
      CHECK((digits >= 1 && value < 256));
      bytes += static_cast<char>(value);
    }
  }
  CHECK_FALSE(inside);
  return bytes;
}

}  // namespace

TEST_CASE("literal uses the shortest escape that the next character allows", "[generator]") {
  using kiln::generator::literal;
  CHECK(literal("affine_f32") == R"("affine_f32")");
  CHECK(literal(std::string("\0", 1)) == R"("\0")");
  CHECK(literal(std::string("\0a", 2)) == R"("\0a")");
  CHECK(literal(std::string("\0" "7", 2)) == R"("\0007")");
  CHECK(literal(std::string("\0" "8", 2)) == R"("\08")");
  CHECK(literal("\x1f") == R"("\37")");
  CHECK(literal("\xff\x7f") == R"("\377\177")");
  CHECK(literal("\"\\?") == R"("\42\134\77")");
  CHECK(literal("") == R"("")");
}

TEST_CASE("append_literal reads back as the same bytes when they are random", "[generator]") {
  std::mt19937 random(20);
  for (const std::size_t size : {0u, 1u, 90u, 91u, 92u, 93u, 94u, 95u, 96u, 1000u, 20000u}) {
    CAPTURE(size);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::string text;
    kiln::generator::append_literal(text, bytes, 4);
    CHECK(parse(text) == bytes);
    for (const std::string_view line : kiln::split(text, '\n')) {
      CHECK(line.size() <= 100);
      CHECK(line.starts_with("    \""));
    }
  }
}

TEST_CASE("append_literal reads back as the same bytes for every pair of bytes", "[generator]") {
  std::string bytes;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      bytes += static_cast<char>(first);
      bytes += static_cast<char>(second);
    }
  }
  std::string text;
  kiln::generator::append_literal(text, bytes, 0);
  CHECK(parse(text) == bytes);
}
