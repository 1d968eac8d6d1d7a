#include "tools/stages/plan_compile.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "formats/host_flags.hpp"
#include "tools/stages/layout.hpp"
#include "tools/stages/nvcc_define.hpp"
#include "tools/stages/tool_use.hpp"

namespace kiln::tools {
namespace {

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// "sm_90a" <-> "compute_90a": the cubin that ptxas makes from PTX has the same architecture.
TargetId cubin_of(const TargetId& ptx) {
  return {.kind = TargetKind::kCubin,
          .processor = "sm_" + ptx.processor.substr(std::string_view("compute_").size())};
}
TargetId ptx_of(const TargetId& cubin) {
  return {.kind = TargetKind::kPtx,
          .processor = "compute_" + cubin.processor.substr(std::string_view("sm_").size())};
}

bool contains(const std::vector<TargetId>& sorted, const TargetId& target) {
  return std::binary_search(sorted.begin(), sorted.end(), target);
}

class Compiles {
 public:
  Compiles(const Manifest& manifest, const Toolchain& toolchain, const std::vector<Step>& hipify)
      : manifest_(manifest), toolchain_(toolchain) {
    for (std::uint32_t i = 0; i < hipify.size(); ++i) hipified_.emplace(hipify[i].output, i);
  }

  Step compile(const Unit& unit, const TargetId& target) const {
    Step step = named(unit, target);
    step.depfile = depfile_path(*unit.module, unit.index, target);
    step.tool_roles = compiler_roles(target);
    switch (target.kind) {
      case TargetKind::kAmd: amd(unit, target, step); break;
      case TargetKind::kCubin:
      case TargetKind::kPtx:
        nvidia(unit, std::to_string(unit.index), target, step);
        step.argv.push_back("{src}/" + unit.source);
        break;
      case TargetKind::kHost: host(unit, target, step); break;
    }
    return step;
  }

  // Makes a cubin from the PTX of the step at `position`. nvcc would make the same PTX on its way
  // from the source to the cubin.
  Step assemble(const Unit& unit, const TargetId& target, const std::string& ptx,
                std::uint32_t position) const {
    Step step = named(unit, target);
    step.tool_roles = assembler_roles();
    step.argv = {"{nvcc}", "-cubin", "-arch=" + target.processor, "-O3", "-Xptxas", "-v"};
    add_debug_information(step);
    for (const CompileOptions* options : {&manifest_.options, &unit.module->options}) {
      add_flags(*options, &CompileOptions::nvidia_flags, step);
    }
    append(step.argv, {"-o", step.output, ptx});
    step.inputs = {ptx};
    step.after = {position};
    return step;
  }

  // Compiles all units of a module together: nvcc is given the last unit's source, and the other
  // sources as includes before it.
  Step join(const std::vector<Unit>& units, const TargetId& target) const {
    const Unit& last = units.back();
    Step step;
    step.id = "join " + last.module->name.value + " " + to_string(target);
    step.kind = StepKind::kJoin;
    step.module = last.module->name.value;
    step.target = to_string(target);
    step.output = joined_path(*last.module, target);
    step.depfile = joined_depfile_path(*last.module, target);
    step.tool = compiler_of(target);
    step.tool_roles = compiler_roles(target);
    nvidia(last, "joined", target, step);
    for (const Unit& unit : units) {
      add_inputs(unit, step);
      if (&unit != &last) append(step.argv, {"-include", "{src}/" + unit.source});
    }
    step.argv.push_back("{src}/" + last.source);
    std::sort(step.inputs.begin(), step.inputs.end());
    step.inputs.erase(std::unique(step.inputs.begin(), step.inputs.end()), step.inputs.end());
    return step;
  }

 private:
  static Step named(const Unit& unit, const TargetId& target) {
    Step step;
    step.id = "compile " + step_subject(unit) + " " + to_string(target);
    step.kind = StepKind::kCompile;
    step.module = unit.module->name.value;
    step.unit = unit.index;
    step.target = to_string(target);
    step.output = image_path(*unit.module, unit.index, target);
    step.tool = compiler_of(target);
    return step;
  }

