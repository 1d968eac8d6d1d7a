#include "formats/target_id.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"

namespace kiln {
namespace {

// EF_AMDGPU_MACH, default wave width and features as clang 19 writes them for each -mcpu. gfx950,
// gfx1153, gfx125x and their families are from later releases of the same guide.
constexpr std::string_view kNone = "";
constexpr auto kProcessors = std::to_array<Processor>({
    // name, EF_AMDGPU_MACH, generic family, sramecc, xnack, wave width
    {"gfx10-1-generic", 0x52, kNone, false, true, 32},
    {"gfx10-3-generic", 0x53, kNone, false, false, 32},
    {"gfx1010", 0x33, "gfx10-1-generic", false, true, 32},
    {"gfx1011", 0x34, "gfx10-1-generic", false, true, 32},
    {"gfx1012", 0x35, "gfx10-1-generic", false, true, 32},
    {"gfx1013", 0x42, "gfx10-1-generic", false, true, 32},
    {"gfx1030", 0x36, "gfx10-3-generic", false, false, 32},
    {"gfx1031", 0x37, "gfx10-3-generic", false, false, 32},
    {"gfx1032", 0x38, "gfx10-3-generic", false, false, 32},
    {"gfx1033", 0x39, "gfx10-3-generic", false, false, 32},
    {"gfx1034", 0x3e, "gfx10-3-generic", false, false, 32},
    {"gfx1035", 0x3d, "gfx10-3-generic", false, false, 32},
    {"gfx1036", 0x45, "gfx10-3-generic", false, false, 32},
    {"gfx11-generic", 0x54, kNone, false, false, 32},
    {"gfx1100", 0x41, "gfx11-generic", false, false, 32},
    {"gfx1101", 0x46, "gfx11-generic", false, false, 32},
    {"gfx1102", 0x47, "gfx11-generic", false, false, 32},
    {"gfx1103", 0x44, "gfx11-generic", false, false, 32},
    {"gfx1150", 0x43, "gfx11-generic", false, false, 32},
    {"gfx1151", 0x4a, "gfx11-generic", false, false, 32},
    {"gfx1152", 0x55, "gfx11-generic", false, false, 32},
    {"gfx1153", 0x58, "gfx11-generic", false, false, 32},
    {"gfx12-5-generic", 0x5b, kNone, false, false, 32},
    {"gfx12-generic", 0x59, kNone, false, false, 32},
    {"gfx1200", 0x48, "gfx12-generic", false, false, 32},
    {"gfx1201", 0x4e, "gfx12-generic", false, false, 32},
    {"gfx1250", 0x49, "gfx12-5-generic", false, false, 32},
    {"gfx1251", 0x5a, "gfx12-5-generic", false, false, 32},
    {"gfx600", 0x20, kNone, false, false, 64},
    {"gfx601", 0x21, kNone, false, false, 64},
    {"gfx602", 0x3a, kNone, false, false, 64},
    {"gfx700", 0x22, kNone, false, false, 64},
    {"gfx701", 0x23, kNone, false, false, 64},
    {"gfx702", 0x24, kNone, false, false, 64},
    {"gfx703", 0x25, kNone, false, false, 64},
    {"gfx704", 0x26, kNone, false, false, 64},
    {"gfx705", 0x3b, kNone, false, false, 64},
    {"gfx801", 0x28, kNone, false, true, 64},
    {"gfx802", 0x29, kNone, false, false, 64},
    {"gfx803", 0x2a, kNone, false, false, 64},
    {"gfx805", 0x3c, kNone, false, false, 64},
    {"gfx810", 0x2b, kNone, false, true, 64},
    {"gfx9-4-generic", 0x5f, kNone, true, true, 64},
    {"gfx9-generic", 0x51, kNone, false, true, 64},
    {"gfx900", 0x2c, "gfx9-generic", false, true, 64},
    {"gfx902", 0x2d, "gfx9-generic", false, true, 64},
    {"gfx904", 0x2e, "gfx9-generic", false, true, 64},
    {"gfx906", 0x2f, "gfx9-generic", true, true, 64},
    {"gfx908", 0x30, kNone, true, true, 64},
    {"gfx909", 0x31, "gfx9-generic", false, true, 64},
    {"gfx90a", 0x3f, kNone, true, true, 64},
    {"gfx90c", 0x32, "gfx9-generic", false, true, 64},
    {"gfx940", 0x40, kNone, true, true, 64},
    {"gfx941", 0x4b, kNone, true, true, 64},
    {"gfx942", 0x4c, "gfx9-4-generic", true, true, 64},
    {"gfx950", 0x4f, "gfx9-4-generic", true, true, 64},
});
static_assert(std::ranges::is_sorted(kProcessors, {}, &Processor::name));

// Every compute capability from CUDA 8 to 13.0, so that older images can also be read.
constexpr auto kNvidiaChips = std::to_array<NvidiaChip>({
    {50, false, 0},   {52, false, 0},   {53, false, 0},   {60, false, 0},   {61, false, 0},
    {62, false, 0},   {70, false, 0},   {72, false, 0},   {75, false, 0},   {80, false, 0},
    {86, false, 0},   {87, false, 0},   {88, false, 0},   {89, false, 0},   {90, true, 0},
    {100, true, 100}, {101, true, 101}, {103, true, 100}, {110, true, 110}, {120, true, 120},
    {121, true, 120},
});
static_assert(std::ranges::is_sorted(kNvidiaChips, {}, &NvidiaChip::compute_capability));

constexpr std::string_view kAmdPrefix = "gfx";
constexpr std::string_view kCubinPrefix = "sm_";
constexpr std::string_view kPtxPrefix = "compute_";
constexpr std::string_view kHost = "host";
constexpr std::string_view kHostWave64 = "host:wave64";

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// Returns every name that a target can start with, for the hint about a misspelt `text`. Names with
// a longer common prefix come first, so that the more likely of two equally near names is
// suggested.
std::vector<std::string> known_names(std::string_view text) {
  std::vector<std::string> names;
  for (const Processor& processor : kProcessors) names.emplace_back(processor.name);
  for (const NvidiaChip& chip : kNvidiaChips) {
    for (const std::string_view prefix : {kCubinPrefix, kPtxPrefix}) {
      const std::string name = std::string(prefix) + std::to_string(chip.compute_capability);
      names.push_back(name);
      if (chip.has_arch_specific) names.push_back(name + 'a');
      if (chip.family != 0) names.push_back(name + 'f');
    }
  }
  names.emplace_back(kHost);
  names.emplace_back(kHostWave64);
  std::ranges::stable_sort(names, std::ranges::greater(),
                           [&](const std::string& name) { return common_prefix(name, text); });
  return names;
}

// "90a" -> (90, 'a'). Accepts only the canonical spelling of a number.
std::optional<std::pair<int, char>> split_capability(std::string_view text) {
  char suffix = '\0';
  if (text.ends_with('a') || text.ends_with('f')) {
    suffix = text.back();
    text.remove_suffix(1);
  }
  if (text.size() < 2 || text.size() > 3 || text[0] == '0') return std::nullopt;
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + (c - '0');
  }
  return std::pair{number, suffix};
}

// "gfx90b" -> "gfx9", "sm_91a" -> "sm_9": the part that a well-formed name shares with its family.
// It lacks the last two digits of an AMD processor, or the last digit of a capability. Empty for
// any other text.
std::string_view family_of(std::string_view base) {
  if (base.starts_with(kAmdPrefix)) {
    const std::string_view number = base.substr(kAmdPrefix.size());
    const bool is_well_formed =
        number.size() > 2 && number.find_first_not_of("0123456789abcdef") == number.npos;
    return is_well_formed ? base.substr(0, base.size() - 2) : std::string_view();
  }
  for (const std::string_view prefix : {kCubinPrefix, kPtxPrefix}) {
    if (!base.starts_with(prefix)) continue;
    const auto capability = split_capability(base.substr(prefix.size()));
    if (!capability) return {};
    return base.substr(0, base.size() - (capability->second == '\0' ? 1 : 2));
  }
  return {};
}

bool is_of_family(std::string_view name, std::string_view family) {
  if (family.empty() || !name.starts_with(family)) return false;
  return family_of(name) == family || name.substr(family.size()).starts_with('-');
}

// A well-formed name is rarely a misspelling, so the hint lists its family, or a name with one
// letter more or less.
Error unknown_target(std::string_view text) {
  Error error{.code = ErrorCode::kInvalidInput,
              .message = "unknown architecture " + quote(text),
              .where = {},
              .notes = {}};
  const std::string_view base = text.substr(0, text.find(':'));
  const std::string_view family = family_of(base);
  std::vector<std::string> names = known_names(base), relatives;
  std::ranges::copy_if(names, std::back_inserter(relatives),
                       [&](const std::string& name) { return is_of_family(name, family); });
  if (!relatives.empty()) {
    std::ranges::sort(relatives);
    return std::move(error).hint("of that family kiln knows " + join(relatives, ", "));
  }
  if (!family.empty()) {
    std::erase_if(names, [&](const std::string& name) {
      return name.size() == base.size() || edit_distance(name, base) != 1;
    });
  }
  const std::string near = nearest(base, names);
  return std::move(error).hint(
      !near.empty() ? "did you mean '" + near + "'?"
                    : "targets are spelt like gfx1100, gfx90a:xnack+, gfx11-generic, sm_90, compute_80 or host");
}

Result<TargetId> parse_nvidia(std::string_view text, TargetKind kind, std::string_view number) {
  const auto capability = split_capability(number);
  if (!capability) return unknown_target(text);
  const NvidiaChip* chip = find_nvidia_chip(capability->first);
  const char suffix = capability->second;
  if (chip == nullptr || (suffix == 'a' && !chip->has_arch_specific) ||
      (suffix == 'f' && chip->family == 0)) {
    return unknown_target(text);
  }
  TargetId target;
  target.kind = kind;
  target.processor = std::string(text);
  return target;
}

Error bad_feature(std::string_view text, const std::string& what) {
  return Error{.code = ErrorCode::kInvalidInput,
               .message = "bad target " + quote(text) + ": " + what,
               .where = {},
               .notes = {}};
}

Result<TargetId> parse_amd(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  const Processor* processor = find_processor(parts[0]);
  if (processor == nullptr) return unknown_target(text);
  TargetId target;
  target.kind = TargetKind::kAmd;
  target.processor = std::string(processor->name);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part.empty() || (part.back() != '+' && part.back() != '-')) {
      return bad_feature(text, "feature " + quote(part) + " must end in '+' or '-'")
          .hint("features are spelt like 'gfx90a:sramecc+:xnack-'");
    }
    const std::string_view name = part.substr(0, part.size() - 1);
    const bool is_xnack = name == "xnack";
    if (!is_xnack && name != "sramecc") {
      Error error = bad_feature(text, "unknown feature " + quote(name));
      const std::string near = nearest(name, std::array<std::string_view, 2>{"sramecc", "xnack"});
      return near.empty() ? error.hint("the features of a target are 'sramecc' and 'xnack'")
                          : error.hint("did you mean '" + near + "'?");
    }
    if (is_xnack ? !processor->has_xnack : !processor->has_sramecc) {
      return bad_feature(text, quote(processor->name) + " has no feature " + quote(name))
          .hint("write " + quote(processor->name));
    }
    Feature& feature = is_xnack ? target.xnack : target.sramecc;
    if (feature != Feature::kAny) {
      return bad_feature(text, "feature " + quote(name) + " is given twice");
    }
    feature = part.back() == '+' ? Feature::kOn : Feature::kOff;
  }
  return target;
}

