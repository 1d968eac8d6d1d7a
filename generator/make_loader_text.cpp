// A program of kiln's own build: make_loader_text OUTPUT SOURCE_FOLDER PUBLIC_HEADER... --
// SOURCE...
//
// Makes one text of the public headers and one of the loader's sources. Each file of kiln's that
// they include is inserted in place of its first #include (a .def file each time). Everything in
// namespace kiln is put into its inline namespace KILN_LOADER (amalgamation.cpp). Writes
// loader_text.cpp, which holds both texts. Files are named relative to the source folder.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace fs = std::filesystem;

namespace {

// Returns what follows `start`, if the line begins with it.
std::optional<std::string> after(std::string_view start, std::string_view line) {
  if (line.substr(0, start.size()) != start) return std::nullopt;
  return std::string(line.substr(start.size()));
}

// Puts KILN_LOADER between kiln and an inner namespace where a line opens or closes them:
// "namespace kiln::runtime {". C++17 has no shorter form for an inline namespace.
std::string in_loader_namespace(const std::string& line) {
  constexpr std::string_view kOpened = "namespace kiln { inline namespace KILN_LOADER {";
  if (line == "namespace kiln {") return std::string(kOpened);
  if (const auto inner = after("namespace kiln::", line)) {
    return std::string(kOpened) + " namespace " + *inner;
  }
  if (after("}  // namespace kiln::", line)) return "}}" + line;
  if (after("}  // namespace kiln", line)) return '}' + line;
  return line;
}

class Amalgamation {
 public:
  explicit Amalgamation(fs::path root) : root_(std::move(root)) {}

  // Returns the text of a file with its includes inserted, or nothing if it was inserted before.
  std::string expand(const fs::path& file) {
    const bool is_table = file.extension() == ".def";
    if (!is_table && !seen_.insert(file).second) return {};
    std::ifstream stream(root_ / file);
    if (!stream) fail("cannot read " + (root_ / file).string());
    std::string text = "\n// --- " + file.generic_string() + "\n";
    for (std::string line; std::getline(stream, line);) {
      if (line == "#pragma once") continue;
      const fs::path included = included_by(line, file);
      text += included.empty() ? in_loader_namespace(line) + "\n" : expand(included);
    }
    return text;
  }

  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "make_loader_text: %s\n", why.c_str());
    std::exit(1);
  }

 private:
  // Returns the included file of kiln's, or an empty path.
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

// Writes a function that returns the text. Compilers limit a literal's length, so the text is split
// into adjacent literals.
void write_function(std::ostream& out, std::string_view name, std::string_view text) {
  constexpr std::size_t kMaxLiteralSize = 8000;
  out << "std::string_view kiln::generator::" << name
      << "() {\n  static constexpr char kText[] =\n";
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kMaxLiteralSize) end = text.rfind('\n', kMaxLiteralSize) + 1;
    out << "R\"kiln_text(" << text.substr(0, end) << ")kiln_text\"\n";
    text.remove_prefix(end);
  }
  out << ";\n  return {kText, sizeof kText - 1};\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) Amalgamation::fail("usage: OUTPUT SOURCE_FOLDER PUBLIC_HEADER... -- SOURCE...");
  Amalgamation amalgamation(argv[2]);
  std::string headers, loader;
  bool is_loader = false;
  for (int i = 3; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") {
      is_loader = true;
    } else {
      (is_loader ? loader : headers) += amalgamation.expand(argv[i]);
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