  void amd(const Unit& unit, const TargetId& target, Step& step) const {
    const Tool& tool = toolchain_.tool(ToolKind::kHipCompiler);
    step.argv = {"{hipcc}"};
    if (is_hipcc(tool.path)) {
      for (const auto& [name, value] : tool.environment) {
        step.environment.emplace_back(name, in_toolchain(value));
      }
    } else {
      // hipcc adds these options by itself.
      append(step.argv,
             {"--rocm-path={rocm}", "--rocm-device-lib-path={bitcode}", "-mllvm",
              "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false"});
    }
    append(step.argv,
           {"-x", "hip", "--offload-arch=" + to_string(target), "--offload-device-only",
            "--no-gpu-bundle-output",
            target.is_generic() ? "-mcode-object-version=6" : "-mcode-object-version=5", "-O3",
            "-std=c++17",
            // Keeps folder paths out of the output: no id is made from the path, and __FILE__ and
            // debug information are relative to the converted sources.
            "-fuse-cuid=none", "-ffile-prefix-map={out}/hip=.", "-ffile-compilation-dir=."});
    if (manifest_.debug == DebugInfo::kLines) step.argv.push_back("-gline-tables-only");
    if (manifest_.debug == DebugInfo::kFull) step.argv.push_back("-g");
    for (const std::string& directory : unit.include_directories) {
      const bool is_converted =
          std::filesystem::path(directory).is_relative() && !directory.starts_with("..");
      step.argv.push_back("-I" +
                          (is_converted ? folder("{out}/hip", directory) : outside(directory)));
    }
    add_options(unit, &CompileOptions::amd_flags, step);
    append(step.argv, {"-c", "-MD", "-MF", step.depfile, "-o", step.output, hip_path(unit.source)});
    for (const std::string& file : unit.files) {
      step.inputs.push_back(hip_path(file));
      step.after.push_back(hipified_.at(hip_path(file)));
    }
    add_outside(unit, step);
    std::sort(step.after.begin(), step.after.end());
  }

  // Makes nvcc's command line except for the source, which comes last. `name` identifies the source
  // within its module.
  void nvidia(const Unit& unit, const std::string& name, const TargetId& target, Step& step) const {
    const bool is_ptx = target.kind == TargetKind::kPtx;
    step.argv = {"{nvcc}", is_ptx ? "-ptx" : "-cubin", "-arch=" + target.processor, "-O3",
                 "-std=c++17"};
    if (!is_ptx) append(step.argv, {"-Xptxas", "-v"});
    // By default, cicc names functions with internal linkage after a digest of the source's
    // absolute path. This name replaces it: it is as unique, and the same on every machine.
    if (toolchain_.tool(ToolKind::kNvcc).takes_source_name) {
      append(step.argv, {"-Xcicc", std::string(kSourceNameOption) + "," + unit.module->name.value +
                                       "." + name});
    }
    add_debug_information(step);
    include_from_source(unit, step);
    add_options(unit, &CompileOptions::nvidia_flags, step);
    append(step.argv, {"-MD", "-MF", step.depfile, "-o", step.output});
    add_inputs(unit, step);
  }

  // Adds the files that a compiler of the unconverted sources reads.
  static void add_inputs(const Unit& unit, Step& step) {
    for (const std::string& file : unit.files) step.inputs.push_back("{src}/" + file);
    add_outside(unit, step);
  }
  static void add_outside(const Unit& unit, Step& step) {
    for (const std::string& file : unit.outside) step.inputs.push_back(outside(file));
    std::sort(step.inputs.begin(), step.inputs.end());
  }

  // Adds nvcc's options.
  void add_debug_information(Step& step) const {
    if (manifest_.debug == DebugInfo::kLines) step.argv.push_back("-lineinfo");
    if (manifest_.debug == DebugInfo::kFull) step.argv.push_back("-G");
  }

  // Compiles the unconverted sources.
  void host(const Unit& unit, const TargetId& target, Step& step) const {
    step.argv = {"{host-compiler}"};
    append(step.argv, host_compile_flags(target.wave64));
    if (manifest_.debug == DebugInfo::kLines) step.argv.push_back("-g1");
    if (manifest_.debug == DebugInfo::kFull) step.argv.push_back("-g");
    // Makes debug information relative to the sources, whichever path led the compiler to this
    // folder.
    step.environment.emplace_back("PWD", "/proc/self/cwd");
    step.argv.push_back("-ffile-prefix-map=/proc/self/cwd=.");
    include_from_source(unit, step);
    add_options(unit, &CompileOptions::host_flags, step);
    append(step.argv, {"-MD", "-MF", step.depfile, "-o", step.output, "{src}/" + unit.source});
    append(step.argv, host_link_flags());
    add_inputs(unit, step);
  }

