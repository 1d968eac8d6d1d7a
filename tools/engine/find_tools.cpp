#include "tools/engine/find_tools.hpp"

#include <array>
#include <map>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "tools/engine/probe_cache.hpp"
#include "tools/engine/probe_tool.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/hipify/hipify_driver.hpp"
#include "tools/system/cache_store.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

enum class Vendor : std::uint8_t { kNone, kAmd, kNvidia };

// How to search for one kind of tool.
struct Recipe {
  ToolKind kind;
  Vendor vendor;
  // environment variables that name the program; empty: unused
  std::array<std::string_view, 2> variables;
  std::array<std::string_view, 3> in_root;  // below the vendor's folder
  std::array<std::string_view, 3> on_path;
  std::string_view install;
};

constexpr std::string_view kSetUp = "tools/setup.sh of kiln's sources; or a ROCm of your own, named by ROCM_PATH";
constexpr std::array<Recipe, 6> kRecipes = {{
    {ToolKind::kHipify, Vendor::kAmd, {"KILN_HIPIFY_PERL"}, {"bin/hipify-perl"}, {"hipify-perl"},
     kSetUp},
    {ToolKind::kHipCompiler, Vendor::kAmd, {"KILN_HIPCC", "HIPCXX"},
     {"bin/hipcc", "bin/amdclang++", "llvm/bin/clang++"}, {"hipcc", "amdclang++"}, kSetUp},
    {ToolKind::kOffloadBundler, Vendor::kAmd, {"KILN_OFFLOAD_BUNDLER"},
     {"llvm/bin/clang-offload-bundler", "lib/llvm/bin/clang-offload-bundler"},
     {"clang-offload-bundler"}, kSetUp},
    {ToolKind::kNvcc, Vendor::kNvidia, {"KILN_NVCC"}, {"bin/nvcc"}, {"nvcc"},
     "apt-get install nvidia-cuda-toolkit"},
    {ToolKind::kFatbinary, Vendor::kNvidia, {"KILN_FATBINARY"}, {"bin/fatbinary"}, {"fatbinary"},
     "apt-get install nvidia-cuda-toolkit"},
    {ToolKind::kHostCompiler, Vendor::kNone, {"KILN_CXX", "CXX"}, {}, {"g++", "clang++", "c++"},
     "apt-get install g++"},
}};

struct Candidate {
  fs::path program;  // empty if there is none; `rule` then says why
  std::string rule;
  fs::path root;  // the folder of the vendor's toolkit
};

// Names a candidate in error messages: "/usr/local/cuda/bin/nvcc",
// "/elsewhere/nvcc (KILN_NVCC)", "nvcc on PATH".
std::string display_name(const Candidate& candidate) {
  if (candidate.program.empty()) return candidate.rule;
  const std::string program = candidate.program.string();
  const bool is_variable = candidate.rule.find('_') != std::string::npos || candidate.rule == "CXX" ||
                           candidate.rule == "HIPCXX";
  return is_variable ? program + " (" + candidate.rule + ")" : program;
}

fs::path cache_path(const Files& files, const Environment& environment) {
  const CacheFolder cache = cache_folder(files, environment);
  return cache.is_usable() ? cache.path / "tools" : fs::path();
}

class Search {
 public:
  Search(Files& files, Processes& processes, const Environment& environment)
      : files_(files),
        processes_(processes),
        environment_(environment),
        cache_(files, cache_path(files, environment)),
        own_toolchain_(environment.toolchain_directory()),
        why_untrusted_(files.why_untrusted(own_toolchain_)) {}

  Result<Toolchain> run() {
    for (const Recipe& recipe : kRecipes) {
      KILN_TRY_ASSIGN(Tool tool, find(recipe));
      toolchain_.tools.push_back(std::move(tool));
    }
    cache_.save();
    return std::move(toolchain_);
  }

 private:
  Result<Tool> find(const Recipe& recipe) {
    Tool tool;
    tool.kind = recipe.kind;
    tool.install = recipe.install;
    tool.own_variable = recipe.variables.front();
    std::vector<std::string> tried;
    for (Candidate& candidate : candidates(recipe)) {
      if (candidate.program.empty() || !files_.status(candidate.program)) {
        tried.push_back(display_name(candidate));
        continue;
      }
      fs::path libraries;
      if (recipe.kind == ToolKind::kHipCompiler) {
        candidate.root = with_hip_headers(candidate.root);
        libraries = device_libraries(candidate.root);
      }
      tool.environment = environment_of(recipe.kind, candidate, libraries);
      const Result<Probe> probe = find_or_probe(recipe.kind, candidate, libraries, tool);
      if (!probe) {
        if (probe.error().code == ErrorCode::kInterrupted) return probe.error();
        tried.push_back(probe.error().message);
        continue;
      }
      accept(*probe, candidate, libraries, tool);
      return tool;
    }
    tool.environment.clear();
    tool.missing = "tried " + join(tried, ", ");
    for (const std::string_view variable : recipe.variables) {
      if (tool.named_by.empty() && environment_.get(variable)) tool.named_by = variable;
    }
    return tool;
  }

