#include "tools/stages/check_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/offload_bundle.hpp"
#include "formats/ptx_isa.hpp"
#include "tools/stages/parse_limits.hpp"

namespace kiln::tools {
namespace {

// The first CUDA release that supports a compute capability. Source: nvcc's release notes.
struct ChipRelease {
  int capability;
  std::uint32_t cuda;
};
constexpr std::array<ChipRelease, 11> kChips = {{{86, 11010},
                                                 {87, 11040},
                                                 {89, 11080},
                                                 {90, 11080},
                                                 {100, 12080},
                                                 {101, 12080},
                                                 {120, 12080},
                                                 {103, 12090},
                                                 {121, 12090},
                                                 {88, 13000},
                                                 {110, 13000}}};

// The first ROCm whose own compilers make a version of code objects, or of compressed bundles, by
// default and without a warning. An older ROCm may load such files, but no document says so.
struct VersionRelease {
  std::string_view version;
  std::uint32_t rocm;
};
constexpr std::array<VersionRelease, 3> kCodeObjects = {
    {{"code object v4", 4010}, {"code object v5", 6000}, {"code object v6", 6040}}};
constexpr std::array<VersionRelease, 3> kCompressedBundles = {
    {{"1", 6010}, {"2", 6020}, {"3", 7000}}};

// A driver loads the cubins of every toolkit with its own major version.
std::uint32_t floor_of_cubin(int capability, std::string_view nvcc) {
  std::uint32_t major = 0;
  std::from_chars(nvcc.data(), nvcc.data() + nvcc.size(), major);
  std::uint32_t cuda = 1000 * major;
  for (const ChipRelease& chip : kChips) {
    if (chip.capability == capability) cuda = std::max(cuda, chip.cuda);
  }
  return cuda;
}

struct Excess {
  std::uint64_t amount = 0;
  std::string text;
};
using Excesses = std::vector<Excess>;

constexpr std::size_t kMaxShown = 10;

// Makes one error for everything that exceeds one number of a budget.
std::optional<Error> exceeded(std::string_view key, std::uint64_t limit, const std::string& owner,
                              Excesses excesses) {
  if (excesses.empty()) return std::nullopt;
  std::ranges::stable_sort(excesses, std::greater<>{}, &Excess::amount);
  Error error{
      .code = ErrorCode::kBuildFailed,
      .message = "the budget " + quote(key) + " of " + owner + " is " + std::to_string(limit) +
                 ", and " +
                 (excesses.size() == 1 ? "one thing exceeds"
                                       : std::to_string(excesses.size()) + " things exceed") +
                 " it"};
  for (std::size_t i = 0; i < std::min(excesses.size(), kMaxShown); ++i) {
    error.note(excesses[i].text);
  }
  if (excesses.size() > kMaxShown) {
    error.note("and " + std::to_string(excesses.size() - kMaxShown) + " more");
  }
  return error;
}

std::uint64_t spills_of(const KernelInfo& kernel) {
  return std::uint64_t{kernel.spill_stores.value_or(0)} + kernel.spill_loads.value_or(0) +
         kernel.scalar_spills.value_or(0);
}

// Returns the kernels in the images of a module that take more than `limit`.
Excesses kernels_over(const Module& module, std::uint64_t limit, std::string_view unit,
                      const std::function<std::uint64_t(const KernelInfo&)>& amount) {
  Excesses excesses;
  for (const Artifact& image : module.images) {
    for (const KernelInfo& kernel : image.info.kernels) {
      const std::uint64_t taken = amount(kernel);
      if (taken <= limit) continue;
      excesses.push_back({taken, quote(with_demangled(kernel.name)) + " in " + quote(image.path) +
                                     ": " + std::to_string(taken) + " " + std::string(unit)});
    }
  }
  return excesses;
}

std::uint64_t size_of(const Module& module) {
  std::uint64_t size = 0;
  for (const Artifact& image : module.images) size += image.bytes.size();
  return size;
}

void check_module(const Module& module, const Budgets& budgets, std::vector<Error>& errors) {
  const std::string owner = "module " + quote(module.name);
  const auto add = [&](std::string_view key, const std::optional<std::uint64_t>& limit,
                       const std::function<Excesses(std::uint64_t)>& find) {
    if (!limit) return;
    if (auto error = exceeded(key, *limit, owner, find(*limit))) {
      errors.push_back(std::move(*error));
    }
  };
  add("image_bytes", budgets.image_bytes, [&](std::uint64_t limit) {
    Excesses excesses;
    for (const Artifact& image : module.images) {
      if (image.bytes.size() <= limit) continue;
      excesses.push_back({image.bytes.size(), quote(image.path) + ": " +
                                                  std::to_string(image.bytes.size()) + " bytes"});
    }
    return excesses;
  });
  add("module_bytes", budgets.module_bytes, [&](std::uint64_t limit) {
    const std::uint64_t size = size_of(module);
    return size <= limit ? Excesses{}
                         : Excesses{{size, "its images: " + std::to_string(size) + " bytes"}};
  });
  add("registers", budgets.registers, [&](std::uint64_t limit) {
    return kernels_over(module, limit, "registers",
                        [](const KernelInfo& kernel) { return kernel.registers.value_or(0); });
  });
  add("spills", budgets.spills,
      [&](std::uint64_t limit) { return kernels_over(module, limit, "spilled", spills_of); });
  add("shared_bytes", budgets.shared_bytes, [&](std::uint64_t limit) {
    return kernels_over(module, limit, "bytes",
                        [](const KernelInfo& kernel) { return kernel.shared_bytes.value_or(0); });
  });
}

}  // namespace

Need need_of(const Artifact& image, std::string_view nvcc) {
  Need need;
  switch (image.info.format) {
    case ImageFormat::kPtx:
      need.cuda = static_cast<std::uint32_t>(cuda_of_ptx_isa(image.info.ptx_isa));
      need.why = "it is " + image.info.format_version;
      break;
    case ImageFormat::kCubin:
      need.cuda = floor_of_cubin(image.target.compute_capability(), nvcc);
      need.why = "nvcc " + std::string(nvcc) + " made it";
      break;
    case ImageFormat::kHsaco:
      for (const VersionRelease& row : kCodeObjects) {
        if (row.version == image.info.format_version) need.rocm = row.rocm;
      }
      need.why = "it is " + image.info.format_version;
      break;
    default: break;
  }
  return need;
}

Need need_of_bundle(std::string_view bytes) {
  Need need;
  if (!bytes.starts_with(kCompressedBundleMagic) || bytes.size() < 6) return need;
  const std::string version = std::to_string(static_cast<unsigned char>(bytes[4]));
  need.why = "it is compressed, in version " + version;
  for (const VersionRelease& row : kCompressedBundles) {
    if (row.version == version) need.rocm = row.rocm;
  }
  return need;
}

std::vector<Error> check_floors(const std::string& what, const Need& need, const Floors& floors) {
  std::vector<Error> errors;
  const auto check = [&](std::uint32_t needed, std::uint32_t floor, const char* software,
                         const char* key) {
    if (floor == 0 || needed <= floor) return;
    errors.push_back(
        Error{.code = ErrorCode::kBuildFailed,
              .message = quote(what) + " needs " + software + " " + spell_release(needed) +
                         " or later: " + need.why}
            .note("the manifest's " + quote(key) + " is " + quote(spell_release(floor))));
  };
  check(need.cuda, floors.cuda, "a driver for CUDA", "min_driver");
  check(need.rocm, floors.rocm, "ROCm", "min_rocm");
  return errors;
}

std::vector<Error> check_budgets(const Catalog& catalog) {
  std::vector<Error> errors;
  std::uint64_t total = 0;
  for (const Module& module : catalog.modules) {
    check_module(module, narrowed(catalog.settings.budgets, module.budgets), errors);
    total += size_of(module);
  }
  if (const auto& limit = catalog.settings.budgets.total_bytes; limit && total > *limit) {
    errors.push_back(*exceeded("total_bytes", *limit, "the manifest",
                               {{total, "all images: " + std::to_string(total) + " bytes"}}));
  }
  return errors;
}

}  // namespace kiln::tools
