#include "tools/stages/compile_commands.hpp"

#include <algorithm>
#include <map>

#include "tools/stages/layout.hpp"
#include "tools/stages/nvcc_define.hpp"

namespace kiln::tools {
namespace {

bool is_source_of(const Step& step, const std::string& word) {
  return std::find(step.inputs.begin(), step.inputs.end(), word) != step.inputs.end();
}

std::string source_of(const Step& step) {
  for (const std::string& word : step.argv) {
    if (is_source_of(step, word)) return word;
  }
  return step.inputs.empty() ? std::string() : step.inputs.front();
}

// False for the PTX that a cubin is made from, which is not a source that people edit.
bool compiles_source(const Step& step) {
  return step.kind == StepKind::kCompile && !source_of(step).starts_with("{out}/images/");
}

// "-I{out}/hip/kernels" -> "-I{src}/kernels"
std::string original_of(std::string word) {
  const std::size_t at = word.find(kHipFolder);
  if (at != std::string::npos) word.replace(at, kHipFolder.size(), "{src}/");
  return word;
}

// Translates nvcc's command line for clang: keeps the words that clang reads the same way and
// replaces the others.
std::vector<std::string> clang_arguments(const Step& step, const Plan& plan,
                                         const Toolchain& toolchain, const std::string& file) {
  std::string arch = step.target;
  if (arch.starts_with("compute_")) arch = "sm_" + arch.substr(8);
  std::vector<std::string> words = {"clang++", "-x", "cuda", "--cuda-gpu-arch=" + arch,
                                    "--cuda-device-only"};
  if (!toolchain.cuda_path.empty()) words.push_back("--cuda-path=" + toolchain.cuda_path.string());
  const std::vector<std::string> command = command_line(step, plan);
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    const bool takes_next =
        (word == "-I" || word == "-D" || word == "-isystem" || word == "-include");
    if (takes_next && i + 1 < command.size()) {
      words.push_back(word);
      words.push_back(command[++i]);
    } else if (word.starts_with("-D")) {
      words.push_back(define_of_nvcc(word));
    } else if (word.starts_with("-I") || word.starts_with("-std=") ||
               word.starts_with("-U")) {
      words.push_back(word);
    }
  }
  words.push_back(file);
  return words;
}

}  // namespace

Json compile_commands(const Plan& plan, const Toolchain& toolchain) {
  std::map<std::string, Json> entries;  // by file
  const auto add = [&](const std::string& file, const std::vector<std::string>& words) {
    entries.try_emplace(file, Json::Object{{"directory", plan.source_root.string()},
                                           {"file", file},
                                           {"arguments", Json::Array(words.begin(), words.end())}});
  };
  for (const Step& step : plan.steps) {
    if (!compiles_source(step)) continue;
    const std::string file = expand(source_of(step), plan);
    if (step.tool == ToolKind::kNvcc) {
      add(file, clang_arguments(step, plan, toolchain, file));
    } else {
      add(file, command_line(step, plan));
    }
  }
  // People edit the CUDA source, not the converted one. If nvcc does not compile it, it gets the
  // arguments of the HIP source.
  for (Step step : plan.steps) {
    if (step.kind != StepKind::kCompile || !source_of(step).starts_with(kHipFolder)) continue;
    const std::string file = expand(original_of(source_of(step)), plan);
    for (std::string& word : step.argv) word = original_of(word);
    add(file, command_line(step, plan));
  }
  Json::Array result;
  for (auto& [file, entry] : entries) result.push_back(std::move(entry));
  return result;
}

}  // namespace kiln::tools
