#include "formats/target_id.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "base/diagnostic.hpp"

using namespace kiln;

namespace {

// Returns every valid target: all names with all of their features.
std::vector<std::string> all_targets() {
  std::vector<std::string> names;
  for (const Processor& processor : processors()) {
    for (const std::string sramecc : {"", ":sramecc-", ":sramecc+"}) {
      for (const std::string xnack : {"", ":xnack-", ":xnack+"}) {
        if (!sramecc.empty() && !processor.has_sramecc) continue;
        if (!xnack.empty() && !processor.has_xnack) continue;
        names.push_back(std::string(processor.name) + sramecc + xnack);
      }
    }
  }
  for (const NvidiaChip& chip : nvidia_chips()) {
    for (const std::string prefix : {"sm_", "compute_"}) {
      const std::string name = prefix + std::to_string(chip.compute_capability);
      names.push_back(name);
      if (chip.has_arch_specific) names.push_back(name + "a");
      if (chip.family != 0) names.push_back(name + "f");
    }
  }
  names.push_back("host");
  names.push_back("host:wave64");
  return names;
}

std::string error_of(std::string_view text) {
  const auto target = parse_target_id(text);
  REQUIRE_FALSE(target);
  return render(target.error());
}

}  // namespace

TEST_CASE("parse_target_id gives back each known target as it was spelt", "[target_id]") {
  const std::vector<std::string> names = all_targets();
  CHECK(names.size() > 200);
  for (const std::string& name : names) {
    INFO(name);
    const auto target = parse_target_id(name);
    REQUIRE(target);
    CHECK(to_string(*target) == name);
  }
}

