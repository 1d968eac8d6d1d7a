#include "base/processor.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "base/text.hpp"

namespace kiln {
namespace {

// Of x86 first, then of ARM and RISC-V.
constexpr std::array<std::string_view, 15> kFacts = {
    "vendor_id",        "cpu family",  "model",        "model name", "stepping",
    "cache size",       "flags",       "Features",     "CPU part",   "CPU implementer",
    "CPU architecture", "CPU variant", "CPU revision", "isa",        "uarch"};

}  // namespace

bool asks_for_native(std::string_view options) {
  return options.find("=native") != std::string_view::npos;
}

std::string processor_facts(std::string_view cpuinfo) {
  std::string facts;
  for (const std::string_view line : split(cpuinfo.substr(0, cpuinfo.find("\n\n")), '\n')) {
    const std::string_view name = trim(line.substr(0, line.find(':')));
    if (std::find(kFacts.begin(), kFacts.end(), name) == kFacts.end()) continue;
    facts.append(line).append("\n");
  }
  return facts;
}

const std::string& this_processor() {
  static const std::string facts = [] {
    std::ifstream file("/proc/cpuinfo");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return processor_facts(text);
  }();
  return facts;
}

}  // namespace kiln
