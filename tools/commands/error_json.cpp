#include "tools/commands/error_json.hpp"

#include <string>
#include <utility>

#include "base/diagnostic.hpp"

namespace kiln::tools {
namespace {

Json error_json(const Error& error) {
  Json::Array notes, hints;
  for (const Note& note : error.notes) {
    const std::string place = to_string(note.where);
    (note.kind == Note::Kind::kHint ? hints : notes)
        .push_back(place.empty() ? note.text : place + ": " + note.text);
  }
  Json::Object object{{"message", error.message}};
  const bool is_option = error.where.file.starts_with("--") && error.where.line == 0;
  if (is_option) {
    object.push_back({"option", error.where.file});
  } else if (!error.where.file.empty()) {
    object.push_back({"file", error.where.file});
    if (error.where.line != 0) object.push_back({"line", error.where.line});
    if (error.where.column != 0) object.push_back({"column", error.where.column});
  }
  object.push_back({"notes", std::move(notes)});
  object.push_back({"hints", std::move(hints)});
  return object;
}

}  // namespace

Json::Array errors_json(const Error& error) {
  Json::Array errors = {error_json(error)};
  for (const Error& other : error.others) errors.push_back(error_json(other));
  return errors;
}

}  // namespace kiln::tools