TEST_CASE("file_name spells each target its own way, in letters that any file system takes",
          "[target_id]") {
  std::set<std::string> seen;
  for (const std::string& name : all_targets()) {
    INFO(name);
    const std::string file = file_name(parse_target_id(name).value());
    CHECK(seen.insert(file).second);
    CHECK(file.find_first_not_of(
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string::npos);
  }
  CHECK(file_name(parse_target_id("gfx90a:sramecc-:xnack+").value()) ==
        "gfx90a.sramecc-off.xnack-on");
  CHECK(file_name(parse_target_id("host:wave64").value()) == "host.wave64");
}

TEST_CASE("parse_target_id reads features in any order", "[target_id]") {
  const auto target = parse_target_id("gfx90a:xnack+:sramecc-");
  REQUIRE(target);
  CHECK(target->xnack == Feature::kOn);
  CHECK(target->sramecc == Feature::kOff);
  CHECK(to_string(*target) == "gfx90a:sramecc-:xnack+");
  CHECK(*target == parse_target_id("gfx90a:sramecc-:xnack+").value());
}

TEST_CASE("a target tells its kind, number and suffix", "[target_id]") {
  const TargetId own = parse_target_id("sm_90a").value();
  CHECK(own.kind == TargetKind::kCubin);
  CHECK(own.compute_capability() == 90);
  CHECK(own.nvidia_suffix() == 'a');
  const TargetId family = parse_target_id("compute_100f").value();
  CHECK(family.kind == TargetKind::kPtx);
  CHECK(family.compute_capability() == 100);
  CHECK(family.nvidia_suffix() == 'f');
  const TargetId amd = parse_target_id("gfx90a").value();
  CHECK(amd.compute_capability() == 0);
  CHECK(amd.nvidia_suffix() == '\0');
  CHECK_FALSE(amd.is_generic());
  CHECK(parse_target_id("gfx9-4-generic").value().is_generic());
  CHECK(parse_target_id("host:wave64").value().wave64);
}

TEST_CASE("parse_target_id names the text and the nearest known target", "[target_id]") {
  CHECK(error_of("sm_9O") ==
        "kiln: error: unknown architecture 'sm_9O'\nhint: did you mean 'sm_90'?\n");
  CHECK(error_of("gfx110") ==
        "kiln: error: unknown architecture 'gfx110'\nhint: did you mean 'gfx1100'?\n");
  CHECK(error_of("gfx11-genric") ==
        "kiln: error: unknown architecture 'gfx11-genric'\nhint: did you mean 'gfx11-generic'?\n");
  CHECK(error_of("hots") ==
        "kiln: error: unknown architecture 'hots'\nhint: did you mean 'host'?\n");
  CHECK(error_of("volta") ==
        "kiln: error: unknown architecture 'volta'\n"
        "hint: targets are spelt like gfx1100, gfx90a:xnack+, gfx11-generic, sm_90, compute_80 or "
        "host\n");
}

TEST_CASE("parse_target_id tells the family of a well-formed name, and suggests no other chip", "[target_id]") {
  const std::string known = "hint: of that family kiln knows ";
  CHECK(error_of("gfx1199") == "kiln: error: unknown architecture 'gfx1199'\n" + known +
                                   "gfx11-generic, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1152, "
                                   "gfx1153\n");
  CHECK(error_of("gfx12ff:xnack+") == "kiln: error: unknown architecture 'gfx12ff:xnack+'\n" + known +
                                          "gfx12-5-generic, gfx12-generic, gfx1200, gfx1201, gfx1250, gfx1251\n");
  CHECK(error_of("sm_95") == "kiln: error: unknown architecture 'sm_95'\n" + known + "sm_90, sm_90a\n");
  CHECK(error_of("sm_90f") == "kiln: error: unknown architecture 'sm_90f'\n" + known + "sm_90, sm_90a\n");
  CHECK(error_of("compute_125") == "kiln: error: unknown architecture 'compute_125'\n" + known +
                                       "compute_120, compute_120a, compute_120f, compute_121, compute_121a, "
                                       "compute_121f\n");
  for (const std::string far : {"gfx9999", "gfx1300", "sm_130", "compute_35"}) {
    CHECK(error_of(far).ends_with("\nhint: targets are spelt like gfx1100, gfx90a:xnack+, gfx11-generic, sm_90, "
                                  "compute_80 or host\n"));
  }
}

TEST_CASE("parse_target_id refuses what no toolchain knows", "[target_id]") {
  for (const std::string text : {"",
                                 " ",
                                 "gfx",
                                 "gfx11",
                                 "GFX1100",
                                 "gfx1100 ",
                                 "sm_",
                                 "sm_0",
                                 "sm_090",
                                 "sm_80a",
                                 "sm_90f",
                                 "sm_99",
                                 "sm_1000",
                                 "compute",
                                 "compute_",
                                 "compute_80f",
                                 "sm_90aa",
                                 "sm_-90",
                                 "host:",
                                 "host:wave32",
                                 "host:xnack+",
                                 "gfx-generic",
                                 "gfx90a-generic",
                                 ":xnack+",
                                 "sm_90:xnack+"}) {
    INFO("'" << text << "'");
    CHECK_FALSE(parse_target_id(text));
  }
}

TEST_CASE("parse_target_id says which feature is wrong", "[target_id]") {
  CHECK(error_of("gfx90a:xnack") ==
        "kiln: error: bad target 'gfx90a:xnack': feature 'xnack' must end in '+' or '-'\n"
        "hint: features are spelt like 'gfx90a:sramecc+:xnack-'\n");
  CHECK(error_of("gfx90a:xnak+") ==
        "kiln: error: bad target 'gfx90a:xnak+': unknown feature 'xnak'\n"
        "hint: did you mean 'xnack'?\n");
  CHECK(error_of("gfx90a:wave64+") ==
        "kiln: error: bad target 'gfx90a:wave64+': unknown feature 'wave64'\n"
        "hint: the features of a target are 'sramecc' and 'xnack'\n");
  CHECK(error_of("gfx1100:xnack+") ==
        "kiln: error: bad target 'gfx1100:xnack+': 'gfx1100' has no feature 'xnack'\n"
        "hint: write 'gfx1100'\n");
  CHECK(error_of("gfx90a:xnack+:xnack-") ==
        "kiln: error: bad target 'gfx90a:xnack+:xnack-': feature 'xnack' is given twice\n");
}

TEST_CASE("find_processor finds by name and by ELF number alike", "[target_id]") {
  std::set<std::uint32_t> numbers;
  for (const Processor& processor : processors()) {
    INFO(processor.name);
    CHECK(numbers.insert(processor.elf_mach).second);
    CHECK(find_processor(processor.name) == &processor);
    CHECK(find_processor(processor.elf_mach) == &processor);
    if (!processor.generic_family.empty()) {
      const Processor* family = find_processor(processor.generic_family);
      REQUIRE(family != nullptr);
      CHECK(family->generic_family.empty());
      CHECK(family->wave_width == processor.wave_width);
    }
  }
  CHECK(find_processor("gfx1") == nullptr);
  CHECK(find_processor(std::uint32_t{0}) == nullptr);
}
