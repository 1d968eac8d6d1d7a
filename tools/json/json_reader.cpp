#include "tools/json/json_reader.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMaxTextSize = 4096;
// beyond it, only a count: the file is probably of another kind
constexpr std::size_t kMaxErrors = 50;

}  // namespace

Error& JsonReader::report(Location where, std::string message) {
  errors_.push_back(Error{ErrorCode::kInvalidInput, std::move(message), std::move(where)});
  return errors_.back();
}

Error& JsonReader::report(const Json& value, std::string message) {
  return report(where(value), std::move(message));
}

void JsonReader::report(const Json& value, Error error) {
  error.where = where(value);
  errors_.push_back(std::move(error));
}

void JsonReader::report(Error error) {
  std::vector<Error> others = std::exchange(error.others, {});
  errors_.push_back(std::move(error));
  for (Error& other : others) errors_.push_back(std::move(other));
}

void JsonReader::object(const Json& value, const std::string& label,
                        const std::vector<Field>& fields) {
  const Json::Object* members = value.object();
  if (members == nullptr) {
    report(value, label + " must be an object, not " + std::string(value.kind_name()));
    return;
  }
  std::vector<std::string> keys;
  for (const Field& field : fields) keys.emplace_back(field.key);
  std::vector<std::string> misspelt;  // keys that were probably meant by unknown ones
  distinct_members(*members, label, [&](const JsonMember& member) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& known) { return known.key == member.key; });
    if (field != fields.end()) {
      field->read(member.value);
      return;
    }
    Error& error = report(Location{file_, member.line, member.column},
                          "unknown key " + quote(member.key) + " in " + label);
    if (const std::string near = nearest(member.key, keys); !near.empty()) {
      error.hint("did you mean " + quote(near) + "?");
      misspelt.push_back(near);
    } else {
      error.note("the keys are " + join(keys, ", "));
    }
  });
  for (const Field& field : fields) {
    const bool is_misspelt =
        std::find(misspelt.begin(), misspelt.end(), field.key) != misspelt.end();
    if (field.need == Need::kRequired && value.find(field.key) == nullptr && !is_misspelt) {
      report(value, label + " has no " + quote(field.key));
    }
  }
}

void JsonReader::members(const Json& value, const std::string& label,
                         const std::function<void(const JsonMember&)>& read) {
  if (const Json::Object* members = value.object()) {
    distinct_members(*members, label, read);
  } else {
    report(value, label + " must be an object, not " + std::string(value.kind_name()));
  }
}

void JsonReader::distinct_members(const Json::Object& members, const std::string& label,
                                  const std::function<void(const JsonMember&)>& read) {
  std::map<std::string_view, const JsonMember*> first_members;
  for (const JsonMember& member : members) {
    const auto [first, is_new] = first_members.emplace(member.key, &member);
    if (is_new) {
      read(member);
      continue;
    }
    const JsonMember& earlier = *first->second;
    Error& error = report(Location{file_, member.line, member.column},
                          "duplicate key " + quote(member.key) + " in " + label);
    error.notes.push_back(
        {Note::Kind::kNote, "first given here", {file_, earlier.line, earlier.column}});
  }
}

void JsonReader::format(const Json& value, int current) {
  if (value.integer() == nullptr) {
    const bool is_number = value.kind_name() == "a number";
    report(value, "'format' must be a whole number, not " +
                      (is_number ? "one with a fraction or more than 18 digits"
                                 : std::string(value.kind_name())));
  } else if (*value.integer() != current) {
    report(value, "format " + std::to_string(*value.integer()) + " is not known to this kiln")
        .hint("this kiln reads format " + std::to_string(current));
  }
}

void JsonReader::list(const Json& value, const std::string& label, std::string_view elements,
                      Empty empty, const std::function<void(const Json&)>& read) {
  const Json::Array* items = value.array();
  if (items == nullptr) {
    Error& error = report(value, label + " must be a list of " + std::string(elements) + ", not " +
                                     std::string(value.kind_name()));
    if (value.text() != nullptr && elements == "strings") {
      error.hint("write it in brackets: [\"" + *value.text() + "\"]");
    }
    return;
  }
  if (items->empty() && empty == Empty::kRefused) {
    report(value, label + " is empty: it needs at least one entry");
  }
  for (const Json& item : *items) read(item);
}

bool JsonReader::is_listed_once(Listed& listed, const Json& item, const std::string& label,
                                const std::string& key, const std::string& text) {
  const auto [first, is_new] = listed.emplace(key, std::pair{text, where(item)});
  if (is_new) return true;
  const auto& [spelling, place] = first->second;
  Error& error = report(item, label + " " + quote(text) + " is listed twice");
  error.notes.push_back(
      {Note::Kind::kNote,
       spelling == text ? "first listed here" : "first listed here as " + quote(spelling), place});
  return false;
}

const std::string* JsonReader::text(const Json& value, const std::string& label) {
  const std::string* text = value.text();
  if (text == nullptr) {
    report(value, label + " must be a string, not " + std::string(value.kind_name()));
    return nullptr;
  }
  if (text->size() > kMaxTextSize) {
    report(value, label + " is " + std::to_string(text->size()) + " bytes long, at most " +
                      std::to_string(kMaxTextSize) + " are allowed");
    return nullptr;
  }
  if (text->find('\0') != std::string::npos) {
    report(value, label + " holds a NUL character");
    return nullptr;
  }
  return text;
}

const bool* JsonReader::boolean(const Json& value, const std::string& label) {
  if (value.boolean() == nullptr) {
    report(value, label + " must be true or false, not " + std::string(value.kind_name()));
  }
  return value.boolean();
}

void JsonReader::report_choice(const Json& value, const std::string& label,
                               const std::string& chosen, const std::vector<std::string>& names) {
  Error& error = report(value, label + " cannot be " + quote(chosen));
  if (const std::string near = nearest(chosen, names); !near.empty()) {
    error.hint("did you mean " + quote(near) + "?");
  } else {
    error.hint("it is one of " + join(names, ", "));
  }
}

Result<void> JsonReader::finish() {
  if (errors_.empty()) return {};
  const auto position = [this](const Error& error) {
    return std::tuple(error.where.file != file_, error.where.line, error.where.column);
  };
  std::stable_sort(errors_.begin(), errors_.end(),
                   [&](const Error& a, const Error& b) { return position(a) < position(b); });
  if (errors_.size() > kMaxErrors) {
    const std::size_t rest = errors_.size() - kMaxErrors;
    errors_.resize(kMaxErrors);
    errors_.back().note("and " + std::to_string(rest) + " more errors");
  }
  return merge_errors(std::move(errors_));
}

}  // namespace kiln::tools
