// Result<T>: a value, or an Error that says what went wrong, where, and what to do next.
//
// The tools, the generator and the runtime share this header. It is C++17, header-only, and
// needs only the standard library. Result<T> has the interface of C++23's std::expected<T, Error>,
// which g++ 12 in C++20 mode and clang 14 do not offer.
//
// Thread-safety: a Result and an Error are plain values; share them like a std::string.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "is_result.hpp"

namespace kiln {

// Why an operation failed. The command-line tool maps each code to an exit status (tools/main.cpp).
// A program that embeds the runtime can branch on it.
enum class ErrorCode : std::uint8_t {
  kInvalidInput,  // the caller's mistake: a manifest, an argument, a malformed file (exit 2)
  kBuildFailed,   // a step of a build, or a check of its outputs, failed            (exit 1)
  kUnavailable,   // this machine lacks a tool, driver or device: often normal       (exit 3)
  kEnvironment,   // the system refused: permissions, disk, starting a process       (exit 3)
  kNotFound,      // no module, kernel or symbol of that name
  kNoImage,       // the device exists, but no embedded image fits it
  kDriver,        // a driver call or a running kernel failed; the message holds the driver's text
  kInterrupted,   // Ctrl-C or a signal                                       (exit 128+n)
  kInternal,      // a bug in kiln                                                  (exit 70)
};

// A place in a text file. Lines and columns count from 1; 0 means unknown.
struct Location {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A line that accompanies an error. A note explains; a hint says what to do next.
struct Note {
  enum class Kind : std::uint8_t { kNote, kHint };
  Kind kind = Kind::kNote;
  std::string text;
  Location where;
};

// One error: what is wrong, where, and the notes that callers added.
// Messages start in lower case, have no full stop at the end, and quote values with '...'.
// A stage that finds several errors at once returns the first, with the rest in `others`
// (merge_errors in base/diagnostic.hpp), so that the user sees all of them in one run.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  Location where = {};
  std::vector<Note> notes = {};
  std::vector<Error> others = {};  // found in the same pass; their own `others` are empty

  // Adds a note after the existing notes and before the hints at the end.
  Error& note(std::string text) & {
    auto place = notes.end();
    while (place != notes.begin() && (place - 1)->kind == Note::Kind::kHint) --place;
    notes.insert(place, {Note::Kind::kNote, std::move(text), {}});
    return *this;
  }
  Error&& note(std::string text) && { return std::move(note(std::move(text))); }
  Error& hint(std::string text) & {
    notes.push_back({Note::Kind::kHint, std::move(text), {}});
    return *this;
  }
  Error&& hint(std::string text) && { return std::move(hint(std::move(text))); }

  // Returns the whole error as text for a person: the place, if there is one, and the message; a
  // line for each note and hint; then the same for each of `others`. The last line has no newline.
  //
  //   if (!result) return std::fprintf(stderr, "%s\n", result.error().text().c_str()), 1;
  std::string text() const;
};

namespace detail {

// Returns "<label><file>:<line>:<column>: <text>", without the parts that are unknown.
inline std::string error_line(const char* label, const Location& where, const std::string& text) {
  // By append(): of "x" + a string, g++ 12 makes a false -Wrestrict in programs at -O3.
  std::string line = label;
  line.append(where.file);
  if (where.line != 0) line.append(":").append(std::to_string(where.line));
  if (where.line != 0 && where.column != 0) line.append(":").append(std::to_string(where.column));
  if (!where.file.empty() || where.line != 0) line.append(": ");
  return line.append(text);
}

// Returns the text of an error, with `label` before its message and before those of its `others`.
inline std::string error_text(const char* label, const Error& error) {
  std::string text = error_line(label, error.where, error.message);
  for (const Note& note : error.notes) {
    text += '\n' + error_line(note.kind == Note::Kind::kHint ? "hint: " : "note: ", note.where,
                              note.text);
  }
  for (const Error& other : error.others) text += '\n' + error_text(label, other);
  return text;
}

// Prints the error as kiln::render does, says which check the program lacks, and ends the program.
[[noreturn]] inline void end_unchecked(const Error& error) {
  std::fprintf(stderr, "%s\n", error_text("kiln: error: ", error).c_str());
  std::fputs(
      "note: the program took the value of this failed kiln::Result without a check\n"
      "hint: check it first: 'if (!result) { report(result.error()); }'\n",
      stderr);
  std::abort();
}

[[noreturn]] inline void end_without_error() {
  std::fputs(
      "kiln: error: the program took the error of a kiln::Result that holds none\n"
      "hint: check it first: 'if (!result) { report(result.error()); }'\n",
      stderr);
  std::abort();
}

}  // namespace detail

inline std::string Error::text() const { return detail::error_text("", *this); }

// A T or an Error. Reading the side that is absent is a bug: it ends the program, with the whole
// error on stderr if there is one. Check first: `if (!result) return result.error();`.
template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T>, "Result<T&> is not supported: hold a pointer");
  static_assert(!std::is_same_v<std::decay_t<T>, Error>, "Result<Error> is ambiguous");

 private:
  using State = std::variant<T, Error>;
  // True if a U makes a T. Another Result does not: its error would be lost.
  template <typename U>
  static constexpr bool kMakes =
      std::is_constructible_v<T, U> && !detail::is_result<std::decay_t<U>> &&
      !std::is_same_v<std::decay_t<U>, Error>;

 public:
  using value_type = T;
  using error_type = Error;

  // Holds the T that `value` makes; implicitly only if `value` converts to a T implicitly.
  template <typename U = T, std::enable_if_t<kMakes<U> && std::is_convertible_v<U, T>, int> = 0>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  template <typename U = T, std::enable_if_t<kMakes<U> && !std::is_convertible_v<U, T>, int> = 0>
  explicit Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // Converts a Result<U> if U converts to T: a Result<TypedBuffer<float>> to a Result<Buffer>, for
  // example.
  template <typename U, typename = std::enable_if_t<!std::is_same_v<U, T> &&
                                                    std::is_convertible_v<U&&, T>>>
  Result(Result<U>&& other)
      : state_(other.has_value() ? State(std::in_place_index<0>, std::move(other).value())
                                 : State(std::in_place_index<1>, std::move(other).error())) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return require_value(), *std::get_if<0>(&state_); }
  const T& value() const& { return require_value(), *std::get_if<0>(&state_); }
  // Returns a value, not a reference, so that `for (float x : *device->download(buffer))` is safe.
  T value() && { return require_value(), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return require_error(), *std::get_if<1>(&state_); }
  const Error& error() const& { return require_error(), *std::get_if<1>(&state_); }
  Error&& error() && { return require_error(), std::move(*std::get_if<1>(&state_)); }

  template <typename U>
  T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  void require_value() const {
    if (!has_value()) detail::end_unchecked(*std::get_if<1>(&state_));
  }
  void require_error() const {
    if (has_value()) detail::end_without_error();
  }

  State state_;
};

// Success without a value, or an Error. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error error) : error_(std::make_unique<Error>(std::move(error))) {}

  bool has_value() const noexcept { return error_ == nullptr; }
  explicit operator bool() const noexcept { return has_value(); }

  Error& error() & { return require_error(), *error_; }
  const Error& error() const& { return require_error(), *error_; }
  Error&& error() && { return require_error(), std::move(*error_); }

 private:
  void require_error() const {
    if (error_ == nullptr) detail::end_without_error();
  }

  std::unique_ptr<Error> error_;
};

}  // namespace kiln
