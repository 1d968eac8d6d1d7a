// diff_builds: the catalogs of two builds -> what a user of the first meets in the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/json/json.hpp"
#include "tools/stages/catalog_json.hpp"

namespace kiln::tools {

struct KernelName {
  std::string module, kernel;
  auto operator<=>(const KernelName&) const = default;
};

// Parameters as the catalogs tell them: "(u64 numel, const f32* inp)".
struct SignatureChange {
  KernelName kernel;
  std::string before, after;
  // The name in the second build. A C++ kernel has its parameters in its name: where one is gone, and one
  // has come that a person would call the same, it is this one; both are also in the lists of kernels.
  std::string after_kernel;
  bool is_renamed() const { return after_kernel != kernel.kernel; }
};

// The images of a module for one target.
struct ImageName {
  std::string module, target;
  auto operator<=>(const ImageName&) const = default;
};
struct SizeChange {
  std::string module, target;
  std::uint64_t before = 0, after = 0;
};

// kThreads is the most threads of a block: of it, less is worse.
enum class Resource : std::uint8_t { kRegisters, kSpills, kShared, kStack, kThreads };
std::string_view to_string(Resource resource);  // "registers", "spills", "shared", "stack", "threads"

struct ResourceChange {
  KernelName kernel;
  std::string target;
  Resource resource = Resource::kRegisters;
  std::uint64_t before = 0, after = 0;
};

// Only what differs; each list sorted. Images, sizes and resources are of what both builds have.
struct BuildDiff {
  std::vector<std::string> added_targets, removed_targets;
  std::vector<KernelName> added_kernels, removed_kernels;
  std::vector<SignatureChange> signatures;
  std::vector<ImageName> images;  // whose bytes differ
  std::vector<SizeChange> sizes;  // of those, the ones with more or fewer bytes
  std::vector<ResourceChange> resources;
  std::uint64_t total_before = 0, total_after = 0;  // of all images
  bool is_empty() const;
  // Whether the kernel is one that a signature change tells of, by its name before or after.
  bool is_renamed(const KernelName& name) const;
};

BuildDiff diff_builds(const std::vector<ImageSummary>& before,
                      const std::vector<ImageSummary>& after);

Json diff_json(const BuildDiff& diff);

// What counts as a regression. A number is how much more, of threads how many fewer, is still none.
struct RegressionLimits {
  bool removed = false, signature = false;
  std::optional<std::uint64_t> size_percent;
  std::optional<std::uint64_t> registers, spills, shared, stack, threads;
};

// "removed", "signature", "size=5%", "size", "registers=8", "spills", "shared", "stack", "threads": adds
// to `limits`. Errors: kInvalidInput.
Result<void> add_regression_limit(const std::string& text, RegressionLimits& limits);

// One line each, the worst first within its kind.
std::vector<std::string> regressions(const BuildDiff& diff, const RegressionLimits& limits);

}  // namespace kiln::tools
