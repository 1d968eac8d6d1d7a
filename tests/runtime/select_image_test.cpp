#include "runtime/src/select_image.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"

using namespace kiln;
using namespace kiln::runtime;

namespace {

ImageEntry image(std::string_view target, std::uint16_t unit = 0) {
  ImageEntry entry;
  entry.target = target;
  entry.unit = unit;
  if (target.substr(0, 8) == "compute_") {
    entry.format = ImageFormat::kPtx;
    entry.ptx_isa = 90;
  }
  return entry;
}

DeviceTarget device(std::string_view target, std::optional<std::uint16_t> max_ptx_isa = 90) {
  return {*parse_target_id(target), max_ptx_isa};
}

// Returns the chosen target and how well it fits: "sm_80 compatible"; "" for none.
std::string choose(const std::vector<std::string_view>& targets, const DeviceTarget& wanted) {
  std::vector<ImageEntry> images;
  for (const std::string_view target : targets) images.push_back(image(target));
  const Selection selection = select_image({images.data(), images.size()}, 0, wanted);
  if (selection.image == nullptr) return {};
  return std::string(selection.image->target) + " " + std::string(to_string(selection.fit));
}

std::string refusal(const std::vector<std::string_view>& targets, const DeviceTarget& wanted,
                    std::string_view name) {
  std::vector<ImageEntry> images;
  for (const std::string_view target : targets) images.push_back(image(target));
  const Selection selection = select_image({images.data(), images.size()}, 0, wanted);
  REQUIRE(selection.image == nullptr);
  return render(no_image(selection, "unary", wanted, name));
}

const std::vector<std::string_view> kOurs = {"compute_80", "gfx1030", "gfx1100",
                                             "gfx90a",     "sm_80",   "sm_90"};

}  // namespace

TEST_CASE("select_image prefers exact, then compatible, then PTX") {
  CHECK(choose(kOurs, device("sm_90")) == "sm_90 exact");
  CHECK(choose(kOurs, device("sm_86")) == "sm_80 compatible");
  CHECK(choose(kOurs, device("sm_100")) == "compute_80 PTX");
  CHECK(choose({"sm_80", "sm_86", "compute_80"}, device("sm_89")) == "sm_86 compatible");
  CHECK(choose({"compute_70", "compute_80"}, device("sm_90")) == "compute_80 PTX");
  CHECK(choose({"sm_90", "sm_90a"}, device("sm_90")) == "sm_90a exact");
  CHECK(choose({"sm_90a", "sm_90"}, device("sm_90")) == "sm_90a exact");
  CHECK(choose(kOurs, device("gfx1100")) == "gfx1100 exact");
  CHECK(choose({"gfx11-generic", "gfx1100"}, device("gfx1100")) == "gfx1100 exact");
  CHECK(choose({"gfx11-generic", "gfx1100"}, device("gfx1103")) == "gfx11-generic generic");
  CHECK(choose(kOurs, device("gfx90a:sramecc+:xnack-")) == "gfx90a compatible");
  CHECK(choose({"gfx90a:xnack+", "gfx90a:xnack-"}, device("gfx90a:sramecc+:xnack-")) ==
        "gfx90a:xnack- compatible");
  CHECK(choose({"host", "host:wave64"}, device("host:wave64")) == "host:wave64 exact");
}

TEST_CASE("select_image looks at one unit alone") {
  const std::vector<ImageEntry> images = {image("sm_90", 0), image("sm_80", 1)};
  const Selection selection = select_image({images.data(), images.size()}, 1, device("sm_90"));
  CHECK(selection.image == nullptr);
  REQUIRE(selection.refusals.size() == 1);
  CHECK(selection.refusals[0].image == "sm_80");
}

TEST_CASE("select_image refuses PTX that the driver is too old for") {
  CHECK(choose({"compute_80"}, device("sm_90", 90)) == "compute_80 PTX");
  CHECK(choose({"compute_80"}, device("sm_90", 89)).empty());
  CHECK(choose({"compute_80"}, device("sm_90", 0)).empty());
  CHECK(choose({"compute_80"}, device("sm_90", std::nullopt)) == "compute_80 PTX");
}

// The messages for devices without an image are golden files: message_test.cpp.
TEST_CASE("no_image says what to add where a module holds no image") {
  CHECK(refusal({}, device("host"), "host (this machine, host)") ==
        "kiln: error: no image of module 'unary' runs on host (this machine, host)\n"
        "note: the module holds no image at all\n"
        "hint: add 'host' to the targets of module 'unary' in the manifest and build again; it takes no plain CUDA: "
        "see docs/HOST.md of kiln\n");
}
