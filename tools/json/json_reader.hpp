// Reads the values of a format from JSON and collects everything that is wrong with them.
//
// A JsonReader reads one document. Each function reports errors with line and column and continues,
// so that one run shows every mistake. finish() tells whether there was any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "kiln/result.hpp"
#include "tools/json/json.hpp"

namespace kiln::tools {

class JsonReader {
 public:
  enum class Need : bool { kOptional, kRequired };
  enum class Empty : bool { kAllowed, kRefused };

  // A key of an object, and the function that reads its value.
  struct Field {
    std::string_view key;
    Need need = Need::kOptional;
    std::function<void(const Json&)> read;
  };

  explicit JsonReader(std::string file) : file_(std::move(file)) {}

  Location where(const Json& value) const { return {file_, value.line, value.column}; }
  Location where(const JsonMember& member) const { return {file_, member.line, member.column}; }

  // Adds an error (kInvalidInput) at this place. Add notes and hints to the returned error at once.
  Error& report(Location where, std::string message);
  Error& report(const Json& value, std::string message);
  // Adds an error that was made elsewhere, at the place of `value`.
  void report(const Json& value, Error error);

  // Adds the errors of another document that this one names. They follow this document's own
  // errors.
  void report(Error error);

  // Reads an object with known keys. `label` names it in messages ("module 'affine'"). Reports
  // unknown, missing and duplicate keys. Of duplicate keys, only the first value is read.
  void object(const Json& value, const std::string& label, const std::vector<Field>& fields);
  // Reads an object whose keys are names chosen by the user. Reports duplicates.
  void members(const Json& value, const std::string& label,
               const std::function<void(const JsonMember&)>& read);
  // Reads the "format" of a document, an integer that must equal `current`.
  void format(const Json& value, int current);
  // Reads each value of a list; `label` names the list ("'targets'"), `elements` its values
  // ("strings").
  void list(const Json& value, const std::string& label, std::string_view elements, Empty empty,
            const std::function<void(const Json&)>& read);
  // The entries of a list so far: the first spelling of each, and its place.
  using Listed = std::map<std::string, std::pair<std::string, Location>>;
  // Returns true if the entry is new to `listed`, and reports it otherwise: "source 'a.cu' is
  // listed twice". Entries with the same meaning have the same `key`; `text` is what the user
  // wrote.
  bool is_listed_once(Listed& listed, const Json& item, const std::string& label,
                      const std::string& key, const std::string& text);
  // Returns null and reports the value if it is not a string, is longer than 4096 bytes or holds a
  // NUL.
  const std::string* text(const Json& value, const std::string& label);
  // Returns null and reports the value if it is neither true nor false.
  const bool* boolean(const Json& value, const std::string& label);
  // Returns the meaning of the value in `words` (base/words.hpp), or reports it and returns
  // nothing.
  template <typename List>
  std::optional<typename List::value_type::second_type> choice(const Json& value,
                                                               const std::string& label,
                                                               const List& words) {
    const std::string* word = text(value, label);
    if (word == nullptr) return std::nullopt;
    const auto chosen = value_of(words, *word);
    if (!chosen) report_choice(value, label, *word, all_words(words));
    return chosen;
  }

  // Returns success, or all reported errors in the order of the text.
  Result<void> finish();

 private:
  void report_choice(const Json& value, const std::string& label, const std::string& chosen,
                     const std::vector<std::string>& names);
  // Calls `read` for each member with a new key, and reports the others.
  void distinct_members(const Json::Object& members, const std::string& label,
                        const std::function<void(const JsonMember&)>& read);

  std::string file_;
  std::vector<Error> errors_;
};

}  // namespace kiln::tools
