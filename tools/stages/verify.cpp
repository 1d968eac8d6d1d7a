#include "tools/stages/verify.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/image_format.hpp"

namespace kiln::tools {
namespace {

using Signature = std::vector<Parameter>;
using Kernels = std::map<std::string, Signature>;

bool same_parameter(const Parameter& a, const Parameter& b) {
  const bool kinds_agree =
      a.kind == b.kind || a.kind == ParameterKind::kUnknown || b.kind == ParameterKind::kUnknown;
  return a.offset == b.offset && a.size == b.size && kinds_agree;
}

bool same_signature(const Signature& a, const Signature& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_parameter);
}

// Returns offset and size of each parameter, with a star for a known pointer: "(0:8 8:8* 16:4)".
std::string layout_text(const Signature& signature) {
  std::string text;
  for (const Parameter& parameter : signature) {
    if (!text.empty()) text += ' ';
    text += std::to_string(parameter.offset) + ":" + std::to_string(parameter.size);
    if (parameter.kind == ParameterKind::kPointer) text += '*';
  }
  return "(" + text + ")";
}

Error failed(std::string message) {
  return Error{.code = ErrorCode::kBuildFailed, .message = std::move(message)};
}

void check_target(const Artifact& image, std::vector<Error>& errors) {
  if (image.info.format != format_of(image.target.kind) || image.info.target != image.target) {
    errors.push_back(failed(quote(image.path) + " is an image for " +
                            quote(to_string(image.info.target)) + ", not for " +
                            quote(to_string(image.target)) + " as asked for"));
  }
}

// The kernels of a module for one target, from all units.
struct TargetKernels {
  Kernels kernels;
  std::map<std::string, std::map<std::uint16_t, std::string>> sources;  // by kernel, then by unit
};

std::map<TargetId, TargetKernels> by_target(const std::vector<Artifact>& images) {
  std::map<TargetId, TargetKernels> result;
  for (const Artifact& image : images) {
    TargetKernels& target = result[image.target];
    for (const KernelInfo& kernel : image.info.kernels) {
      target.kernels.emplace(kernel.name, kernel.parameters);
      target.sources[kernel.name].emplace(image.unit, image.source);
    }
  }
  return result;
}

// Returns all kernels that any image exports: the expectation without an abi file. If images know
// different amounts about a parameter, the more specific description counts.
Kernels all_kernels(const std::map<TargetId, TargetKernels>& targets) {
  Kernels result;
  for (const auto& [target, exported] : targets) {
    for (const auto& [name, signature] : exported.kernels) {
      const auto [known, is_new] = result.emplace(name, signature);
      if (is_new || !same_signature(known->second, signature)) continue;
      for (std::size_t i = 0; i < signature.size(); ++i) {
        if (known->second[i].kind == ParameterKind::kUnknown)
          known->second[i].kind = signature[i].kind;
      }
    }
  }
  return result;
}

bool is_exported(const std::string& kernel, const std::map<TargetId, TargetKernels>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [&](const auto& target) { return target.second.kernels.contains(kernel); });
}

bool has_all(const std::map<TargetId, TargetKernels>& targets, const std::vector<AbiKernel>& abi) {
  return std::ranges::all_of(
      abi, [&](const AbiKernel& kernel) { return is_exported(kernel.name, targets); });
}

// Returns the kernels of the abi file, and the kernels with mangled names, which need no abi file
// because the name tells the parameters.
Kernels abi_kernels(const std::vector<AbiKernel>& abi, AbiCoverage coverage,
                    const std::map<TargetId, TargetKernels>& targets) {
  Kernels result = all_kernels(targets);
  std::erase_if(result, [](const auto& kernel) { return !is_mangled(kernel.first); });
  for (const AbiKernel& kernel : abi) {
    if (coverage == AbiCoverage::kSome && !is_exported(kernel.name, targets)) continue;
    Signature& signature = result[kernel.name];
    signature.clear();
    for (const KernelParameter& parameter : kernel.parameters) {
      signature.push_back(parameter.layout);
    }
  }
  return result;
}

std::string size_text(const Parameter& parameter) {
  return (parameter.kind == ParameterKind::kPointer ? "a pointer of " : "") +
         counted(parameter.size, "byte");
}

