// Golden files: the expected output of a function, kept under tests/golden and reviewed.
//
// KILN_UPDATE_GOLDEN=1 in the environment rewrites them; read the diff before committing it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#ifndef KILN_GOLDEN_DIR
#error "define KILN_GOLDEN_DIR: target_compile_definitions(... KILN_GOLDEN_DIR=\"${PROJECT_SOURCE_DIR}/tests/golden\")"
#endif

namespace kiln::testing {

// Fails the running test, and shows where the texts differ, unless `text` equals the content of
// tests/golden/`name`.
inline void check_golden(const std::string& name, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(KILN_GOLDEN_DIR) / name;
  if (const char* update = std::getenv("KILN_UPDATE_GOLDEN");
      update != nullptr && std::string_view(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ostringstream file;
  file << std::ifstream(path, std::ios::binary).rdbuf();
  const std::string expected = file.str();
  if (expected == text) {
    SUCCEED();
    return;
  }
  std::size_t line = 1, start = 0;
  for (std::size_t i = 0; i < expected.size() && i < text.size() && expected[i] == text[i]; ++i) {
    if (text[i] == '\n') ++line, start = i + 1;
  }
  const auto line_at = [start](std::string_view whole) {
    return std::string(whole.substr(start, whole.find('\n', start) - start));
  };
  INFO("golden file " << name << " differs in line " << line);
  INFO("to accept the new text: KILN_UPDATE_GOLDEN=1 ctest ..., then read the diff");
  REQUIRE(line_at(text) == line_at(expected));
  FAIL("the texts differ in length");
}

}  // namespace kiln::testing
