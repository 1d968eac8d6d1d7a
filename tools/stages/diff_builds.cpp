#include "tools/stages/diff_builds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

constexpr std::array<std::string_view, 5> kResources = {"registers", "spills", "shared", "stack", "threads"};

// Used if an image has no bound: what every NVIDIA GPU supports.
constexpr std::uint32_t kThreadsWithoutBound = 1024;

std::optional<std::uint64_t> amount_of(const KernelInfo& kernel, Resource resource) {
  switch (resource) {
    case Resource::kRegisters: return kernel.registers;
    case Resource::kShared: return kernel.shared_bytes;
    case Resource::kStack: return kernel.stack_bytes;
    case Resource::kThreads: return kernel.max_threads.value_or(kThreadsWithoutBound);
    case Resource::kSpills: break;
  }
  if (!kernel.spill_stores && !kernel.spill_loads && !kernel.scalar_spills) return std::nullopt;
  return std::uint64_t{kernel.spill_stores.value_or(0)} + kernel.spill_loads.value_or(0) +
         kernel.scalar_spills.value_or(0);
}

struct Summary {
  std::set<std::string> targets;
  std::map<KernelName, std::string> signatures;
  struct Images {
    std::uint64_t size = 0;
    std::vector<Digest> digests;  // sorted
    bool operator==(const Images&) const = default;
  };
  std::map<ImageName, Images> images;
  std::map<std::pair<KernelName, std::string>, const KernelInfo*> kernels;  // by kernel and target
  std::uint64_t total = 0;
};

Summary summarize(const std::vector<ImageSummary>& images) {
  Summary summary;
  for (const ImageSummary& image : images) {
    const std::string target = to_string(image.info.target);
    summary.targets.insert(target);
    Summary::Images& module_images = summary.images[{image.module, target}];
    module_images.size += image.size;
    module_images.digests.push_back(image.digest);
    summary.total += image.size;
    for (std::size_t i = 0; i < image.info.kernels.size(); ++i) {
      const KernelInfo& kernel = image.info.kernels[i];
      const KernelName name{image.module, kernel.name};
      const std::string signature = i < image.signatures.size() ? image.signatures[i] : "";
      summary.signatures.emplace(name, signature);
      summary.kernels[{name, target}] = &kernel;
    }
  }
  for (auto& [name, module_images] : summary.images) std::ranges::sort(module_images.digests);
  return summary;
}

