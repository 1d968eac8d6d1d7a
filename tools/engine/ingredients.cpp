#include "tools/engine/ingredients.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/processor.hpp"
#include "base/text.hpp"
#include "tools/engine/option_words.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/hipify/hipify_driver.hpp"
#include "tools/stages/plan_compile.hpp"
#include "tools/stages/plan_hipify.hpp"
#include "tools/stages/rewrites.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

// nvcc writes absolute paths of sources into line tables and debug information and has no option
// against it. It also puts a digest of the path into function names, unless it is told another
// name. The other compilers are told to leave the folder out (plan_compile.cpp).
constexpr std::array<std::string_view, 4> kNvccDebugOptions = {
    "-G", "--device-debug", "-lineinfo", "--generate-line-info"};

// `words` are those that variables and files of options add to the step's own.
bool writes_source_folder(const Step& step, const std::vector<std::string>& words) {
  if (step.tool != ToolKind::kNvcc) return false;
  const auto is_debug = [](std::string_view word) {
    return std::ranges::find(kNvccDebugOptions, word) != kNvccDebugOptions.end();
  };
  const auto names_source = [](std::string_view word) {
    return word.starts_with(kSourceNameOption);
  };
  const bool reads_source = std::ranges::find(step.tool_roles, "cicc") != step.tool_roles.end();
  if (reads_source && std::ranges::none_of(step.argv, names_source)) return true;
  return std::ranges::any_of(step.argv, is_debug) || std::ranges::any_of(words, is_debug);
}

bool is_for_this_processor(const Step& step, const std::vector<std::string>& words) {
  return std::ranges::any_of(step.argv, asks_for_native) ||
         std::ranges::any_of(words, asks_for_native);
}

bool depends_on(const Step& step, const Tool::Part& part) {
  return std::find(step.tool_roles.begin(), step.tool_roles.end(), part.role) !=
         step.tool_roles.end();
}

std::string label_of(const Tool::Part& part) {
  return "part " + part.role + " " + part.path.filename().string();
}

std::string label_of_input(const std::string& input) { return std::string(kInput) + input; }

// Finds the files that options name: lists of options and what these name in turn, plug-ins,
// profiles. Compilers read them and mostly do not report them.
class NamedFiles {
 public:
  NamedFiles(const Plan& plan, FileDigests& digests, SharedIngredients& shared)
      : plan_(plan), digests_(digests), shared_(shared) {}

  void add_step(const Step& step, const SharedIngredients::Variables& variables) {
    std::vector<std::string> words;
    for (std::size_t i = 1; i < step.argv.size(); ++i) {
      if (step.argv[i].find('{') == std::string::npos) words.push_back(step.argv[i]);
    }
    add_words(words, {});
    for (const auto& [variable, value] : variables) {
      if (variable != "NVCC_CCBIN") add_words(split_words(value), {});  // a part of nvcc
    }
    const auto folders = variables.find("LIBRARY_PATH");
    const std::string_view more = folders == variables.end() ? std::string_view() : folders->second;
    for (const std::string& path : library_files(words_, more)) add_word(path, false);
  }

  // The words of the command line without placeholders, of the variables, and of the files of
  // options.
  const std::vector<std::string>& words() const { return words_; }

  // Each with its digest, or without one if there is no such file.
  const std::map<std::string, std::optional<Digest>>& by_label() const { return files_; }

 private:
  // `folder` holds the file of options that the words are from. Some compilers look for files
  // there, others in the source root.
  void add_words(const std::vector<std::string>& words, const std::filesystem::path& folder) {
    words_.insert(words_.end(), words.begin(), words.end());
    std::string_view previous;
    for (const std::string& word : words) {
      const bool are_options = names_options(previous, word);
      add_word(word, are_options);
      if (!folder.empty()) add_word(beside(word, folder), are_options);
      previous = word;
    }
  }

  static std::string beside(std::string_view word, const std::filesystem::path& folder) {
    const std::size_t name = word.starts_with('-') ? word.find('=') + 1 : word.starts_with('@');
    return (folder / word.substr(name)).native();
  }