  // Returns the candidates in the search order that find_tools.hpp documents.
  std::vector<Candidate> candidates(const Recipe& recipe) const {
    for (const std::string_view variable : recipe.variables) {
      if (variable.empty()) continue;
      const auto value = environment_.get(variable);
      if (!value) continue;
      const fs::path program = value->find('/') != std::string::npos
                                   ? (environment_.current_directory / *value).lexically_normal()
                                   : find_on_path(*value, files_, environment_);
      if (program.empty()) {
        return {{{}, std::string(variable) + " (" + quote(*value) + " is not on PATH)", {}}};
      }
      return {{program, std::string(variable), root_above(program)}};
    }
    std::vector<Candidate> found;
    if (recipe.vendor != Vendor::kNone) {
      for (const auto& [root, rule] : roots(recipe.vendor)) add_below(root, rule, recipe, found);
    }
    for (const std::string_view name : recipe.on_path) {
      if (name.empty()) continue;
      const fs::path program = find_on_path(name, files_, environment_);
      if (program.empty()) {
        found.push_back({{}, std::string(name) + " on PATH", {}});
      } else {
        found.push_back({program, "PATH", root_above(program)});
      }
    }
    add_own_toolchain(recipe, found);
    return found;
  }

  void add_own_toolchain(const Recipe& recipe, std::vector<Candidate>& found) const {
    if (recipe.vendor == Vendor::kNone || own_toolchain_.empty()) return;
    if (!why_untrusted_.empty()) {
      found.push_back({{}, "not " + own_toolchain_.string() + " because " + why_untrusted_, {}});
      return;
    }
    const std::string rule = "kiln's own toolchain";
    if (recipe.vendor == Vendor::kAmd) add_below(own_toolchain_ / "rocm", rule, recipe, found);
    if (recipe.kind == ToolKind::kHipify) add_below(own_toolchain_ / "hipify", rule, recipe, found);
    if (recipe.vendor == Vendor::kNvidia) add_below(own_toolchain_ / "cuda", rule, recipe, found);
  }

  static void add_below(const fs::path& root, const std::string& rule, const Recipe& recipe,
                        std::vector<Candidate>& found) {
    for (const std::string_view inner : recipe.in_root) {
      if (!inner.empty()) found.push_back({root / inner, rule, root});
    }
  }

  std::vector<std::pair<fs::path, std::string>> roots(Vendor vendor) const {
    std::vector<std::pair<fs::path, std::string>> found;
    const bool is_amd = vendor == Vendor::kAmd;
    const std::array<std::string_view, 2> variables =
        is_amd ? std::array<std::string_view, 2>{"ROCM_PATH", "HIP_PATH"}
               : std::array<std::string_view, 2>{"CUDA_PATH", "CUDA_HOME"};
    for (const std::string_view variable : variables) {
      // Tools run in the manifest's folder, where a relative path would name another folder.
      if (const auto value = environment_.get(variable)) found.emplace_back(environment_.absolute(*value), variable);
    }
    const std::string usual = is_amd ? "/opt/rocm" : "/usr/local/cuda";
    found.emplace_back(usual, usual);
    return found;
  }

  // <root>/bin/hipcc -> <root>; <root>/llvm/bin/clang++ -> <root>
  static fs::path root_above(const fs::path& program) {
    const fs::path above = program.parent_path().parent_path();
    return above.filename() == "llvm" ? above.parent_path() : above;
  }

  // Returns `root`, or if it has no HIP headers (as with a distribution's clang++), the first ROCm
  // folder that has them.
  fs::path with_hip_headers(const fs::path& root) const {
    std::vector<fs::path> folders = {root};
    for (const auto& [other, rule] : roots(Vendor::kAmd)) folders.push_back(other);
    if (!own_toolchain_.empty() && why_untrusted_.empty()) {
      folders.push_back(own_toolchain_ / "rocm");
    }
    for (const fs::path& folder : folders) {
      if (files_.status(folder / "include/hip/hip_runtime.h")) return folder;
    }
    return root;
  }

