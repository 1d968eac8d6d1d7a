#include "formats/msgpack.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "tests/support/damage.hpp"
#include "tests/support/msgpack_builder.hpp"

using namespace kiln;
using namespace kiln::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

// Returns the value of valid bytes.
MsgpackValue read(const std::string& bytes) {
  auto value = read_msgpack(as_bytes(bytes));
  REQUIRE(value);
  return std::move(value).value();
}

std::string error_of(const std::string& bytes) {
  const auto value = read_msgpack(as_bytes(bytes));
  REQUIRE_FALSE(value);
  return value.error().message;
}

}  // namespace

TEST_CASE("read_msgpack reads numbers of each width", "[msgpack]") {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{255},
        std::uint64_t{256}, std::uint64_t{65536}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}}) {
    CHECK(read(msgpack::number(number)).number() == number);
  }
  CHECK(std::get<std::int64_t>(read("\xff").value) == -1);
  CHECK(std::get<std::int64_t>(read("\xd0\x80").value) == -128);
  CHECK(std::get<std::int64_t>(read("\xd1\xff\xfe").value) == -2);
  CHECK(read("\xd0\x07").number() == 7);  // a non-negative number in a signed form
  CHECK(std::get<double>(read(std::string("\xca\x3f\x80\0\0", 5)).value) == 1.0);
  CHECK(std::get<double>(read(std::string("\xcb\xbf\xf0\0\0\0\0\0\0", 9)).value) == -1.0);
}

TEST_CASE("read_msgpack reads nil, booleans, strings and binaries", "[msgpack]") {
  CHECK(std::holds_alternative<std::monostate>(read("\xc0").value));
  CHECK(std::get<bool>(read("\xc3").value));
  CHECK_FALSE(std::get<bool>(read("\xc2").value));
  CHECK(read("\xa3"
             "abc")
            .text() == "abc");
  CHECK(read(msgpack::text(std::string(40, 'x'))).text() == std::string(40, 'x'));
  CHECK(as_text(std::get<Bytes>(read(std::string("\xc4\x02\0\1", 4)).value)) ==
        std::string_view("\0\1", 2));
}

TEST_CASE("read_msgpack reads arrays and maps, and find looks a key up", "[msgpack]") {
  const std::string bytes =
      msgpack::map({{"list", msgpack::array({msgpack::number(1), msgpack::text("two")})},
                    {"n", msgpack::number(7)}});
  const MsgpackValue value = read(bytes);
  REQUIRE(value.find("list"));
  REQUIRE(value.find("list")->array() != nullptr);
  const MsgpackArray list = *value.find("list")->array();
  CHECK((*++list.begin()).text() == "two");
  CHECK(value.find("n")->number() == 7);
  CHECK_FALSE(value.find("m"));
  CHECK_FALSE(value.find("n")->find("n"));
  CHECK_FALSE(value.find("n")->text());
  CHECK_FALSE(value.number());
  std::vector<std::string> many(300, msgpack::number(5));
  const std::string long_array = msgpack::array(many);
  CHECK(read(long_array).array()->size() == 300);
}

TEST_CASE("read_msgpack refuses what is left over, cut off, too deep or unknown", "[msgpack]") {
  CHECK_THAT(error_of(""), ContainsSubstring("the end where a value should start"));
  CHECK_THAT(error_of(std::string("\0\0", 2)),
             ContainsSubstring("bytes after the value, at byte 1"));
  CHECK_THAT(error_of("\xcd\x01"), ContainsSubstring("the end inside a number"));
  CHECK_THAT(error_of("\xa5"
                      "abc"),
             ContainsSubstring("the end inside a string"));
  CHECK_THAT(error_of("\xc1"), ContainsSubstring("unsupported type 0xc1"));
  CHECK_THAT(error_of("\xd4\x01\x01"), ContainsSubstring("unsupported type 0xd4"));
  CHECK_THAT(error_of("\xdd\xff\xff\xff\xff"),
             ContainsSubstring("more elements than there are bytes"));
  CHECK_THAT(error_of("\xdf\xff\xff\xff\xff"),
             ContainsSubstring("more pairs than there are bytes"));
  CHECK(read_msgpack(as_bytes(std::string(16, '\x91') + '\x01')));
  CHECK_THAT(error_of(std::string(17, '\x91') + '\x01'),
             ContainsSubstring("nested deeper than 16"));
  CHECK_THAT(error_of(std::string(100000, '\x91')), ContainsSubstring("nested deeper than 16"));
}

TEST_CASE("read_msgpack survives every cut and many changes", "[msgpack]") {
  const std::string bytes =
      msgpack::map({{"a", msgpack::array({msgpack::number(70000), "\xc0", "\xc3"})},
                    {"text", msgpack::text(std::string(100, 'x'))},
                    {"f", std::string("\xcb\xbf\xf0\0\0\0\0\0\0", 9)}});
  int errors = 0;
  cut_everywhere(bytes, [&](Bytes cut) { errors += read_msgpack(cut) ? 0 : 1; });
  CHECK(errors == static_cast<int>(bytes.size()));
  change_bytes(bytes, 2, 20000, [](Bytes changed) { (void)read_msgpack(changed); });
}
