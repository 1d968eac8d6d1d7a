#include "formats/parameter_type.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace kiln;

TEST_CASE("parse_parameter_type reads what to_string writes") {
  for (const ElementTypeInfo& element : kElementTypes) {
    if (element.size != 0) {
      const auto value = parse_parameter_type(element.name);
      REQUIRE(value);
      CHECK(*value == ParameterType{element.type, false, false});
      CHECK(to_string(*value) == element.name);
      CHECK(size_of(*value) == element.size);
    }
    if (element.type == ElementType::kUnknown) continue;
    for (const std::string lead : {"", "const "}) {
      const std::string text = lead + std::string(element.name) + "*";
      const auto pointer = parse_parameter_type(text);
      REQUIRE(pointer);
      CHECK(*pointer == ParameterType{element.type, true, !lead.empty()});
      CHECK(to_string(*pointer) == text);
      CHECK(size_of(*pointer) == 8);
    }
  }
  CHECK(parse_parameter_type("ptr") == ParameterType{ElementType::kUnknown, true, false});
  CHECK(to_string(ParameterType{ElementType::kUnknown, true, false}) == "ptr");
}

TEST_CASE("parse_parameter_type refuses every other spelling") {
  for (const char* text : {"", "*", "const", "const ", "const *", "void", "const f32", "f32 *", "f32**",
                           "ptr*", "const ptr", "const  f32*", " f32", "f32 ", "F32", "size_t"}) {
    INFO('"' << text << '"');
    CHECK_FALSE(parse_parameter_type(text));
  }
}

TEST_CASE("cpp_spelling spells a type as a header does") {
  const auto spell = [](const char* text) { return cpp_spelling(*parse_parameter_type(text)); };
  CHECK(spell("u64") == "std::uint64_t");
  CHECK(spell("const f32*") == "const float*");
  CHECK(spell("bf16*") == "::kiln::bf16*");
  CHECK(spell("const void*") == "const void*");
  CHECK(spell("ptr").empty());
  CHECK(cpp_spelling({}).empty());
}