  // Folder of the device libraries (bitcode) for the HIP compiler of this ROCm; empty if there is
  // none.
  fs::path device_libraries(const fs::path& root) const {
    std::vector<fs::path> folders;
    if (const auto named = environment_.get("DEVICE_LIB_PATH")) {
      folders.push_back(environment_.absolute(*named));
    }
    folders.push_back(root / "amdgcn/bitcode");
    for (const fs::path& clang : {root / "lib/llvm/lib/clang", root / "llvm/lib/clang"}) {
      if (const auto versions = files_.list(clang)) {
        for (const std::string& version : *versions) {
          folders.push_back(clang / version / "lib/amdgcn/bitcode");
          folders.push_back(clang / version / "amdgcn/bitcode");
        }
      }
    }
    folders.push_back(root / "lib/x86_64-linux-gnu/amdgcn/bitcode");
    for (const fs::path& folder : folders) {
      if (files_.status(folder / "ocml.bc")) return folder.lexically_normal();
    }
    return {};
  }

  static std::vector<std::pair<std::string, std::string>> environment_of(
      ToolKind kind, const Candidate& candidate, const fs::path& libraries) {
    if (kind != ToolKind::kHipCompiler || !is_hipcc(candidate.program)) return {};
    std::vector<std::pair<std::string, std::string>> variables;
    if (!libraries.empty()) variables.emplace_back("DEVICE_LIB_PATH", libraries.string());
    variables.emplace_back("HIP_PLATFORM", "amd");
    variables.emplace_back("ROCM_PATH", candidate.root.string());
    return variables;
  }

  Result<Probe> find_or_probe(ToolKind kind, const Candidate& candidate, const fs::path& libraries,
                              const Tool& tool) {
    KeyHasher hasher;
    hasher.add("probe", probe_code());
    hasher.add("kind", to_string(kind));
    hasher.add("program", candidate.program.string());
    hasher.add("device libraries", libraries.string());
    for (const auto& [name, value] : tool.environment) hasher.add(name, value);
    for (const auto& [name, value] : tool_environment(kind, environment_)) hasher.add(name, value);
    if (kind == ToolKind::kHipify) hasher.add("driver", hipify_driver_digest());
    add_search_paths(hasher);
    const std::string key = hasher.finish().hex();
    if (std::optional<Probe> known = cache_.find(key)) return *std::move(known);
    KILN_TRY_ASSIGN(Probe probe,
                    probe_tool({.kind = kind,
                                .program = candidate.program,
                                .environment = tool.environment,
                                .device_libraries = libraries},
                               files_, processes_, environment_));
    cache_.store(key, probe);
    return probe;
  }

  // Adds what decides where a tool finds its programs and libraries: programs found on PATH by
  // name, and folders that variables name. Without them, a new file earlier in the search order
  // would go unnoticed.
  void add_search_paths(KeyHasher& hasher) {
    for (const char* name : {"gcc", "as", "ld", "perl"}) {
      auto [program, is_new] = on_path_.try_emplace(name);
      if (is_new) program->second = find_on_path(name, files_, environment_).string();
      hasher.add(name, program->second);
    }
    for (const char* variable :
         {"LD_LIBRARY_PATH", "LIBRARY_PATH", "COMPILER_PATH", "HIP_CLANG_PATH"}) {
      const std::string folders = environment_.get(variable).value_or("");
      for (const std::string_view folder : split(folders, ':')) {
        const std::optional<FileStatus> status = files_.status(fs::path(folder));
        hasher.add(folder, std::to_string(status ? status->changed_ns : 0));
      }
    }
  }

  void accept(const Probe& probe, const Candidate& candidate, const fs::path& libraries,
              Tool& tool) {
    tool.path = candidate.program.lexically_normal();
    tool.rule = candidate.rule;
    tool.version = probe.version;
    tool.parts = probe.parts;
    tool.takes_source_name = probe.takes_source_name;
    tool.driver_perl = probe.driver_perl;
    if (tool.kind == ToolKind::kHipCompiler) {
      toolchain_.rocm_path = candidate.root;
      toolchain_.device_library_path = libraries;
      toolchain_.amd_processors = probe.builds;
    }
    if (tool.kind == ToolKind::kNvcc) {
      toolchain_.cuda_path = candidate.root;
      toolchain_.nvidia_targets = probe.builds;
    }
  }

  Files& files_;
  Processes& processes_;
  const Environment& environment_;
  ProbeCache cache_;
  const fs::path own_toolchain_;     // the folder that tools/setup.sh fills; empty: none
  const std::string why_untrusted_;  // why nothing in own_toolchain_ is run; empty if it is trusted
  std::map<std::string, std::string, std::less<>> on_path_;  // programs, by name
  Toolchain toolchain_;
};

}  // namespace

Result<Toolchain> find_tools(Files& files, Processes& processes, const Environment& environment) {
  return Search(files, processes, environment).run();
}

}  // namespace kiln::tools
