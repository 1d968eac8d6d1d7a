#include <catch2/catch_test_macros.hpp>

#include "tools/system/sealed_text.hpp"

using namespace kiln::tools;

TEST_CASE("sealed text gives its lines back") {
  const std::string file = seal("kiln-test", 3, "one\ntwo\n");
  REQUIRE(unseal("kiln-test", 3, file));
  CHECK(*unseal("kiln-test", 3, file) == "one\ntwo\n");
  CHECK(*unseal("kiln-test", 3, seal("kiln-test", 3, "")) == "");
}

TEST_CASE("sealed text of another format or version is not there") {
  const std::string file = seal("kiln-test", 3, "one\n");
  CHECK_FALSE(unseal("kiln-test", 4, file));
  CHECK_FALSE(unseal("kiln-other", 3, file));
  CHECK_FALSE(unseal("kiln-test", 3, ""));
}

TEST_CASE("sealed text is not there when cut at any byte, or with any byte changed") {
  const std::string file = seal("kiln-test", 1, "some line\nanother\n");
  for (std::size_t size = 0; size < file.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(unseal("kiln-test", 1, std::string_view(file).substr(0, size)));
  }
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CAPTURE(i);
    CHECK_FALSE(unseal("kiln-test", 1, changed));
  }
}

TEST_CASE("escape_line makes any text one line, and unescape_line undoes it") {
  for (const std::string text : {"", "plain", "a\nb", "\\", "\\n", "a\\\nb\n\n", "tail\\"}) {
    CAPTURE(text);
    CHECK(escape_line(text).find('\n') == std::string::npos);
    CHECK(unescape_line(escape_line(text)) == text);
  }
}