  void add_word(std::string_view word, bool are_options) {
    for (const SharedIngredients::File& file : shared_.named_by(word, plan_)) {
      const std::optional<Digest> digest = digests_.digest_at(file.path);
      files_[file.label] = digest;
      if (!digest || !are_options || !opened_.insert(file.path).second) continue;
      add_words(shared_.words_in(file.path, *digest, digests_.files()),
                std::filesystem::path(file.path).parent_path());
    }
  }

  const Plan& plan_;
  FileDigests& digests_;
  SharedIngredients& shared_;
  std::map<std::string, std::optional<Digest>> files_;
  std::vector<std::string> words_;
  std::set<std::string> opened_;
};

// Variables of the step override the user's.
SharedIngredients::Variables variables_of(const Step& step, const Environment& environment,
                                          SharedIngredients& shared) {
  SharedIngredients::Variables variables = shared.variables(step.tool, environment);
  for (const auto& [name, value] : step.environment) variables[name] = value;
  return variables;
}

std::vector<std::string> arguments_of(const Ingredients& ingredients) {
  std::vector<std::string> arguments;
  for (const Ingredient& ingredient : ingredients) {
    if (ingredient.label == "argument") arguments.push_back(ingredient.value);
  }
  return arguments;
}

void explain_arguments(const Ingredients& before, const Ingredients& after,
                       std::vector<std::string>& reasons) {
  std::vector<std::string> old_words = arguments_of(before), new_words = arguments_of(after);
  const auto [old_first, new_first] =
      std::mismatch(old_words.begin(), old_words.end(), new_words.begin(), new_words.end());
  old_words.erase(old_words.begin(), old_first);
  new_words.erase(new_words.begin(), new_first);
  const auto [old_last, new_last] =
      std::mismatch(old_words.rbegin(), old_words.rend(), new_words.rbegin(), new_words.rend());
  old_words.erase(old_last.base(), old_words.end());
  new_words.erase(new_last.base(), new_words.end());
  if (old_words.empty() && new_words.empty()) return;
  if (old_words.empty()) {
    reasons.push_back("flag added: " + shell_line(new_words));
  } else if (new_words.empty()) {
    reasons.push_back("flag removed: " + shell_line(old_words));
  } else {
    reasons.push_back("flag " + shell_line(old_words) + " -> " + shell_line(new_words));
  }
}

// "part ptxas ptxas" -> "ptxas"; "input {src}/a.cu" -> "a.cu"; "environment X" -> "environment X".
std::string display_label(const std::string& label) {
  if (label.starts_with("part ")) return label.substr(label.rfind(' ') + 1);
  if (label.starts_with(kNamedFile)) return display_path(label.substr(kNamedFile.size()));
  if (label.starts_with("input ")) return display_path(std::string_view(label).substr(6));
  if (label == "rewrite") return "what kiln does to the output";
  return label;
}

}  // namespace

std::string digest_text(const std::optional<Digest>& digest) {
  return digest ? digest->hex() : std::string(kMissing);
}

const std::vector<SharedIngredients::File>& SharedIngredients::parts(const Step& step,
                                                                     const Tool& tool) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = parts_.try_emplace({step.tool, step.tool_roles});
  if (is_new) {
    for (const Tool::Part& part : tool.parts) {
      if (depends_on(step, part)) known->second.push_back({label_of(part), part.path.native()});
    }
  }
  return known->second;
}

const std::vector<SharedIngredients::File>& SharedIngredients::named_by(std::string_view word,
                                                                        const Plan& plan) {
  const std::lock_guard lock(mutex_);
  const auto known = words_.find(word);
  if (known != words_.end()) return known->second;
  std::vector<File> files;
  for (const std::string& name : file_names(word)) {
    const std::string path = neutral_path(name, plan);
    files.push_back({std::string(kNamedFile) + path, expand(path, plan)});
  }
  return words_.emplace(word, std::move(files)).first->second;
}

const std::vector<std::string>& SharedIngredients::words_in(const std::string& path,
                                                            const Digest& digest,
                                                            const Files& files) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = options_files_.try_emplace(digest);
  if (is_new) known->second = split_words(files.read(path).value_or(std::string()));
  return known->second;
}

