// A program of kiln's own build: make_loader_text OUTPUT SOURCE_FOLDER PUBLIC_HEADER... --
// SOURCE...
//
// Puts the public headers, and the loader's sources, into one text each, with every file of kiln's
// that they include in its place, once (a .def file each time), and writes loader_text.cpp, which
// holds the two. Files are named relative to the source folder.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace fs = std::filesystem;

namespace {

class Amalgamation {
 public:
  explicit Amalgamation(fs::path root) : root_(std::move(root)) {}

  // The text of the file, with what it includes; nothing when it was there before.
  std::string take(const fs::path& file) {
    const bool is_table = file.extension() == ".def";
    if (!is_table && !seen_.insert(file).second) return {};
    std::ifstream stream(root_ / file);
    if (!stream) fail("cannot read " + (root_ / file).string());
    std::string text = "\n// --- " + file.generic_string() + "\n";
    for (std::string line; std::getline(stream, line);) {
      if (line == "#pragma once") continue;
      const fs::path included = included_by(line, file);
      text += included.empty() ? line + "\n" : take(included);
    }
    return text;
  }

  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "make_loader_text: %s\n", why.c_str());
    std::exit(1);
  }

 private:
  // Empty where the line includes no file of kiln's.
  fs::path included_by(std::string_view line, const fs::path& file) const {
    constexpr std::string_view kDirective = "#include ";
    if (line.substr(0, kDirective.size()) != kDirective) return {};
    line.remove_prefix(kDirective.size());
    const bool is_quoted = line.front() == '"';
    const std::string name(line.substr(1, line.find(is_quoted ? '"' : '>', 1) - 1));
    for (const fs::path& folder : {file.parent_path(), fs::path(), fs::path("runtime/include")}) {
      if (!is_quoted && folder != "runtime/include") continue;
      const fs::path candidate = (folder / name).lexically_normal();
      if (fs::exists(root_ / candidate)) return candidate;
    }
    if (is_quoted) fail(file.string() + " includes " + name + ", which is not there");
    return {};
  }

  fs::path root_;
  std::set<fs::path> seen_;
};

// As a function that returns the text. Compilers limit a literal's length; adjacent ones are one.
void write_function(std::ostream& out, std::string_view name, std::string_view text) {
  constexpr std::size_t kPiece = 8000;
  out << "std::string_view kiln::generator::" << name
      << "() {\n  static constexpr char kText[] =\n";
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kPiece) end = text.rfind('\n', kPiece) + 1;
    out << "R\"kiln_text(" << text.substr(0, end) << ")kiln_text\"\n";
    text.remove_prefix(end);
  }
  out << ";\n  return {kText, sizeof kText - 1};\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) Amalgamation::fail("usage: OUTPUT SOURCE_FOLDER PUBLIC_HEADER... -- SOURCE...");
  Amalgamation all(argv[2]);
  std::string headers, loader;
  bool is_loader = false;
  for (int i = 3; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") {
      is_loader = true;
    } else {
      (is_loader ? loader : headers) += all.take(argv[i]);
    }
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << "// Made by make_loader_text.\n#include \"generator/amalgamation.hpp\"\n\n"
         "#if defined(__clang__)\n#pragma clang diagnostic ignored "
         "\"-Woverlength-strings\"\n#endif\n";
  write_function(out, "public_headers_text", headers);
  write_function(out, "loader_text", loader);
  out.close();
  return out ? 0 : 1;
}