  static void include_from_source(const Unit& unit, Step& step) {
    for (const std::string& directory : unit.include_directories) {
      step.argv.push_back("-I" + (std::filesystem::path(directory).is_relative()
                                      ? folder("{src}", directory)
                                      : directory));
    }
  }

  static std::string folder(const std::string& root, const std::string& directory) {
    return directory == "." ? root : root + "/" + directory;
  }

  static std::string outside(const std::string& path) {
    return std::filesystem::path(path).is_absolute() ? path : "{src}/" + path;
  }

  // Replaces the toolchain's folders by names, so that steps are the same wherever they are
  // installed.
  std::string in_toolchain(const std::string& value) const {
    if (value == toolchain_.rocm_path) return "{rocm}";
    if (value == toolchain_.device_library_path) return "{bitcode}";
    return value;
  }

  using Flags = std::vector<Located<std::string>> CompileOptions::*;

  // Adds the manifest's options first and the module's after them, because a later option wins.
  void add_options(const Unit& unit, Flags vendor_flags, Step& step) const {
    for (const CompileOptions* options : {&manifest_.options, &unit.module->options}) {
      for (const auto& define : options->defines) {
        const bool is_nvcc = step.tool == ToolKind::kNvcc;
        const std::string word = is_nvcc ? nvcc_define(define.value) : define.value;
        step.argv.push_back("-D" + without_placeholders(word));
      }
      add_flags(*options, vendor_flags, step);
    }
  }
  static void add_flags(const CompileOptions& options, Flags vendor_flags, Step& step) {
    for (const Flags flags : {&CompileOptions::flags, vendor_flags}) {
      for (const auto& flag : options.*flags) step.argv.push_back(without_placeholders(flag.value));
    }
  }

  const Manifest& manifest_;
  const Toolchain& toolchain_;
  std::map<std::string, std::uint32_t> hipified_;  // output -> position in the plan
};

}  // namespace

std::vector<Step> plan_compile(const Manifest& manifest, const Toolchain& toolchain,
                               const std::vector<Unit>& units, const std::vector<Step>& hipify) {
  const Compiles compiles(manifest, toolchain, hipify);
  std::vector<Step> steps;
  for (const Unit& unit : units) {
    const std::vector<TargetId> targets =
        sorted_targets(manifest, unit,
                       {TargetKind::kAmd, TargetKind::kCubin, TargetKind::kPtx, TargetKind::kHost});
    for (const TargetId& target : targets) {
      if (target.kind == TargetKind::kPtx && contains(targets, cubin_of(target))) continue;
      if (target.kind == TargetKind::kCubin && contains(targets, ptx_of(target))) {
        const auto position = static_cast<std::uint32_t>(hipify.size() + steps.size());
        steps.push_back(compiles.compile(unit, ptx_of(target)));
        steps.push_back(compiles.assemble(unit, target, steps.back().output, position));
      } else {
        steps.push_back(compiles.compile(unit, target));
      }
    }
  }
  return steps;
}

std::vector<Step> plan_joined_ptx(const Manifest& manifest, const Toolchain& toolchain,
                                  const std::vector<Unit>& units) {
  std::vector<Step> steps;
  if (manifest.joined_ptx == JoinedPtx::kNo) return steps;
  const Compiles compiles(manifest, toolchain, {});
  for (auto first = units.begin(); first != units.end();) {
    const auto last = std::find_if(first, units.end(),
                                   [&](const Unit& unit) { return unit.module != first->module; });
    if (last - first > 1) {
      for (const TargetId& target : sorted_targets(manifest, *first, {TargetKind::kPtx})) {
        steps.push_back(compiles.join({first, last}, target));
      }
    }
    first = last;
  }
  return steps;
}

bool makes_ptx(const Step& step) {
  return (step.kind == StepKind::kCompile || step.kind == StepKind::kJoin) &&
         step.output.ends_with(".ptx");
}

std::vector<TargetId> sorted_targets(const Manifest& manifest, const Unit& unit,
                                     std::initializer_list<TargetKind> kinds) {
  std::vector<TargetId> targets;
  for (const Located<TargetId>& target : unit.targets(manifest)) {
    if (std::find(kinds.begin(), kinds.end(), target.value.kind) != kinds.end()) {
      targets.push_back(target.value);
    }
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

std::string step_subject(const Unit& unit) {
  const std::string name = unit_name(*unit.module, unit.index);
  return unit.module->name.value + (name.empty() ? "" : "." + name);
}

}  // namespace kiln::tools
