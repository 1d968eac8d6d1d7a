#include "formats/compatibility.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/golden.hpp"

using namespace kiln;

namespace {

Compatibility ask(std::string_view image, std::string_view device) {
  return can_run(parse_target_id(image).value(), parse_target_id(device).value());
}

bool can_share(std::string_view a, std::string_view b) {
  const bool answer = can_share_bundle(parse_target_id(a).value(), parse_target_id(b).value());
  CHECK(answer == can_share_bundle(parse_target_id(b).value(), parse_target_id(a).value()));
  return answer;
}

std::string_view name_of(Fit fit) {
  constexpr std::string_view kNames[] = {"none", "jit", "generic", "compatible", "exact"};
  return kNames[static_cast<std::size_t>(fit)];
}

}  // namespace

TEST_CASE("can_run answers for each image and device as the golden table says", "[compatibility]") {
  constexpr std::string_view kImages[] = {"gfx1030",
                                          "gfx1100",
                                          "gfx1101",
                                          "gfx10-1-generic",
                                          "gfx10-3-generic",
                                          "gfx11-generic",
                                          "gfx12-generic",
                                          "gfx12-5-generic",
                                          "gfx9-generic",
                                          "gfx9-4-generic",
                                          "gfx9-4-generic:xnack+",
                                          "gfx906",
                                          "gfx908",
                                          "gfx90a",
                                          "gfx90a:xnack+",
                                          "gfx90a:xnack-",
                                          "gfx90a:sramecc+",
                                          "gfx90a:sramecc+:xnack-",
                                          "gfx942",
                                          "sm_70",
                                          "sm_75",
                                          "sm_80",
                                          "sm_86",
                                          "sm_89",
                                          "sm_90",
                                          "sm_90a",
                                          "sm_100",
                                          "sm_100a",
                                          "sm_100f",
                                          "sm_103",
                                          "sm_120f",
                                          "compute_50",
                                          "compute_80",
                                          "compute_90",
                                          "compute_90a",
                                          "compute_100f",
                                          "compute_103f",
                                          "host",
                                          "host:wave64"};
  constexpr std::string_view kDevices[] = {"gfx1030",
                                           "gfx1100",
                                           "gfx1200",
                                           "gfx1250",
                                           "gfx906:sramecc+:xnack-",
                                           "gfx908:sramecc+:xnack-",
                                           "gfx90a:sramecc+:xnack-",
                                           "gfx90a:sramecc+:xnack+",
                                           "gfx90a",
                                           "gfx942:sramecc+:xnack-",
                                           "sm_75",
                                           "sm_80",
                                           "sm_86",
                                           "sm_90",
                                           "sm_100",
                                           "sm_103",
                                           "sm_121",
                                           "host",
                                           "host:wave64"};
  std::string table = "# device <- image: fit, or why not. Only pairs of one vendor.\n";
  for (const std::string_view device : kDevices) {
    table += "\n" + std::string(device) + "\n";
    const std::string_view vendor = device.substr(0, 2);
    for (const std::string_view image : kImages) {
      if (image.substr(0, 2) != vendor && !(vendor == "sm" && image.substr(0, 2) == "co")) continue;
      const Compatibility answer = ask(image, device);
      CHECK(static_cast<bool>(answer) == answer.reason.empty());
      table += "  " + std::string(image) + std::string(24 - image.size(), ' ') +
               (answer ? std::string(name_of(answer.fit)) : "none: " + answer.reason) + "\n";
    }
  }
  kiln::testing::check_golden("formats/compatibility.txt", table);
}

TEST_CASE("can_run puts a processor into the family that the table lists, and into no other",
          "[compatibility]") {
  for (const Processor& processor : processors()) {
    for (const Processor& family : processors()) {
      if (!family.name.ends_with("-generic") || processor.name.ends_with("-generic")) continue;
      INFO(family.name << " on " << processor.name);
      CHECK((ask(family.name, processor.name).fit == Fit::kGeneric) ==
            (processor.generic_family == family.name));
    }
  }
}

TEST_CASE("can_run runs each target on itself", "[compatibility]") {
  for (const Processor& processor : processors()) {
    CHECK(ask(processor.name, processor.name).fit == Fit::kExact);
  }
  for (const NvidiaChip& chip : nvidia_chips()) {
    const std::string number = std::to_string(chip.compute_capability);
    CHECK(ask("sm_" + number, "sm_" + number).fit == Fit::kExact);
    CHECK(ask("compute_" + number, "sm_" + number).fit == Fit::kJit);
  }
}

TEST_CASE("can_run takes no machine code from or to Tegra", "[compatibility]") {
  CHECK(ask("sm_80", "sm_87").reason ==
        "built for sm_80, the device is sm_87; Tegra's GPUs share no machine code with others");
  CHECK_FALSE(ask("sm_86", "sm_87"));
  CHECK_FALSE(ask("sm_87", "sm_89"));
  CHECK_FALSE(ask("sm_70", "sm_72"));
  CHECK_FALSE(ask("sm_100", "sm_101"));
  CHECK(ask("compute_80", "sm_87").fit == Fit::kJit);
  CHECK(ask("compute_87", "sm_89").fit == Fit::kJit);
}

TEST_CASE("can_run never crosses vendors", "[compatibility]") {
  CHECK_FALSE(ask("gfx1100", "sm_90"));
  CHECK_FALSE(ask("sm_90", "gfx1100"));
  CHECK_FALSE(ask("compute_50", "host"));
  CHECK(ask("host", "sm_90").reason == "built for host, the device is sm_90, of another kind");
}

TEST_CASE("closeness orders images of equal fit", "[compatibility]") {
  CHECK(ask("sm_86", "sm_89").closeness > ask("sm_80", "sm_89").closeness);
  CHECK(ask("compute_90", "sm_100").closeness > ask("compute_80", "sm_100").closeness);
  CHECK(ask("sm_90a", "sm_90").fit == Fit::kExact);
  CHECK(ask("sm_90a", "sm_90").closeness > ask("sm_90", "sm_90").closeness);
  CHECK(ask("sm_100f", "sm_103").closeness > ask("sm_100", "sm_103").closeness);
  const std::string_view device = "gfx90a:sramecc+:xnack-";
  CHECK(ask("gfx90a:xnack-", device).closeness > ask("gfx90a", device).closeness);
}

TEST_CASE("can_share_bundle refuses an open feature beside a fixed one", "[compatibility]") {
  CHECK_FALSE(can_share("gfx90a", "gfx90a:xnack+"));
  CHECK_FALSE(can_share("gfx90a:sramecc+", "gfx90a:sramecc+:xnack-"));
  CHECK_FALSE(can_share("gfx90a:sramecc+", "gfx90a:xnack+"));
  CHECK_FALSE(can_share("gfx90a", "gfx90a"));
  CHECK(can_share("gfx90a:xnack-", "gfx90a:xnack+"));
  CHECK(can_share("gfx90a", "gfx908:xnack+"));
  CHECK(can_share("gfx11-generic", "gfx1100"));
  CHECK(can_share("sm_90", "sm_90a"));
  CHECK(can_share("sm_80", "compute_80"));
}
