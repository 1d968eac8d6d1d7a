#include "tools/json/json.hpp"

namespace kiln::tools {

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const JsonMember& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view Json::kind_name() const {
  static constexpr std::string_view kNames[] = {"null",     "true or false", "a number", "a number",
                                                "a string", "a list",        "an object"};
  return kNames[value.index()];
}

}  // namespace kiln::tools