template <typename Map, typename Key>
std::vector<Key> only_in(const Map& a, const Map& b) {
  std::vector<Key> keys;
  for (const auto& [key, value] : a) {
    if (!b.contains(key)) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> only_in(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> keys;
  std::ranges::set_difference(a, b, std::back_inserter(keys));
  return keys;
}

// Pairs of removed and added kernels whose mangled names differ but whose readable names are equal.
// Ignores readable names that are not unique on both sides.
std::vector<std::pair<KernelName, KernelName>> renamed(const std::vector<KernelName>& removed,
                                                       const std::vector<KernelName>& added) {
  using ByReadableName = std::map<KernelName, std::vector<const KernelName*>>;
  const auto by_readable_name = [](const std::vector<KernelName>& names) {
    ByReadableName result;
    for (const KernelName& name : names) {
      if (std::string readable = demangled(name.kernel); !readable.empty()) {
        result[{name.module, std::move(readable)}].push_back(&name);
      }
    }
    return result;
  };
  const ByReadableName added_by_name = by_readable_name(added);
  std::vector<std::pair<KernelName, KernelName>> pairs;
  for (const auto& [readable, names] : by_readable_name(removed)) {
    const auto other = added_by_name.find(readable);
    if (names.size() != 1 || other == added_by_name.end() || other->second.size() != 1) continue;
    pairs.emplace_back(*names.front(), *other->second.front());
  }
  return pairs;
}

Json::Object kernel_json(const KernelName& name) {
  Json::Object object{{"module", name.module}, {"kernel", name.kernel}};
  if (std::string readable = demangled(name.kernel); !readable.empty()) {
    object.push_back({"demangled", std::move(readable)});
  }
  return object;
}

Json::Array names_json(const std::vector<KernelName>& names) {
  Json::Array array;
  for (const KernelName& name : names) array.push_back(kernel_json(name));
  return array;
}

Json::Array texts_json(const std::vector<std::string>& texts) {
  return Json::Array(texts.begin(), texts.end());
}

std::string spell(const KernelName& name) {
  return quote(name.module + "." + with_demangled(name.kernel));
}

std::string spell_change(std::uint64_t before, std::uint64_t after) {
  return std::to_string(before) + " -> " + std::to_string(after);
}

}  // namespace

std::string_view to_string(Resource resource) {
  return kResources[static_cast<std::size_t>(resource)];
}

bool BuildDiff::is_empty() const {
  return added_targets.empty() && removed_targets.empty() && added_kernels.empty() &&
         removed_kernels.empty() && signatures.empty() && images.empty() && resources.empty();
}

bool BuildDiff::is_renamed(const KernelName& name) const {
  return std::ranges::any_of(signatures, [&](const SignatureChange& change) {
    return change.is_renamed() && change.kernel.module == name.module &&
           (change.kernel.kernel == name.kernel || change.after_kernel == name.kernel);
  });
}

BuildDiff diff_builds(const std::vector<ImageSummary>& before,
                      const std::vector<ImageSummary>& after) {
  const Summary a = summarize(before), b = summarize(after);
  BuildDiff diff;
  diff.total_before = a.total;
  diff.total_after = b.total;
  diff.added_targets = only_in(b.targets, a.targets);
  diff.removed_targets = only_in(a.targets, b.targets);
  using Signatures = decltype(a.signatures);
  diff.added_kernels = only_in<Signatures, KernelName>(b.signatures, a.signatures);
  diff.removed_kernels = only_in<Signatures, KernelName>(a.signatures, b.signatures);
  for (const auto& [name, signature] : a.signatures) {
    const auto other = b.signatures.find(name);
    if (other != b.signatures.end() && other->second != signature) {
      diff.signatures.push_back({name, signature, other->second, name.kernel});
    }
  }
  for (const auto& [from, to] : renamed(diff.removed_kernels, diff.added_kernels)) {
    diff.signatures.push_back({from, a.signatures.at(from), b.signatures.at(to), to.kernel});
  }
  std::ranges::sort(diff.signatures, {}, &SignatureChange::kernel);
  for (const auto& [name, images] : a.images) {
    const auto other = b.images.find(name);
    if (other == b.images.end() || other->second == images) continue;
    diff.images.push_back(name);
    if (other->second.size == images.size) continue;
    diff.sizes.push_back({name.module, name.target, images.size, other->second.size});
  }
  for (const auto& [key, kernel] : a.kernels) {
    const auto other = b.kernels.find(key);
    if (other == b.kernels.end()) continue;
    for (std::size_t i = 0; i < kResources.size(); ++i) {
      const auto resource = static_cast<Resource>(i);
      const auto old_amount = amount_of(*kernel, resource);
      const auto new_amount = amount_of(*other->second, resource);
      if (!old_amount || !new_amount || *old_amount == *new_amount) continue;
      diff.resources.push_back({key.first, key.second, resource, *old_amount, *new_amount});
    }
  }
  return diff;
}

Json diff_json(const BuildDiff& diff) {
  Json::Array signatures, images, sizes, resources;
  for (const SignatureChange& change : diff.signatures) {
    Json::Object object = kernel_json(change.kernel);
    if (change.is_renamed()) object.push_back({"after_kernel", change.after_kernel});
    object.push_back({"before", change.before});
    object.push_back({"after", change.after});
    signatures.push_back(std::move(object));
  }
  for (const ImageName& name : diff.images) {
    images.push_back(Json::Object{{"module", name.module}, {"target", name.target}});
  }
  for (const SizeChange& change : diff.sizes) {
    sizes.push_back(Json::Object{{"module", change.module},
                                 {"target", change.target},
                                 {"before", change.before},
                                 {"after", change.after}});
  }
  for (const ResourceChange& change : diff.resources) {
    Json::Object object = kernel_json(change.kernel);
    object.push_back({"target", change.target});
    object.push_back({"resource", to_string(change.resource)});
    object.push_back({"before", change.before});
    object.push_back({"after", change.after});
    resources.push_back(std::move(object));
  }
  return Json::Object{
      {"format", 1},
      {"added_targets", texts_json(diff.added_targets)},
      {"removed_targets", texts_json(diff.removed_targets)},
      {"added_kernels", names_json(diff.added_kernels)},
      {"removed_kernels", names_json(diff.removed_kernels)},
      {"signatures", std::move(signatures)},
      {"images", std::move(images)},
      {"sizes", std::move(sizes)},
      {"resources", std::move(resources)},
      {"total", Json::Object{{"before", diff.total_before}, {"after", diff.total_after}}}};
}

Result<void> add_regression_limit(const std::string& text, RegressionLimits& limits) {
  const std::string key = text.substr(0, text.find('='));
  std::string_view number = std::string_view(text).substr(std::min(text.size(), key.size() + 1));
  const bool has_number = text.find('=') != std::string::npos;
  if (key == "size" && number.ends_with('%')) number.remove_suffix(1);
  const auto parsed = parse_integer<std::uint64_t>(number);
  const std::uint64_t amount = parsed.value_or(0);
  const auto refuse = [&] {
    return Error{ErrorCode::kInvalidInput, "--fail-on cannot be " + quote(text)}.hint(
        "it is removed, signature, size[=N%], registers[=N], spills[=N], shared[=N], stack[=N] or "
        "threads[=N], with a whole number N");
  };
  if (has_number && !parsed) return refuse();
  if (key == "removed" || key == "signature") {
    if (has_number) return refuse();
    (key == "removed" ? limits.removed : limits.signature) = true;
  } else if (key == "size") {
    limits.size_percent = amount;
  } else if (key == "registers") {
    limits.registers = amount;
  } else if (key == "spills") {
    limits.spills = amount;
  } else if (key == "shared") {
    limits.shared = amount;
  } else if (key == "stack") {
    limits.stack = amount;
  } else if (key == "threads") {
    limits.threads = amount;
  } else {
    return refuse();
  }
  return {};
}

std::vector<std::string> regressions(const BuildDiff& diff, const RegressionLimits& limits) {
  std::vector<std::string> lines;
  if (limits.removed) {
    for (const KernelName& kernel : diff.removed_kernels) {
      // the signature line below says more
      if (limits.signature && diff.is_renamed(kernel)) continue;
      lines.push_back("kernel " + spell(kernel) + " was removed");
    }
    for (const std::string& target : diff.removed_targets) {
      lines.push_back("target " + quote(target) + " was removed");
    }
  }
  if (limits.signature) {
    for (const SignatureChange& change : diff.signatures) {
      lines.push_back("kernel " + spell(change.kernel) +
                      " takes other parameters: " + change.before + " -> " + change.after);
    }
  }
  if (limits.size_percent) {
    for (const SizeChange& change : diff.sizes) {
      if (change.after * 100 <= change.before * (100 + *limits.size_percent)) continue;
      lines.push_back("module " + quote(change.module) + " for " + change.target + ": " +
                      spell_change(change.before, change.after) + " bytes");
    }
  }
  const std::array<std::optional<std::uint64_t>, kResources.size()> allowed = {
      limits.registers, limits.spills, limits.shared, limits.stack, limits.threads};
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    if (!allowed[i]) continue;
    // By how much a change is worse; negative if it is better.
    const auto regression = [](const ResourceChange* change) {
      const auto increase = static_cast<std::int64_t>(change->after - change->before);
      return change->resource == Resource::kThreads ? -increase : increase;
    };
    std::vector<const ResourceChange*> worse;
    for (const ResourceChange& change : diff.resources) {
      if (change.resource != static_cast<Resource>(i) || regression(&change) <= 0) continue;
      if (static_cast<std::uint64_t>(regression(&change)) > *allowed[i]) worse.push_back(&change);
    }
    std::ranges::stable_sort(worse, std::greater<>{}, regression);
    for (const ResourceChange* change : worse) {
      lines.push_back("kernel " + spell(change->kernel) + " for " + change->target + ": " +
                      std::string(kResources[i]) + " " +
                      spell_change(change->before, change->after));
    }
  }
  return lines;
}

}  // namespace kiln::tools
