// Reads the values of a format out of JSON, and collects everything that is wrong with them.
//
// A JsonReader goes through one document. Each function reports what it dislikes, with line and
// column, and goes on, so that one run shows every mistake; finish() tells whether there was any.
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

  // One key of an object and what reads its value.
  struct Field {
    std::string_view key;
    Need need = Need::kOptional;
    std::function<void(const Json&)> read;
  };

  explicit JsonReader(std::string file) : file_(std::move(file)) {}

  Location where(const Json& value) const { return {file_, value.line, value.column}; }
  Location where(const JsonMember& member) const { return {file_, member.line, member.column}; }

  // Adds an error (kInvalidInput) at that place; add notes and hints to what it returns at once.
  Error& report(Location where, std::string message);
  Error& report(const Json& value, std::string message);
  // An error made elsewhere, at the place of `value`.
  void report(const Json& value, Error error);

  // Errors of another document that this one names; they come after its own.
  void report(Error error);

  // Reads an object of known keys; `what` names it in messages ("module 'affine'"). Unknown, missing
  // and duplicate keys are reported. Each key's value is read once, the first one given.
  void object(const Json& value, const std::string& what, const std::vector<Field>& fields);
  // Reads an object whose keys are names of the user's own; duplicates are reported.
  void members(const Json& value, const std::string& what,
               const std::function<void(const JsonMember&)>& read);
  // The "format" of a document: a whole number that must be `current`.
  void format(const Json& value, int current);
  // Reads each value of a list; `what` names the list ("'targets'"), `of` its values ("strings").
  void list(const Json& value, const std::string& what, std::string_view of, Empty empty,
            const std::function<void(const Json&)>& read);
  // The entries of a list so far: how each was first written, and where.
  using Listed = std::map<std::string, std::pair<std::string, Location>>;
  // Whether the entry is new to `listed`; else it is reported: "source 'a.cu' is listed twice".
  // `key` is the same for entries that mean the same, `text` is what the user wrote.
  bool is_listed_once(Listed& listed, const Json& item, const std::string& what,
                      const std::string& key, const std::string& text);
  // Null, with a report, when the value is not a string, is longer than 4096 bytes or holds a NUL.
  const std::string* text(const Json& value, const std::string& what);
  // Null, with a report, when the value is neither true nor false.
  const bool* boolean(const Json& value, const std::string& what);
  // What the value means by `words` (base/words.hpp), or nothing with a report.
  template <typename List>
  std::optional<typename List::value_type::second_type> choice(const Json& value, const std::string& what,
                                                               const List& words) {
    const std::string* word = text(value, what);
    if (word == nullptr) return std::nullopt;
    const auto chosen = value_of(words, *word);
    if (!chosen) report_choice(value, what, *word, all_words(words));
    return chosen;
  }

  // Success, or all that was reported, in the order of the text.
  Result<void> finish();

 private:
  void report_choice(const Json& value, const std::string& what, const std::string& chosen,
                     const std::vector<std::string>& names);
  // Each member of an object whose key was not given before; the others are reported.
  void distinct_members(const Json::Object& members, const std::string& what,
                        const std::function<void(const JsonMember&)>& read);

  std::string file_;
  std::vector<Error> errors_;
};

}  // namespace kiln::tools
