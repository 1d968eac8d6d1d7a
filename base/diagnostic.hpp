// Shows errors and passes them on.
//
// This is the only code that renders kiln::Error as text. It does not decide where the text goes:
// only tools/main.cpp prints errors.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

enum class Color : bool { kNo, kYes };

// Returns "kiln: error: targets.json:14:22: unknown architecture 'sm_9O'", followed by a line for
// each note and hint, and then the same for each of error.others. Every line ends with a newline.
// `program` is the word before the first colon.
std::string render(const Error& error, Color color = Color::kNo, std::string_view program = "kiln");

// Combines `errors`, at least one, into one error: the first, with the rest as its `others`, in
// order.
Error merge_errors(std::vector<Error> errors);

// Returns "file:line:column", without the parts that are unknown.
std::string to_string(const Location& where);

// Returns the candidate nearest to `word` by edit distance, or an empty string if none is close
// enough to be a likely slip. At most a third of the word's letters may be wrong (one in a short
// word), and never all of them.
template <typename Range>
std::string nearest(std::string_view word, const Range& candidates);

// Returns the file name in `names` nearest to `name`: one that differs only in its extension, or
// one with the same extension and a similar stem.
std::string nearest_file(std::string_view name, const std::vector<std::string>& names);

}  // namespace kiln

// Pass an error on. For functions that return Result<...>:
//   KILN_TRY(write_file(path, text));            // Result<void>, or drop the value
//   KILN_TRY_ASSIGN(auto bytes, read_file(p));   // declare or assign from the value
#define KILN_CONCAT_INNER(a, b) a##b
#define KILN_CONCAT(a, b) KILN_CONCAT_INNER(a, b)
#define KILN_TRY(expression)                                                   \
  do {                                                                         \
    if (auto kiln_try_result = (expression); !kiln_try_result)                 \
      return std::move(kiln_try_result).error();                               \
  } while (false)
#define KILN_TRY_ASSIGN_INNER(temporary, target, expression) \
  auto temporary = (expression);                             \
  if (!temporary) return std::move(temporary).error();       \
  target = std::move(temporary).value()
#define KILN_TRY_ASSIGN(target, expression) \
  KILN_TRY_ASSIGN_INNER(KILN_CONCAT(kiln_try_, __LINE__), target, expression)

namespace kiln {

// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one
// word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

template <typename Range>
std::string nearest(std::string_view word, const Range& candidates) {
  std::string best;
  if (word.empty()) return best;
  std::size_t best_distance = std::min(std::max(word.size() / 3, std::size_t{1}), word.size() - 1);
  for (const auto& candidate : candidates) {
    // The distance is at least the difference in length, which rules out most candidates.
    const std::size_t length = std::string_view(candidate).size();
    const std::size_t longer = length > word.size() ? length - word.size() : word.size() - length;
    if (longer > best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= best_distance && (best.empty() || distance < best_distance)) {
      best = std::string(candidate);
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace kiln
