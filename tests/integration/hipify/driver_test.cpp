// The driver of hipify-perl writes the same bytes, prints the same messages and ends in the same
// way as hipify-perl itself, for kiln's kernels, the headers of the CUDA toolkit, and a text with
// every word that hipify-perl knows. hipify-perl takes some 15 ms of CPU a line for its warnings.
// So its messages are compared for whole headers only if KILN_TEST_SLOW is 1, and otherwise for a
// sample of their lines.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>

#include "base/text.hpp"
#include "tests/integration/build/project.hpp"
#include "tools/hipify/hipify_driver.hpp"

using namespace kiln;
using namespace kiln::testing;
using tools::ToolKind;
using namespace std::string_literals;

namespace {

constexpr std::size_t kSampledLines = 30;  // lines of a file
// Smaller files are joined up to this size, because most of the time of a run is Perl reading
// hipify-perl.
constexpr std::size_t kBytesOfARun = 16384;

struct Conversion {
  int exit_code = 0;
  std::string bytes;
  std::string messages;
  bool operator==(const Conversion&) const = default;
};

class Converters {
 public:
  Converters() : files_(tools::real_files()), processes_(tools::real_processes()) {
    write("hipify_driver.pl", std::string(tools::hipify_driver_text()));
  }

  static const tools::Tool& hipify() { return real_toolchain().tool(ToolKind::kHipify); }

  fs::path write(const std::string& name, const std::string& text) const {
    REQUIRE(files_->write(scratch_.path() / name, text));
    return scratch_.path() / name;
  }
  std::string read(const fs::path& path) const { return files_->read(path).value_or(""); }

  Conversion plain(const fs::path& input, std::vector<std::string> options = {}) const {
    return plain_with(hipify().path, input, std::move(options));
  }
  Conversion plain_with(const fs::path& script, const fs::path& input,
                        std::vector<std::string> options = {}) const {
    options.insert(options.begin(), script.string());
    return convert(std::move(options), input);
  }
  Conversion driven(const fs::path& input, const std::string& driver = "hipify_driver.pl") const {
    return driven_with(hipify().path, input, driver);
  }
  Conversion driven_with(const fs::path& script, const fs::path& input,
                         const std::string& driver = "hipify_driver.pl") const {
    return convert(
        {hipify().driver_perl.string(), (scratch_.path() / driver).string(), script.string()},
        input);
  }

 private:
  Conversion convert(std::vector<std::string> argv, const fs::path& input) const {
    const fs::path output = scratch_.path() / "converted";
    (void)files_->remove_all(output);
    argv.push_back("-o=" + output.string());
    argv.push_back(input.string());
    const auto outcome = processes_->run({.argv = std::move(argv),
                                          .environment = {{"PERL_HASH_SEED", "0"}},
                                          .unset = {"PERL_PERTURB_KEYS"},
                                          .working_directory = scratch_.path()});
    REQUIRE(outcome);
    return {outcome->exit_code, read(output), outcome->output + outcome->diagnostics};
  }

  ScratchFolder scratch_;
  std::unique_ptr<tools::Files> files_;
  std::unique_ptr<tools::Processes> processes_;
};

bool is_slow_asked_for() {
  const char* asked = std::getenv("KILN_TEST_SLOW");
  return asked != nullptr && std::string_view(asked) == "1";
}

std::vector<fs::path> our_sources() {
  std::vector<fs::path> sources;
  for (const char* folder : {"kernels", "examples"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(KILN_SOURCE_FOLDER) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension == ".cu" || extension == ".cuh" || extension == ".hpp") {
        sources.push_back(entry.path());
      }
    }
  }
  std::sort(sources.begin(), sources.end());
  REQUIRE(sources.size() > 20);
  return sources;
}

std::vector<fs::path> toolkit_headers() {
  std::vector<fs::path> headers;
  if (real_toolchain().cuda_path.empty()) return headers;
  const fs::path folder = real_toolchain().cuda_path / "include";
  for (const char* name : {"cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp",
                           "cuda_runtime_api.h", "mma.h", "crt/mma.h", "crt/mma.hpp"}) {
    if (fs::exists(folder / name)) headers.push_back(folder / name);
  }
  return headers;
}

// Returns the words in the tables of hipify-perl: those that it replaces, and those that it warns
// about.
std::vector<std::string> words_of(const std::string& script) {
  std::vector<std::string> words;
  std::set<std::string> known;
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/';
  };
  for (const std::string_view line : split(script, '\n')) {
    const std::vector<std::string_view> parts = split(line, '"');
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      std::string word(parts[i]);
      word.erase(std::remove(word.begin(), word.end(), '\\'), word.end());
      const bool is_word = !word.empty() && std::all_of(word.begin(), word.end(), is_of_word);
      if (is_word && known.insert(word).second) words.push_back(std::move(word));
    }
  }
  return words;
}

