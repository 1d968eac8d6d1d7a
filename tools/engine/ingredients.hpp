// What decides a step's output: the labelled list that up-to-date checks compare, cache keys hash
// and explanations are drawn from.
//
//   label               value
//   kind                compile
//   tool                nvcc
//   part ptxas ptxas    digest of the file's bytes; the words are its role and its file name
//   argument            one entry per word of argv, with {src} and {out}
//   lines               named: what name_lines() does to a converted source
//   environment NAME    value: what the step sets, and what is passed on of the user's own
//   source folder       its path, where nvcc writes it down: with debug information, or when it
//                       cannot be told another name for the source
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

// Labels of files, each before a neutral path.
inline constexpr std::string_view kInput = "input ";
inline constexpr std::string_view kNamedFile = "named file ";

inline constexpr std::string_view kMissing = "missing";  // instead of a digest
std::string digest_text(const std::optional<Digest>& digest);  // in hexadecimal, or kMissing

// What the ingredients of many steps have in common, worked out once. It serves one plan and one
// environment, and is safe from several threads.
class SharedIngredients {
 public:
  struct File {
    std::string label, path;  // "part ptxas ptxas", "named file {src}/words"
  };
  using Variables = std::map<std::string, std::string>;

  // The parts of the tool that the step depends on.
  const std::vector<File>& parts(const Step& step, const Tool& tool);
  // The files that a word of a command line may name.
  const std::vector<File>& named_by(std::string_view word, const Plan& plan);
  // Those of the user that are passed on to the tool.
  const Variables& variables(ToolKind tool, const Environment& environment);

  // Adds the lines of those parts, and of an input of the step. They are made once, until a digest
  // may have changed.
  void append_parts(std::string& lines, const Step& step, const Tool& tool, FileDigests& digests);
  void append_input(std::string& lines, const std::string& input, const Plan& plan,
                    FileDigests& digests);
  // Whether each file has the digest that is said of it.
  bool are_unchanged(const Dependencies& dependencies, const Plan& plan, FileDigests& digests);

 private:
  // What is known of files, as long as no digest may have changed.
  struct OfFiles {
    std::map<std::pair<ToolKind, std::vector<std::string>>, std::string> parts;
    std::unordered_map<std::string, std::string> inputs;
    std::unordered_map<const void*, std::pair<Dependencies, bool>> unchanged;
  };
  // With the mutex held.
  OfFiles& of_files(const FileDigests& digests);

  std::mutex mutex_;  // what is in the maps is never changed
  std::map<std::pair<ToolKind, std::vector<std::string>>, std::vector<File>> parts_;
  std::map<std::string, std::vector<File>, std::less<>> words_;
  std::map<ToolKind, Variables> variables_;
  OfFiles of_files_;
  std::uint64_t changes_ = 0;  // of the digests that of_files_ is about
};

// A line "is " label "\t" value for each ingredient of the step. Most checks compare them as they
// are.
std::string ingredient_lines(const Step& step, const Plan& plan, const Tool& tool,
                             const Environment& environment, FileDigests& digests,
                             SharedIngredients& shared);

// How each of those lines starts.
inline constexpr std::string_view kIngredient = "is ";
std::string write_ingredients(const Ingredients& ingredients);
Ingredients read_ingredients(std::string_view lines);
void append_ingredient(std::string& lines, std::string_view word, std::string_view label,
                       std::string_view value);
// After the word.
Ingredient read_ingredient(std::string_view line);

// The neutral path of a file that is not what these ingredients of `step` say, by now; or nothing.
std::string changed_since(const Ingredients& ingredients, const Step& step, const Plan& plan,
                          const Tool& tool, const FileDigests& digests);

// The files that the step's options name, as neutral paths.
std::vector<std::string> files_named_by_options(const Ingredients& ingredients);
// The files that they may name, there or not.
std::vector<std::string> files_named_by_options(const Step& step, const Plan& plan,
                                                const Environment& environment);

Digest key_of(const Ingredients& ingredients);

// Why `after` is not `before`, a phrase each: "affine.cu changed", "ptxas changed", "flag -O3 -> -O2".
std::vector<std::string> explain_difference(const Ingredients& before, const Ingredients& after);

// `path` in the form that does not depend on where things lie: below a root or place of the plan,
// "{src}/...", "{out}/...", "{rocm}/..."; else absolute. Relative paths are relative to the source
// root, where steps run.
std::string neutral_path(const std::filesystem::path& path, const Plan& plan);

// A neutral path as a person would name it: without "{src}/".
std::string display_path(std::string_view neutral);

}  // namespace kiln::tools