// Describes where the abi file declares the kernel and the first parameter that differs: " by
// abi.json:4:7; parameter 2 'f32 factor' (4 bytes) has 8 bytes in the image".
std::string first_difference(const std::string& kernel, const Signature& found,
                             const std::vector<AbiKernel>* abi) {
  if (abi == nullptr) return {};
  const auto declared = std::ranges::find(*abi, kernel, &AbiKernel::name);
  if (declared == abi->end()) return {};
  const std::string where = declared->where.file.empty() ? "" : " by " + to_string(declared->where);
  for (std::size_t i = 0; i < declared->parameters.size(); ++i) {
    const KernelParameter& parameter = declared->parameters[i];
    const bool is_present = i < found.size();
    if (is_present && same_parameter(parameter.layout, found[i])) continue;
    std::string text = where + "; parameter " + std::to_string(i + 1);
    if (parameter.type.is_known())
      text += " '" + to_string(parameter.type) + ' ' + parameter.name + '\'';
    text += " (" + size_text(parameter.layout) + ")";
    if (!is_present) return text + " is not in the image";
    text += " has " + size_text(found[i]) + " in the image";
    if (found.size() != declared->parameters.size()) {
      text += ", where the kernel has " + counted(found.size(), "parameter") + ", not " +
              std::to_string(declared->parameters.size());
    }
    if (found[i].offset != parameter.layout.offset) text += ", at another place";
    return text;
  }
  return where;
}

// Adds hints for kernels of the abi file that no target has: an exported kernel of the same name
// without extern "C", or one that is not in the file and whose name is the nearest, in both
// directions.
void suggest(const std::map<TargetId, TargetKernels>& targets, const std::vector<AbiKernel>& abi,
             Error& error) {
  constexpr std::size_t kMax = 16;  // limit for either list, because all pairs are compared
  std::vector<std::string> missing, unexpected;
  for (const AbiKernel& kernel : abi) {
    if (!is_exported(kernel.name, targets)) missing.push_back(kernel.name);
  }
  for (const auto& [name, signature] : all_kernels(targets)) {
    if (std::ranges::find(abi, name, &AbiKernel::name) == abi.end()) unexpected.push_back(name);
  }
  if (missing.size() > kMax && unexpected.size() > kMax) return;
  const auto hint = [&](const std::string& name, const std::string& text) {
    error.hint("no image has " + quote(with_demangled(name)) + text);
    error.notes.back().where = std::ranges::find(abi, name, &AbiKernel::name)->where;
  };
  for (const std::string& name : missing) {
    const auto same = std::ranges::find(unexpected, name, demangled);
    if (same != unexpected.end()) {
      hint(name, ", but " + quote(with_demangled(*same)) +
                     ": write extern \"C\" before it, or take it out of the file");
      continue;
    }
    const std::string near = nearest(name, unexpected);
    if (!near.empty() && nearest(near, missing) == name) {
      hint(name, ": did you mean " + quote(with_demangled(near)) + "?");
    }
  }
}

// Returns the error that several sources of the module define the same kernel for some target.
std::optional<Error> defined_twice(const std::string& module,
                                   const std::map<TargetId, TargetKernels>& targets) {
  std::map<std::string, std::set<std::string>> sources;
  for (const auto& [target, found] : targets) {
    for (const auto& [name, units] : found.sources) {
      if (units.size() < 2) continue;
      for (const auto& [unit, source] : units) sources[name].insert(quote(source));
    }
  }
  if (sources.empty()) return std::nullopt;
  Error error = failed("module " + quote(module) + ": two of its sources define the same kernel");
  for (const auto& [name, files] : sources) {
    error.note(quote(with_demangled(name)) + " is in " +
               join(std::vector(files.begin(), files.end()), " and "));
  }
  return error.hint("rename one of them, or put the sources into two modules");
}

bool has_hip_vectors(const std::string& kernel) {
  return kernel.find("15HIP_vector_type") != std::string::npos;
}

// True if the kernel is static or in an unnamed namespace.
bool has_internal_linkage(const std::string& kernel) {
  return kernel.starts_with("_ZL") || kernel.find("_GLOBAL__N_") != std::string::npos;
}

