#include "tools/json/json_fields.hpp"

namespace kiln::tools {

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  const std::string* text = value == nullptr ? nullptr : value->text();
  return text == nullptr ? std::string() : *text;
}

std::optional<std::int64_t> integer_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  const std::int64_t* number = value == nullptr ? nullptr : value->integer();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

bool boolean_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  const bool* boolean = value == nullptr ? nullptr : value->boolean();
  return boolean != nullptr && *boolean;
}

const Json::Array& array_of(const Json& object, std::string_view key) {
  static const Json::Array kEmpty;
  const Json* value = object.find(key);
  const Json::Array* array = value == nullptr ? nullptr : value->array();
  return array == nullptr ? kEmpty : *array;
}

const Json::Object& object_of(const Json& object, std::string_view key) {
  static const Json::Object kEmpty;
  const Json* value = object.find(key);
  const Json::Object* members = value == nullptr ? nullptr : value->object();
  return members == nullptr ? kEmpty : *members;
}

std::vector<std::string> texts_of(const Json::Array& list) {
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (item.text() != nullptr) texts.push_back(*item.text());
  }
  return texts;
}

Json::Array strings(const std::vector<std::string>& texts) {
  return Json::Array(texts.begin(), texts.end());
}

}  // namespace kiln::tools
