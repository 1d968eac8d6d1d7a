#include "formats/image_head.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/damage.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

std::string target_of(const std::string& image) {
  const auto head = read_image_head(as_bytes(image));
  REQUIRE(head);
  return head->target ? to_string(*head->target) : "";
}

// Checks that each truncated piece of the image gives an error.
void check_cut_short(const std::string& image, std::size_t shortest) {
  REQUIRE(read_image_head(as_bytes(image)));
  for (std::size_t size = shortest; size < image.size(); ++size) {
    CAPTURE(size);
    const std::string part = image.substr(0, size);
    CHECK_FALSE(read_image_head(as_bytes(part)));
  }
}

}  // namespace

TEST_CASE("read_image_head tells the target of machine code and of PTX", "[image_head]") {
  CHECK(target_of(make_hsaco()) == "gfx90a");
  CHECK(target_of(make_hsaco({.flags = 0x73f})) == "gfx90a:xnack+");
  CHECK(target_of(make_cubin()) == "sm_80");
  CHECK(target_of(make_ptx()) == "compute_90a");
  CHECK(read_image_head(as_bytes(make_ptx()))->ptx_isa == 90);
  CHECK(target_of(make_bundle({{"host-x86_64-unknown-linux-gnu-", ""}})).empty());
  CHECK(target_of("neither").empty());
}

TEST_CASE("read_image_head tells 'a' and 'f' of a cubin, which its flags do not", "[image_head]") {
  const std::string own = cubin_attribute(2, 0x09, 1);
  CHECK(target_of(make_cubin({.flags = 0x06005a04, .compat = own})) == "sm_90a");
  CHECK(target_of(make_cubin({.flags = 0x06006402, .compat = own})) == "sm_100a");
  CHECK(target_of(make_cubin({.flags = 0x06006402, .command_line = "-arch sm_100f"})) == "sm_100f");
  CHECK(target_of(make_cubin({.flags = 0x06006402})) == "sm_100");
}

TEST_CASE("read_image_head takes the head of PTX as it is", "[image_head]") {
  const auto head_of = [](std::string text) {
    return read_image_head(as_bytes(text += "\n.address_size 64\n")).value();
  };
  CHECK(head_of(".version 8.7\r\n.target sm_100a\r\n").ptx_isa == 87);
  CHECK(head_of("// .version 1.0 .target sm_50\n.version 8.7 .target sm_90").ptx_isa == 87);
  CHECK(to_string(*head_of("// .target sm_50\n.version 8.7 .target sm_90").target) == "compute_90");
  CHECK(head_of(".version").ptx_isa == 0);
  CHECK(head_of(".version x.y").ptx_isa == 0);
  CHECK(head_of(".version 7").ptx_isa == 0);
  CHECK_FALSE(head_of(".version 7.0\n.target sm_").target);
}

TEST_CASE("read_image_head tells the targets of a container's entries", "[image_head]") {
  const auto entries_of = [](const std::string& container) {
    const ImageHead head = read_image_head(as_bytes(container)).value();
    std::string names = head.has_unknown_entries ? "unknown " : "";
    for (const TargetId& target : head.entries) names += to_string(target) + " ";
    return names;
  };
  CHECK(entries_of(make_bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                                {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "code"},
                                {"hipv4-amdgcn-amd-amdhsa--gfx11-generic", "code"}})) ==
        "gfx90a:xnack+ gfx11-generic ");
  CHECK(entries_of(make_bundle({{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "code"}})) ==
        "unknown ");
  CHECK(
      entries_of(make_fatbin({{.payload = make_cubin()},
                              {.kind = 1, .capability = 90, .flags = 0x100011, .payload = "x"}})) ==
      "sm_80 compute_90a ");
  CHECK(entries_of(make_fatbin({{.kind = 16, .payload = "x"}})) == "unknown ");
}

TEST_CASE("read_image_head refuses what is cut short, at every byte", "[image_head]") {
  check_cut_short(make_hsaco(), 20);
  check_cut_short(make_cubin(), 20);
  check_cut_short(make_fatbin({{.payload = make_cubin()}}), 4);
  check_cut_short(make_bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                               {"hipv4-amdgcn-amd-amdhsa--gfx90a", make_hsaco()}}),
                  24);
}

TEST_CASE("read_image_head refuses PTX that ends within a kernel, a directive or a comment",
          "[image_head]") {
  std::string ptx = make_ptx();
  ptx.resize(ptx.rfind('}') + 1);
  const std::size_t kernel = ptx.find(".visible");
  for (std::size_t size = kernel + 1; size < ptx.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read_image_head(as_bytes(ptx.substr(0, size))));
  }
  CHECK(read_image_head(as_bytes(ptx)));
  CHECK(read_image_head(as_bytes(ptx + "\n// an end\n")));
  CHECK_FALSE(read_image_head(as_bytes(ptx + "\n/* no end\n")));
  CHECK(read_image_head(as_bytes(ptx.substr(0, kernel))));  // whole kernels are not missed
}

TEST_CASE("read_image_head survives damage of any kind", "[image_head]") {
  for (const std::string& image :
       {make_hsaco(), make_cubin(), make_ptx(), make_fatbin({{.payload = "payload"}}),
        make_bundle({{"host-x86_64-unknown-linux-gnu-", ""}, {"x", "code"}})}) {
    const auto read = [](std::span<const std::byte> bytes) { (void)read_image_head(bytes); };
    cut_everywhere(image, read);
    change_bytes(image, 20261, 2000, read);
  }
}
