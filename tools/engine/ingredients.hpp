// Ingredients: everything that decides a step's output, as a list of labelled values. Up-to-date
// checks compare the list, cache keys hash it, and explanations are made from it.
//
//   label               value
//   kind                compile
//   tool                nvcc
//   part ptxas ptxas    digest of the file; the label has its role and its file name
//   argument            one entry per word of argv, with {src} and {out}
//   rewrite             digest of the code with which kiln changes a converted source, or PTX
//   environment NAME    value: set by the step, or passed on from the user's environment
//   processor           this machine's, if an option leaves a choice to it: -march=native
//   source folder       its path, if nvcc writes it into the output: with debug information, or if
//                       nvcc cannot be told another name for the source
//   input {src}/a.cu    digest, or "missing"
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "tools/engine/dependencies.hpp"
#include "tools/model/plan.hpp"
#include "tools/model/toolchain.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/file_digests.hpp"

namespace kiln::tools {

struct Ingredient {
  std::string label;
  std::string value;
  bool operator==(const Ingredient&) const = default;
};
using Ingredients = std::vector<Ingredient>;

// Prefixes of labels of files; a neutral path follows.
inline constexpr std::string_view kInput = "input ";
inline constexpr std::string_view kNamedFile = "named file ";

inline constexpr std::string_view kMissing = "missing";  // instead of a digest
std::string digest_text(const std::optional<Digest>& digest);  // in hexadecimal, or kMissing

// Ingredients that many steps share, computed once. Serves one plan and one environment.
// Thread-safe.
class SharedIngredients {
 public:
  struct File {
    std::string label, path;  // "part ptxas ptxas", "named file {src}/words"
  };
  using Variables = std::map<std::string, std::string>;

  // Returns the parts of the tool that the step depends on.
  const std::vector<File>& parts(const Step& step, const Tool& tool);
  // Returns the files that a word of a command line may name.
  const std::vector<File>& named_by(std::string_view word, const Plan& plan);
  // Returns the words of a file of options. `digest` is the file's.
  const std::vector<std::string>& words_in(const std::string& path, const Digest& digest,
                                           const Files& files);
  // Returns the user's variables that are passed on to the tool.
  const Variables& variables(ToolKind tool, const Environment& environment);

  // Append the lines of the tool's parts, or of one input. Lines are cached until a digest may have
  // changed.
  void append_parts(std::string& lines, const Step& step, const Tool& tool, FileDigests& digests);
  void append_input(std::string& lines, const std::string& input, const Plan& plan,
                    FileDigests& digests);
  // True if each file still has its recorded digest.
  bool are_unchanged(const Dependencies& dependencies, const Plan& plan, FileDigests& digests);

 private:
  // Facts about files, valid as long as no digest may have changed.
  struct FileFacts {
    std::map<std::pair<ToolKind, std::vector<std::string>>, std::string> parts;
    std::unordered_map<std::string, std::string> inputs;
    std::unordered_map<const void*, std::pair<Dependencies, bool>> unchanged;
  };
  // The caller holds the mutex.
  FileFacts& file_facts(const FileDigests& digests);

  std::mutex mutex_;  // entries of the maps never change, so references to them stay valid
  std::map<std::pair<ToolKind, std::vector<std::string>>, std::vector<File>> parts_;
  std::map<std::string, std::vector<File>, std::less<>> words_;
  std::map<Digest, std::vector<std::string>> options_files_;
  std::map<ToolKind, Variables> variables_;
  FileFacts file_facts_;
  std::uint64_t changes_ = 0;  // FileDigests::changes() when file_facts_ was filled
};

// Returns a line "is " label "\t" value for each ingredient of the step. Most checks compare these
// lines without parsing them.
std::string ingredient_lines(const Step& step, const Plan& plan, const Tool& tool,
                             const Environment& environment, FileDigests& digests,
                             SharedIngredients& shared);

// First word of each of those lines.
inline constexpr std::string_view kIngredient = "is ";
std::string write_ingredients(const Ingredients& ingredients);
Ingredients read_ingredients(std::string_view lines);
void append_ingredient(std::string& lines, std::string_view word, std::string_view label,
                       std::string_view value);
// Parses a line without its first word.
Ingredient read_ingredient(std::string_view line);

// Returns the neutral path of a file that no longer is what these ingredients of `step` say, or an
// empty string.
std::string changed_since(const Ingredients& ingredients, const Step& step, const Plan& plan,
                          const Tool& tool, const FileDigests& digests);

// Returns the files that the step's options name and that existed, as neutral paths.
std::vector<std::string> files_named_by_options(const Ingredients& ingredients);
// Returns the files that the step's options may name, whether or not they exist.
std::vector<std::string> files_named_by_options(const Step& step, const Plan& plan,
                                                const Environment& environment,
                                                FileDigests& digests);

Digest key_of(const Ingredients& ingredients);

// Explains how `after` differs from `before`, a phrase per difference: "affine.cu changed", "ptxas
// changed", "flag -O3 -> -O2".
std::vector<std::string> explain_difference(const Ingredients& before, const Ingredients& after);

// Returns `path` in a form that does not depend on where folders are: "{src}/...", "{out}/..." or
// "{rocm}/..." if it lies below a root or placeholder of the plan, and otherwise the absolute path.
// Relative paths start at the source root, where steps run.
std::string neutral_path(const std::filesystem::path& path, const Plan& plan);

// Returns the form of a neutral path that people are shown: without "{src}/".
std::string display_path(std::string_view neutral);

}  // namespace kiln::tools