// Returns a text with every word at least twice: alone, inside of another word, called, after a
// namespace and in an #include; first in the order of the tables, then in another.
std::string text_of_all_words(const Converters& converters) {
  std::vector<std::string> words = words_of(converters.read(Converters::hipify().path));
  REQUIRE(words.size() > 5000);
  std::string text = "__global__ void kernel();\n";
  std::size_t count = 0;
  for (const std::string& word : words) {
    const std::array<std::string, 6> spelt = {
        "\n#include \"" + word + "\"\n", word + "(a, b); ", "space::" + word + "(c) ",
        "under_" + word + word + " ",    word + " ",        "::" + word + "(d) "};
    const bool is_path = word.find('.') != word.npos || count % 199 == 0;
    text += is_path ? spelt[0] : spelt[1 + count % 5];
    if (++count % 61 == 0) text += '\n';
  }
  std::shuffle(words.begin(), words.end(), std::minstd_rand(1));
  for (const std::string& word : words) {
    text += word + "(";
    if (++count % 97 == 0) text += "e) )\n";
  }
  return text + "\n";
}

// Returns some of the lines that contain "cu" or a call, spread over the file.
std::string sample(const std::string& text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (line.find("cu") != line.npos || line.find("CU") != line.npos ||
        line.find('(') != line.npos) {
      lines.push_back(line);
    }
  }
  std::string sampled;
  const std::size_t stride = lines.size() / kSampledLines + 1;
  for (std::size_t i = 0; i < lines.size(); i += stride) sampled += std::string(lines[i]) + '\n';
  return sampled;
}

// Compares each file alone, including the messages of hipify-perl; takes minutes.
void check_each(const Converters& converters, const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    CAPTURE(path);
    const bool is_same = converters.driven(path) == converters.plain(path);
    CHECK(is_same);
  }
}

void check_same(const Converters& converters, const std::vector<fs::path>& paths) {
  if (is_slow_asked_for()) return check_each(converters, paths);
  std::string joined, sampled;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string text = converters.read(paths[i]);
    joined += text;
    sampled += sample(text);
    if (joined.size() < kBytesOfARun && i + 1 < paths.size()) continue;
    CAPTURE(paths[i]);
    const fs::path input = converters.write("joined.cu", joined);
    joined.clear();
    const Conversion driven = converters.driven(input);
    const Conversion plain = converters.plain(input, {"-quiet-warnings"});
    CHECK(driven.exit_code == plain.exit_code);
    const bool is_same_output = driven.bytes == plain.bytes;
    CHECK(is_same_output);
  }
  // With many small files, the sample would be all of them.
  if (paths.size() > 10) sampled = sample(sampled);
  const fs::path input = converters.write("sampled.cu", sampled);
  const bool is_same_sample = converters.driven(input) == converters.plain(input);
  CHECK(is_same_sample);
}

}  // namespace

#define KILN_NEEDS_DRIVEN_HIPIFY()                                               \
  if (!Converters::hipify().found()) SKIP("needs hipify-perl: see kiln doctor"); \
  if (Converters::hipify().driver_perl.empty())                                  \
  SKIP("the driver is not verified with hipify-perl " + Converters::hipify().version)

TEST_CASE("the driver converts our sources as hipify-perl does") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  check_same(Converters(), our_sources());
}

TEST_CASE("the driver converts the CUDA toolkit's headers as hipify-perl does") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  if (toolkit_headers().empty()) SKIP("needs the CUDA toolkit's headers");
  check_same(Converters(), toolkit_headers());
}