// Returns a note on what is wrong with a target's kernels, or nothing.
std::optional<std::string> compare(const TargetId& target, const TargetKernels& found,
                                   const Kernels& expected, const std::vector<AbiKernel>* abi) {
  std::vector<std::string> missing, unexpected, different;
  for (const auto& [name, signature] : expected) {
    const auto kernel = found.kernels.find(name);
    if (kernel == found.kernels.end()) {
      missing.push_back(with_demangled(name));
    } else if (!same_signature(kernel->second, signature)) {
      different.push_back(with_demangled(name) + " has " + layout_text(kernel->second) +
                          ", expected " + layout_text(signature) +
                          first_difference(name, kernel->second, abi));
    }
  }
  for (const auto& [name, signature] : found.kernels) {
    if (!expected.contains(name)) unexpected.push_back(with_demangled(name));
  }
  std::string text;
  const auto append = [&](std::string_view what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += "\n  " + std::string(what) + ": " + join(names, ", ");
  };
  append("missing", missing);
  append("unexpected", unexpected);
  append("other parameters (offset:size, * for a pointer)", different);
  if (text.empty()) return std::nullopt;
  return to_string(target) + ":" + text;
}

}  // namespace

Result<void> verify_module(const std::string& module, const std::vector<Artifact>& images,
                           const std::vector<AbiKernel>* abi, AbiCoverage coverage) {
  std::vector<Error> errors;
  for (const Artifact& image : images) check_target(image, errors);
  const std::map<TargetId, TargetKernels> targets = by_target(images);
  const Kernels expected =
      abi != nullptr ? abi_kernels(*abi, coverage, targets) : all_kernels(targets);
  if (errors.empty() && expected.empty() && all_kernels(targets).empty()) {
    return failed("module " + quote(module) + " has no kernels")
        .hint(
            "a kernel is a function for all to see, __global__ void name(...); a template is one "
            "where it is instantiated: template __global__ void name<float>(...)");
  }
  if (std::optional<Error> twice = defined_twice(module, targets))
    errors.push_back(*std::move(twice));
  Error differences = failed("module " + quote(module) +
                             (abi != nullptr ? ": its kernels are not those of the abi file"
                                             : ": its images do not all have the same kernels"));
  for (const auto& [target, kernels] : targets) {
    if (std::optional<std::string> note = compare(target, kernels, expected, abi)) {
      differences.note(std::move(*note));
    }
  }
  if (!differences.notes.empty()) {
    if (abi != nullptr) {
      suggest(targets, *abi, differences);
      differences.hint("change the kernels, or what the manifest's 'abi' file says of them");
    } else if (std::ranges::any_of(
                   expected, [](const auto& kernel) { return has_hip_vectors(kernel.first); })) {
      differences.hint(
          "float4 and its kin are templates in HIP, so a kernel that takes them has another "
          "mangled name there: "
          "make it extern \"C\", or pass float*");
    } else if (std::ranges::any_of(expected, [](const auto& kernel) {
                 return has_internal_linkage(kernel.first);
               })) {
      differences.hint(
          "a kernel that is static, or in a namespace without a name, has another mangled name "
          "from each compiler: "
          "let it be for all to see");
    } else {
      differences.hint("a kernel behind an #if of one vendor or architecture is missing elsewhere");
    }
    errors.push_back(std::move(differences));
  } else if (coverage == AbiCoverage::kSome && abi != nullptr && has_all(targets, *abi)) {
    errors.push_back(failed("module " + quote(module) + " has every kernel of the abi file")
                         .hint("remove its 'partial' from the manifest, so that none gets lost"));
  }
  if (errors.empty()) return {};
  return merge_errors(std::move(errors));
}

Result<void> verify_joined(const std::string& module, const std::vector<Artifact>& images,
                           const Artifact& joined) {
  const std::map<TargetId, TargetKernels> targets = by_target(images);
  const auto of_sources = targets.find(joined.target);
  const TargetKernels found = by_target({joined}).at(joined.target);
  const Kernels expected = of_sources == targets.end() ? Kernels{} : of_sources->second.kernels;
  std::optional<std::string> note = compare(joined.target, found, expected, nullptr);
  if (!note) return {};
  return failed("module " + quote(module) + ": " + quote(joined.path) +
                " does not have the kernels of its sources")
      .note(std::move(*note))
      .hint(
          "all sources of a module are one translation unit there: a macro or name of one may "
          "change another");
}

}  // namespace kiln::tools
