#include "tools/json/json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>

using namespace kiln;
using namespace kiln::tools;

namespace {

Json read(std::string_view text) {
  Result<Json> json = read_json(text, "a.json");
  REQUIRE(json);
  return *std::move(json);
}

std::pair<std::uint32_t, std::uint32_t> place(const Json& json) { return {json.line, json.column}; }
using Place = std::pair<std::uint32_t, std::uint32_t>;

}  // namespace

TEST_CASE("JSON values know their line and column") {
  const Json json = read("{\n  \"a\": [1, -2.5,\n 30],\n\t\"b\" : {\"c\":true}, \"d\": \"x\"}");
  CHECK(place(json) == Place{1, 1});
  const Json& a = *json.find("a");
  CHECK(place(a) == Place{2, 8});
  CHECK(place((*a.array())[0]) == Place{2, 9});
  CHECK(place((*a.array())[1]) == Place{2, 12});
  CHECK(place((*a.array())[2]) == Place{3, 2});
  CHECK(place(*json.find("b")) == Place{4, 8});
  CHECK(place(*json.find("b")->find("c")) == Place{4, 13});
  CHECK(place(*json.find("d")) == Place{4, 25});
  CHECK(json.object()->at(1).line == 4);
  CHECK(json.object()->at(1).column == 2);
}

TEST_CASE("JSON columns count characters, not bytes") {
  const Json json = read("[\"\xC3\xA4\xE2\x82\xAC\", 1]");
  CHECK(place((*json.array())[1]) == Place{1, 8});
}

TEST_CASE("JSON columns are right after strings that hold brackets, quotes and escapes") {
  const Json json = read(R"(["a]\"{,", "\\", 7])");
  CHECK(*(*json.array())[0].text() == "a]\"{,");
  CHECK(place((*json.array())[1]) == Place{1, 12});
  CHECK(place((*json.array())[2]) == Place{1, 18});
}

TEST_CASE("JSON keeps duplicate keys, and finds the first") {
  const Json json = read(R"({"a": 1, "a": 2})");
  CHECK(json.object()->size() == 2);
  CHECK(*json.find("a")->integer() == 1);
}

TEST_CASE("JSON text is refused past its limits") {
  CHECK_FALSE(read_json("[[[]]]", "a.json", {.bytes = 100, .depth = 2}));
  CHECK(read_json("[[]]", "a.json", {.bytes = 100, .depth = 2}));
  CHECK_FALSE(read_json("[1,2,3]", "a.json", {.bytes = 6, .depth = 2}));
}

TEST_CASE("JSON text cut short at any byte is an error with its place, never a value") {
  const std::string text = R"({"a": [1, true, null, "b\u00e4"], "c": {"d": -1.5e3}})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const Result<Json> json = read_json(std::string_view(text).substr(0, size), "a.json");
    REQUIRE_FALSE(json);
    CHECK(json.error().where.line == 1);
    CHECK(json.error().where.column >= 1);
    CHECK(json.error().where.column <= size + 1);
  }
  CHECK(read_json(text, "a.json"));
}

TEST_CASE("JSON that is written and read again is the same") {
  const Json json = Json::Object{{"b", 1},
                                 {"a", Json::Array{true, 2.5, "x\n\"y\"", Json()}},
                                 {"big", std::int64_t{1} << 62}};
  for (const JsonLayout layout : {JsonLayout::kCompact, JsonLayout::kIndented}) {
    const std::string text = write_json(json, layout);
    CHECK(write_json(read(text), layout) == text);
  }
  CHECK(write_json(json, JsonLayout::kCompact).starts_with(R"({"b":1,"a":[true,2.5,)"));
}

TEST_CASE("JSON numbers are whole where they are written so and fit, else floats") {
  const Json json = read("[0, -0, 9223372036854775807, 9223372036854775808, 1.5, 1e3, -2E-2, 10]");
  const Json::Array& numbers = *json.array();
  CHECK(*numbers[2].integer() == INT64_MAX);
  CHECK(std::get<double>(numbers[3].value) == 9223372036854775808.0);
  CHECK(std::get<double>(numbers[4].value) == 1.5);
  CHECK(std::get<double>(numbers[5].value) == 1000.0);
  CHECK(std::get<double>(numbers[6].value) == -0.02);
  CHECK(*numbers[7].integer() == 10);
  for (const char* text : {"01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "1a", "--1", "1e999", "Infinity", "NaN"}) {
    INFO(text);
    CHECK_FALSE(read_json(text, "a.json"));
  }
}

TEST_CASE("JSON strings hold every character, escaped or not") {
  CHECK(*read(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\u20ac\ud83d\ude00")").text() ==
        "\"\\/\b\f\n\r\tA\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(read(R"("\u0000x")").text()->size() == 2);
  for (const char* text : {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ud83dx")",
                           R"("\ud83d\u0041")", R"("\ude00")", "\"\n\"", "\"\t\"", "\"\xFF\"", "\"\xC3\"",
                           "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"open"}) {
    INFO(text);
    CHECK_FALSE(read_json(text, "a.json"));
  }
}

TEST_CASE("JSON text is one value and blanks") {
  CHECK(read(" \r\n\ttrue ").boolean());
  CHECK(std::holds_alternative<std::monostate>(read("\xEF\xBB\xBFnull").value));
  for (const std::string_view utf16 : {std::string_view("\xFF\xFE{\0}\0", 6), std::string_view("\xFE\xFF\0{\0}", 6)}) {
    CHECK(read_json(utf16, "a.json").error().message == "the text is UTF-16, and JSON is UTF-8");
  }
  for (const char* text : {"", " ", "tru", "truex", "nul", "[1 2]", "[1,]", "[,1]", "{\"a\" 1}", "{\"a\":}", "{a:1}",
                           "{\"a\":1,}", "[}", "1 2", "]", "{\"a\":1]"}) {
    INFO(text);
    CHECK_FALSE(read_json(text, "a.json"));
  }
}

TEST_CASE("JSON is written in UTF-8 whatever the text holds") {
  const auto written = [](const Json& json) { return write_json(json, JsonLayout::kCompact); };
  CHECK(written("a\xe2\x80\xae" "b\xd8\x9c\xe2\x81\xa9\xe2\x82\xac") ==
        "\"a\\u202eb\\u061c\\u2069\xe2\x82\xac\"");
  CHECK(written("a\x01\x1f\x7f\"\\\n") == "\"a\\u0001\\u001f\x7f\\\"\\\\\\n\"");
  CHECK(written("\xC3\xA4\xFF\xE2\x82") == "\"\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(written(Json::Array{1.0, 0.1, 1e300, -0.5, std::numeric_limits<double>::infinity()}) ==
        "[1.0,0.1,1e+300,-0.5,null]");
  CHECK(write_json(Json::Object{{"a", Json::Array{}}, {"b", Json::Object{}}, {"c", Json::Array{1, 2}}}) ==
        "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    2\n  ]\n}\n");
}