TEST_CASE(
    "the driver replaces and reports every word that hipify-perl does, and a changed one does "
    "not") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  const Converters converters;
  const fs::path input = converters.write("all.cu", text_of_all_words(converters));
  const Conversion expected = converters.plain(input);
  const Conversion driven = converters.driven(input);
  const bool is_same_output = driven.bytes == expected.bytes;
  const bool is_same_messages = driven.messages == expected.messages;
  CHECK(is_same_output);
  CHECK(is_same_messages);
  CHECK(driven.exit_code == expected.exit_code);
  CHECK(split(driven.messages, '\n').size() > 3000);

  struct Defect {
    const char* what;
    std::string right, wrong;
  };
  const Defect defects[] = {
      {"a rule is left out", "my ($from, $to, $kind, $start) = @$rule;",
       "my ($from, $to, $kind, $start) = @$rule; next if $from eq \"cudaMalloc\";"},
      {"a path is looked for as a word", "defined $start ? index($_, $start) >= 0 : ", ""},
      {"a word that does not occur leaves the position of the match", "next if $is_in_gap;",
       "next;"},
      {"a list lacks a word", "[$body =~ /\"(\\w+)\"/g]",
       "[grep { $_ ne \"umul24\" } $body =~ /\"(\\w+)\"/g]"},
      {"lines with cuda words are taken for lines without", "next unless /\\bcuda[A-Z]\\w/;",
       "next unless /\\bcudaM\\w/;"},
  };
  for (const Defect& defect : defects) {
    CAPTURE(defect.what);
    std::string text(tools::hipify_driver_text());
    const std::size_t at = text.find(defect.right);
    REQUIRE(at != text.npos);
    converters.write("defective.pl", text.replace(at, defect.right.size(), defect.wrong));
    const bool is_found = converters.driven(input, "defective.pl") != expected;
    CHECK(is_found);
  }
}

TEST_CASE("the driver applies a rule to a word that an earlier rule brings") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  const Converters converters;
  std::string text = converters.read(Converters::hipify().path);
  const std::string_view rule = "subst(\"cudaMalloc\", \"hipMalloc\",";
  const std::size_t at = text.find(rule);
  REQUIRE(at != text.npos);
  text.replace(at, rule.size(), "subst(\"cudaMalloc\", \"cudaStreamPerThread\",");
  const fs::path script = converters.write("hipify-perl", text);
  fs::permissions(script, fs::perms::owner_all);
  const fs::path input = converters.write("input.cu", "cudaMalloc(p, 4);\n");
  const Conversion driven = converters.driven_with(script, input);
  CHECK(driven.bytes == "hipStreamPerThread(p, 4);\n");
  CHECK(driven == converters.plain_with(script, input));
}

TEST_CASE("the driver ends as hipify-perl does where a file cannot be opened or is odd") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  const Converters converters;
  const Conversion missing = converters.driven("missing.cu");
  CHECK(missing.exit_code != 0);
  CHECK(missing == converters.plain("missing.cu"));
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("__global__ void f();\r\n\r\n"),
        std::string("cudaMalloc"), "\xff\xfe cuda\xc3\xa9Malloc \0 cudaMalloc"s}) {
    const fs::path input = converters.write("odd.cu", text);
    CHECK(converters.driven(input) == converters.plain(input));
  }
}

TEST_CASE("the driver runs a script that it cannot edit as it is") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  const Converters converters;
  const fs::path script =
      converters.write("other-hipify", "#!/bin/sh\necho \"as it is: $# ${2##*/}\"\nexit 3\n");
  fs::permissions(script, fs::perms::owner_all);
  const Conversion other = converters.driven_with(script, "input.cu");
  CHECK(other.messages == "as it is: 2 input.cu\n");
  CHECK(other.exit_code == 3);
}

TEST_CASE("kiln runs a hipify-perl that it does not know as it is, with the same outcome") {
  KILN_NEEDS_DRIVEN_HIPIFY();
  if (!has_amd()) SKIP("needs hipify-perl, hipcc and clang-offload-bundler: see kiln doctor");
  ScratchFolder scratch;
  Project project(scratch.path());
  const std::vector<std::string> only_amd = {"--target", "gfx1100", "--no-cache"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto plan = [&] { return project.kiln(with({"plan"}, {"--target", "gfx1100"})).output; };
  const auto converted = [&] {
    const tools::Outcome outcome = project.kiln(with({"build", "--out", "out"}, only_amd));
    INFO(outcome.diagnostics);
    REQUIRE(outcome.ok());
    return project.read("out/hip/affine.cu") + project.read("out/hip/shared.cuh");
  };
  CHECK(plan().find("{perl} {out}/.kiln/hipify_driver.pl {hipify-perl} -o={out}/hip/fill.cu") !=
        std::string::npos);
  const std::string driven = converted();
  CHECK(project.read("out/.kiln/hipify_driver.pl") == tools::hipify_driver_text());

  project.write("hipify-perl", tools::real_files()->read(Converters::hipify().path).value() +
                                   "# another version\n");
  fs::permissions(project.root() / "hipify-perl", fs::perms::owner_all);
  project.environment = {{"KILN_HIPIFY_PERL", (project.root() / "hipify-perl").string()}};
  CHECK(plan().find("  PERL_HASH_SEED=0 {hipify-perl} -o={out}/hip/fill.cu") != std::string::npos);
  CHECK(plan().find("hipify_driver") == std::string::npos);
  CHECK(converted() == driven);
}
