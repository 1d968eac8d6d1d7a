#include "base/diagnostic.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "tests/support/memory_meter.hpp"

namespace {

using kiln::Color;
using kiln::Error;
using kiln::ErrorCode;
using kiln::Note;
using kiln::Result;

Error unknown_target() {
  Error error{ErrorCode::kInvalidInput, "unknown architecture 'sm_9O'", {"targets.json", 14, 22}, {}};
  error.notes.push_back({Note::Kind::kNote, "the list of targets opens here", {"targets.json", 12, 14}});
  error.hint("did you mean 'sm_90'?");
  return error;
}

TEST_CASE("render shows place, message, notes and hints, a line each") {
  CHECK(kiln::render(unknown_target()) ==
        "kiln: error: targets.json:14:22: unknown architecture 'sm_9O'\n"
        "note: targets.json:12:14: the list of targets opens here\n"
        "hint: did you mean 'sm_90'?\n");
}

TEST_CASE("render leaves out the place when none is known, and takes the program's name") {
  const Error error{ErrorCode::kUnavailable, "nvcc not found", {}, {}};
  CHECK(kiln::render(error, Color::kNo, "embed") == "embed: error: nvcc not found\n");
}

TEST_CASE("render paints labels and message, and nothing else, when colours are wanted") {
  CHECK(kiln::render(unknown_target(), Color::kYes) ==
        "kiln: \033[1;31merror:\033[0m \033[1mtargets.json:14:22: unknown architecture 'sm_9O'\033[0m\n"
        "\033[1;36mnote:\033[0m targets.json:12:14: the list of targets opens here\n"
        "\033[1;32mhint:\033[0m did you mean 'sm_90'?\n");
}

// Otherwise a source, an image or a manifest could write anything to the terminal.
TEST_CASE("render shows characters that a terminal would obey, and keeps lines and tabs") {
  Error error{ErrorCode::kBuildFailed,
              "bad \x1b]0;title\x07 and \xc2\x9b"
              "2J"};
  error.note("printed:\n\tone\r\x1b[2Jtwo \xc3\xa9");
  CHECK(render(error) ==
        "kiln: error: bad \\x1b]0;title\\x07 and \\xc2\\x9b"
        "2J\n"
        "note: printed:\n\tone\\x0d\\x1b[2Jtwo \xc3\xa9\n");
  CHECK(kiln::quote("a\n\tb") == "'a\\x0a\\x09b'");
}

TEST_CASE("to_string leaves out what a location does not know") {
  CHECK(kiln::to_string({"a.json", 3, 7}) == "a.json:3:7");
  CHECK(kiln::to_string({"a.json", 3, 0}) == "a.json:3");
  CHECK(kiln::to_string({"a.json", 0, 7}) == "a.json");
  CHECK(kiln::to_string({}).empty());
}

TEST_CASE("edit_distance counts insertions, deletions, replacements and swaps") {
  CHECK(kiln::edit_distance("hots", "host") == 1);
  CHECK(kiln::edit_distance("ab", "ba") == 1);
  CHECK(kiln::edit_distance("biuld", "build") == 1);
  CHECK(kiln::edit_distance("", "") == 0);
  CHECK(kiln::edit_distance("sm_90", "") == 5);
  CHECK(kiln::edit_distance("kitten", "sitting") == 3);
  CHECK(kiln::edit_distance("sm_9O", "sm_90") == 1);
}

TEST_CASE("nearest finds a likely slip and keeps silent about the rest") {
  const std::array<std::string, 4> known = {"gfx1030", "gfx1100", "sm_80", "sm_90"};
  CHECK(kiln::nearest("sm_9O", known) == "sm_90");
  CHECK(kiln::nearest("gfx110", known) == "gfx1100");
  CHECK(kiln::nearest("volta", known).empty());
  const std::array<std::string, 4> commands = {"plan", "c", "build", "run"};
  CHECK(kiln::nearest("clean", commands).empty());
  CHECK(kiln::nearest("x", commands).empty());
  CHECK(kiln::nearest("", commands).empty());
  CHECK(kiln::nearest("rnu", commands) == "run");
  CHECK(kiln::nearest("ru", commands) == "run");
  CHECK(kiln::nearest("biuld", commands) == "build");
  CHECK(kiln::nearest("sm_9O", std::array<std::string, 0>{}).empty());

  const std::vector<std::string> files = {"affine.cu", "fill.cu", "fill.cuh", "notes"};
  CHECK(kiln::nearest_file("afine.cu", files) == "affine.cu");
  CHECK(kiln::nearest_file("affine.cpp", files) == "affine.cu");
  CHECK(kiln::nearest_file("sort.cu", files).empty());
  CHECK(kiln::nearest_file("reduce.cu", files).empty());
}

// A word from a file may be megabytes long, and it is compared with each known name.
TEST_CASE("nearest takes no time for words that are much longer or shorter than what is known") {
  const std::string word(1 << 20, 'g');
  const double start = kiln::testing::processor_seconds();
  CHECK(kiln::nearest(word, std::vector<std::string_view>(300, "gfx90a:xnack+")).empty());
  CHECK(kiln::nearest("g", std::vector<std::string_view>(300, word)).empty());
  CHECK(kiln::testing::processor_seconds() - start < 1);
}

TEST_CASE("nearest names the first of two equally near candidates") {
  CHECK(kiln::nearest("sm_8", std::array<std::string, 2>{"sm_80", "sm_89"}) == "sm_80");
}

Result<int> parse(bool good) {
  if (good) return 7;
  return unknown_target();
}

Result<int> doubled(bool good) {
  KILN_TRY(parse(good));
  KILN_TRY_ASSIGN(const int value, parse(good));
  return 2 * value;
}

TEST_CASE("KILN_TRY passes values through and errors on unchanged") {
  REQUIRE(doubled(true));
  CHECK(*doubled(true) == 14);
  const Result<int> failed = doubled(false);
  REQUIRE_FALSE(failed);
  CHECK(kiln::render(failed.error()) == kiln::render(unknown_target()));
}

}  // namespace
