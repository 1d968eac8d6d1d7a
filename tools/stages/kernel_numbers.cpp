#include "tools/stages/kernel_numbers.hpp"

#include <algorithm>

#include "base/demangle.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

std::string spell(const std::optional<std::uint32_t>& number) { return number ? std::to_string(*number) : "null"; }

}  // namespace

std::string add_printed_numbers(const ImageInfo& catalog, ImageInfo& image) {
  std::string first;
  for (KernelInfo& kernel : image.kernels) {
    const auto recorded = std::ranges::find(catalog.kernels, kernel.name, &KernelInfo::name);
    if (recorded == catalog.kernels.end()) continue;
    for (const KernelNumber& number : kKernelNumbers) {
      std::optional<std::uint32_t>& own = kernel.*number.member;
      const std::optional<std::uint32_t>& other = *recorded.*number.member;
      const bool may_be_printed = number.is_printed && image.format == ImageFormat::kCubin;
      if (!own && may_be_printed) own = other;
      if (own == other || !first.empty()) continue;
      first = "kernel " + quote(with_demangled(kernel.name)) + ": " + std::string(number.key) + " is " +
              spell(own) + ", and " + spell(other) + " in the catalog";
    }
  }
  return first;
}

}  // namespace kiln::tools
