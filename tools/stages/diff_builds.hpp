// diff_builds: compares the catalogs of two builds from the view of their users.
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

// The parameters as the catalogs describe them: "(u64 numel, const f32* inp)".
struct SignatureChange {
  KernelName kernel;
  std::string before, after;
  // The kernel's name in the second build. The name of a C++ kernel includes its parameters, so a
  // change of parameters removes one name and adds another that reads the same. Both names are also
  // in the lists of removed and added kernels.
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

// kThreads is the largest block size. For it, smaller is worse.
enum class Resource : std::uint8_t { kRegisters, kSpills, kShared, kStack, kThreads };
std::string_view to_string(Resource resource);  // "registers", "spills", "shared", "stack", "threads"

struct ResourceChange {
  KernelName kernel;
  std::string target;
  Resource resource = Resource::kRegisters;
  std::uint64_t before = 0, after = 0;
};

// Only the differences; each list is sorted. Images, sizes and resources cover only what both
// builds have.
struct BuildDiff {
  std::vector<std::string> added_targets, removed_targets;
  std::vector<KernelName> added_kernels, removed_kernels;
  std::vector<SignatureChange> signatures;
  std::vector<ImageName> images;  // images whose bytes differ
  std::vector<SizeChange> sizes;  // the images among them whose size differs
  std::vector<ResourceChange> resources;
  std::uint64_t total_before = 0, total_after = 0;  // sizes of all images together
  bool is_empty() const;
  // True if a signature change names the kernel, before or after.
  bool is_renamed(const KernelName& name) const;
};

BuildDiff diff_builds(const std::vector<ImageSummary>& before,
                      const std::vector<ImageSummary>& after);

Json diff_json(const BuildDiff& diff);

// The limits for regressions. A number is the increase that is still allowed or, for threads, the
// decrease.
struct RegressionLimits {
  bool removed = false, signature = false;
  std::optional<std::uint64_t> size_percent;
  std::optional<std::uint64_t> registers, spills, shared, stack, threads;
};

// Parses "removed", "signature", "size=5%", "size", "registers=8", "spills", "shared", "stack" or
// "threads" and adds the limit to `limits`. Errors: kInvalidInput.
Result<void> add_regression_limit(const std::string& text, RegressionLimits& limits);

// Returns one line per regression. Within a kind, the worst comes first.
std::vector<std::string> regressions(const BuildDiff& diff, const RegressionLimits& limits);

}  // namespace kiln::tools