const SharedIngredients::Variables& SharedIngredients::variables(ToolKind tool,
                                                                 const Environment& environment) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = variables_.try_emplace(tool);
  if (is_new) {
    for (auto& [name, value] : passed_variables(tool, environment)) {
      known->second.emplace(name, std::move(value));
    }
  }
  return known->second;
}

SharedIngredients::FileFacts& SharedIngredients::file_facts(const FileDigests& digests) {
  if (const std::uint64_t changes = digests.changes(); changes != changes_) {
    file_facts_ = {};
    changes_ = changes;
  }
  return file_facts_;
}

void SharedIngredients::append_parts(std::string& lines, const Step& step, const Tool& tool,
                                     FileDigests& digests) {
  const std::vector<File>& files = parts(step, tool);
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = file_facts(digests).parts.try_emplace({step.tool, step.tool_roles});
  if (is_new) {
    for (const File& part : files) {
      append_ingredient(known->second, kIngredient, part.label,
                        digest_text(digests.digest_at(part.path)));
    }
  }
  lines += known->second;
}

void SharedIngredients::append_input(std::string& lines, const std::string& input,
                                     const Plan& plan, FileDigests& digests) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = file_facts(digests).inputs.try_emplace(input);
  if (is_new) {
    append_ingredient(known->second, kIngredient, label_of_input(input),
                      digest_text(digests.digest_at(expand(input, plan))));
  }
  lines += known->second;
}

bool SharedIngredients::are_unchanged(const Dependencies& dependencies, const Plan& plan,
                                      FileDigests& digests) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] =
      file_facts(digests).unchanged.try_emplace(dependencies.id(), dependencies, true);
  if (is_new) {
    known->second.second = std::ranges::all_of(dependencies, [&](const auto& file) {
      return digests.digest_at(expand(file.first, plan)) == file.second;
    });
  }
  return known->second.second;
}

std::string ingredient_lines(const Step& step, const Plan& plan, const Tool& tool,
                             const Environment& environment, FileDigests& digests,
                             SharedIngredients& shared) {
  std::string lines;
  lines.reserve(8192);
  const auto add = [&](std::string_view label, std::string_view value) {
    append_ingredient(lines, kIngredient, label, value);
  };
  add("kind", to_string(step.kind));
  add("tool", to_string(step.tool));
  shared.append_parts(lines, step, tool, digests);
  for (const std::string& word : step.argv) add("argument", word);
  if (step.kind == StepKind::kHipify) add("rewrite", hip_rewrite());
  if (makes_ptx(step)) add("rewrite", ptx_rewrite());
  if (is_driven(step)) add("hipify driver", hipify_driver_digest().hex());
  const SharedIngredients::Variables variables = variables_of(step, environment, shared);
  for (const auto& [name, value] : variables) add("environment " + name, value);
  NamedFiles named(plan, digests, shared);
  named.add_step(step, variables);
  if (is_for_this_processor(step, named.words())) add("processor", this_processor());
  if (writes_source_folder(step, named.words())) add("source folder", plan.source_root.native());
  for (const auto& [label, digest] : named.by_label()) {
    if (digest) add(label, digest->hex());
  }
  for (const std::string& input : step.inputs) shared.append_input(lines, input, plan, digests);
  return lines;
}

void append_ingredient(std::string& lines, std::string_view word, std::string_view label,
                       std::string_view value) {
  append_escaped(lines.append(word), label);
  append_escaped(lines.append("\t"), value);
  lines += '\n';
}

Ingredient read_ingredient(std::string_view line) {
  std::string label = unescape_line(take_until(line, '\t'));
  return {std::move(label), unescape_line(line)};
}

std::string write_ingredients(const Ingredients& ingredients) {
  std::string lines;
  for (const Ingredient& ingredient : ingredients) {
    append_ingredient(lines, kIngredient, ingredient.label, ingredient.value);
  }
  return lines;
}

Ingredients read_ingredients(std::string_view lines) {
  Ingredients ingredients;
  while (!lines.empty()) {
    std::string_view line = take_until(lines, '\n');
    line.remove_prefix(std::min(line.size(), kIngredient.size()));
    ingredients.push_back(read_ingredient(line));
  }
  return ingredients;
}

