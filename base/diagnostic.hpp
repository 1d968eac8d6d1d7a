// How errors are shown, and how they are passed on.
//
// Owns the one rendering of kiln::Error as text. Does not decide where the text goes: only
// tools/main.cpp prints errors.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

enum class Color : bool { kNo, kYes };

// "kiln: error: targets.json:14:22: unknown architecture 'sm_9O'", then one line per note and hint,
// each ended by a newline; then the same for each of error.others. `program` is the word before the
// first colon.
std::string render(const Error& error, Color color = Color::kNo, std::string_view program = "kiln");

// One error that carries all of `errors`, at least one, in order: the first with the rest as `others`.
Error merge_errors(std::vector<Error> errors);

// "file:line:column", leaving out what is not known.
std::string to_string(const Location& where);

// The nearest of `candidates` to `word` by edit distance, or empty when none is near enough to be a
// likely slip: at most a third of the word's letters wrong, or one of a shorter word, and not all of them.
template <typename Range>
std::string nearest(std::string_view word, const Range& candidates);

// The nearest of the files `names` to `name`: the same without its ending, or one of its ending whose
// rest is near.
std::string nearest_file(std::string_view name, const std::vector<std::string>& names);

}  // namespace kiln

// Passes an error on. Use in a function that returns Result<...>:
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

// How many letters to insert, leave out or replace, or neighbours to swap, make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

template <typename Range>
std::string nearest(std::string_view word, const Range& candidates) {
  std::string best;
  if (word.empty()) return best;
  std::size_t best_distance = std::min(std::max(word.size() / 3, std::size_t{1}), word.size() - 1);
  for (const auto& candidate : candidates) {
    // The distance is at least what one is longer: most candidates need no closer look.
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