std::string spell(const TargetId& target, std::string_view separator, std::string_view off,
                  std::string_view on) {
  std::string text = target.processor;
  const auto add = [&](std::string_view name, Feature feature) {
    if (feature == Feature::kAny) return;
    text.append(separator).append(name).append(feature == Feature::kOn ? on : off);
  };
  add("sramecc", target.sramecc);
  add("xnack", target.xnack);
  if (target.wave64) text.append(separator).append("wave64");
  return text;
}

}  // namespace

bool TargetId::is_generic() const {
  return kind == TargetKind::kAmd && processor.ends_with("-generic");
}

int TargetId::compute_capability() const {
  if (kind != TargetKind::kCubin && kind != TargetKind::kPtx) return 0;
  const std::size_t digits = processor.find('_') + 1;
  const auto capability = split_capability(std::string_view(processor).substr(digits));
  return capability ? capability->first : 0;
}

char TargetId::nvidia_suffix() const {
  if (kind != TargetKind::kCubin && kind != TargetKind::kPtx) return '\0';
  const char last = processor.empty() ? '\0' : processor.back();
  return last == 'a' || last == 'f' ? last : '\0';
}

Result<TargetId> parse_target_id(std::string_view text) {
  if (text.starts_with(kCubinPrefix)) {
    return parse_nvidia(text, TargetKind::kCubin, text.substr(kCubinPrefix.size()));
  }
  if (text.starts_with(kPtxPrefix)) {
    return parse_nvidia(text, TargetKind::kPtx, text.substr(kPtxPrefix.size()));
  }
  if (text == kHost || text == kHostWave64) {
    TargetId target;
    target.kind = TargetKind::kHost;
    target.processor = std::string(kHost);
    target.wave64 = text == kHostWave64;
    return target;
  }
  return parse_amd(text);
}

std::string to_string(const TargetId& target) { return spell(target, ":", "-", "+"); }

std::string file_name(const TargetId& target) { return spell(target, ".", "-off", "-on"); }

std::span<const Processor> processors() { return kProcessors; }

const Processor* find_processor(std::string_view name) {
  const auto found = std::ranges::lower_bound(kProcessors, name, {}, &Processor::name);
  return found != kProcessors.end() && found->name == name ? &*found : nullptr;
}

const Processor* find_processor(std::uint32_t elf_mach) {
  const auto found = std::ranges::find(kProcessors, elf_mach, &Processor::elf_mach);
  return found != kProcessors.end() ? &*found : nullptr;
}

std::span<const NvidiaChip> nvidia_chips() { return kNvidiaChips; }

const NvidiaChip* find_nvidia_chip(int compute_capability) {
  const auto found =
      std::ranges::find(kNvidiaChips, compute_capability, &NvidiaChip::compute_capability);
  return found != kNvidiaChips.end() ? &*found : nullptr;
}

}  // namespace kiln