std::string changed_since(const Ingredients& ingredients, const Step& step, const Plan& plan,
                          const Tool& tool, const FileDigests& digests) {
  // Parts are searched in the order of ingredient_lines(), because two of them may share a label.
  auto next = ingredients.begin();
  const auto is_unchanged = [&](const std::string& label, const std::filesystem::path& path) {
    next = std::ranges::find(next, ingredients.end(), label, &Ingredient::label);
    return next != ingredients.end() && digest_text(digests.digest_now(path)) == (next++)->value;
  };
  for (const Tool::Part& part : tool.parts) {
    if (depends_on(step, part) && !is_unchanged(label_of(part), part.path)) {
      return part.path.string();
    }
  }
  for (const std::string& path : files_named_by_options(ingredients)) {
    if (!is_unchanged(std::string(kNamedFile) + path, expand(path, plan))) return path;
  }
  for (const std::string& input : step.inputs) {
    if (!is_unchanged(label_of_input(input), expand(input, plan))) return input;
  }
  return {};
}

Digest key_of(const Ingredients& ingredients) {
  KeyHasher hasher;
  for (const Ingredient& ingredient : ingredients) hasher.add(ingredient.label, ingredient.value);
  return hasher.finish();
}

std::vector<std::string> files_named_by_options(const Ingredients& ingredients) {
  std::vector<std::string> names;
  for (const Ingredient& ingredient : ingredients) {
    if (ingredient.label.starts_with(kNamedFile)) {
      names.push_back(ingredient.label.substr(kNamedFile.size()));
    }
  }
  return names;
}

std::vector<std::string> files_named_by_options(const Step& step, const Plan& plan,
                                                const Environment& environment,
                                                FileDigests& digests) {
  SharedIngredients shared;
  NamedFiles named(plan, digests, shared);
  named.add_step(step, variables_of(step, environment, shared));
  std::vector<std::string> paths;
  for (const auto& [label, digest] : named.by_label()) {
    paths.push_back(label.substr(kNamedFile.size()));
  }
  return paths;
}

std::vector<std::string> explain_difference(const Ingredients& before, const Ingredients& after) {
  std::vector<std::string> reasons;
  // A label is usually unique, but two libraries may share role and name.
  std::multimap<std::string, std::string> old_values;
  for (const Ingredient& ingredient : before) {
    if (ingredient.label != "argument") old_values.emplace(ingredient.label, ingredient.value);
  }
  for (const Ingredient& ingredient : after) {
    if (ingredient.label == "argument") continue;
    const auto [first, last] = old_values.equal_range(ingredient.label);
    const auto same =
        std::find_if(first, last, [&](const auto& old) { return old.second == ingredient.value; });
    if (same != last) {
      old_values.erase(same);
    } else if (first == last) {
      reasons.push_back("new: " + display_label(ingredient.label));
    } else {
      reasons.push_back(display_label(ingredient.label) +
                        (ingredient.value == kMissing ? " is gone" : " changed"));
      old_values.erase(first);
    }
  }
  for (const auto& [label, value] : old_values) {
    reasons.push_back("no longer used: " + display_label(label));
  }
  explain_arguments(before, after, reasons);
  return reasons;
}

std::string neutral_path(const std::filesystem::path& path, const Plan& plan) {
  const std::string text =
      (path.is_absolute() ? path : plan.source_root / path).lexically_normal().string();
  // Roots may be nested: the longest one that contains the path is the most specific.
  std::string_view name;
  std::size_t length = 0;
  const auto consider = [&](std::string_view candidate, const std::string& root) {
    const bool inside = !root.empty() && text.starts_with(root) &&
                        (text.size() == root.size() || text[root.size()] == '/');
    if (inside && root.size() > length) {
      name = candidate;
      length = root.size();
    }
  };
  consider("src", plan.source_root.native());
  consider("out", plan.out_root.native());
  for (const auto& [placeholder, root] : plan.placeholders) consider(placeholder, root);
  if (length == 0) return text;
  return "{" + std::string(name) + "}" + text.substr(length);
}

std::string display_path(std::string_view neutral) {
  return std::string(neutral.starts_with("{src}/") ? neutral.substr(6) : neutral);
}

}  // namespace kiln::tools
