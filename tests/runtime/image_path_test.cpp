// KILN_IMAGE_PATH: images that a user adds to those of the program.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "formats/image_sources.hpp"
#include "subject.hpp"
#include "test_modules.hpp"
#include "tests/support/sample_images.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

// Modules without an image for the fake H200.
constexpr ImageEntry kForAmd[] = {stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a)};
constexpr ModuleEntry kAmdOnly{"arithmetic", 0, 1, {kArithmeticKernels}, {kForAmd}};
constexpr std::uint64_t kOurSources = 0x2d711642b726b044;  // from SHA-256 of "x"
constexpr ModuleEntry kKnown{"arithmetic", 0, 1, {kArithmeticKernels}, {kForAmd}, kOurSources};
constexpr ModuleEntry kAmdPair{"pair", 0, 2, {kPairKernels}, {kForAmd}};

const std::string kPtxText(reinterpret_cast<const char*>(kPtx), sizeof kPtx - 1);

class ImagePath {
 public:
  explicit ImagePath(std::string folder) : folder_(std::move(folder)) {}
  void put(const std::string& path, const std::string& bytes) const {
    const std::filesystem::path file = std::filesystem::path(folder_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
  }
  // Returns the first device of the fake driver, an H200. Its trace goes to `lines`: the driver,
  // /nowhere, and so on.
  Device open(std::vector<std::string>* lines = nullptr,
              fake::Script script = cuda_script()) const {
    OpenOptions options = fake_cuda_options(std::move(script));
    options.image_path = "/nowhere:" + folder_;
    if (lines != nullptr) {
      options.trace = [lines](std::string_view line) { lines->emplace_back(line); };
    }
    const Result<Runtime> runtime = Runtime::open(options);
    REQUIRE(runtime);
    Result<Device> device = runtime->default_device();
    REQUIRE(device);
    return *device;
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE("An image in a folder serves a device that the program has none for") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  CHECK_FALSE(path.open().get_or_load_func("nothing", kAmdOnly));
  path.put("arithmetic/compute_80.ptx", kPtxText);
  std::vector<std::string> lines;
  {
    const Device device = path.open(&lines);
    const auto nothing = device.get_or_load_func("nothing", kAmdOnly);
    if (!nothing) FAIL(render(nothing.error()));
    CHECK(nothing->launch({{1}, {32}}));
  }
  REQUIRE(lines.size() == 4);
  CHECK(lines[2].find("cuda:0: module 'arithmetic': loaded compute_80 of " +
                      scratch.path().string() + "/arithmetic/compute_80.ptx (PTX), ") == 0);
}

TEST_CASE("An image in a folder wins over the program's own that fits as well") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  path.put("arithmetic/mine.ptx", "// mine\n" + kPtxText);
  REQUIRE(path.open().get_or_load_func("nothing", kArithmetic));
  CHECK(fake_cuda().loads() == std::vector<std::string>{"0 // mine"});
}

TEST_CASE("A cubin in a folder for one chip alone does not go to a later chip") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  path.put("arithmetic/sm_100a.cubin", make_cubin({.flags = 0x06006402,
                                                   .compat = cubin_attribute(2, 0x09, 1),
                                                   .command_line = "nothing scale_add"}));
  fake::Script script = cuda_script();
  script.devices = {{.name = "Fake B300", .arch = "103"}};
  REQUIRE(path.open(nullptr, script).get_or_load_func("nothing", kArithmetic));
  CHECK(fake_cuda().loads() == std::vector<std::string>{"0 .version 7.0"});
}

TEST_CASE("A cubin in a folder for one chip alone wins there over a plain one") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  const CubinSpec plain{.flags = 0x06005a04, .command_line = "nothing scale_add"};
  CubinSpec own = plain;
  own.compat = cubin_attribute(2, 0x09, 1);
  path.put("arithmetic/sm_90.cubin", make_cubin(plain));
  path.put("arithmetic/sm_90a.cubin", make_cubin(own));
  const auto refused = path.open().get_or_load_func("nothing", kArithmetic);
  REQUIRE_FALSE(refused);  // the fake driver takes no real cubin
  CHECK(refused.error().message.find("(sm_90a of " + scratch.path().string() +
                                     "/arithmetic/sm_90a.cubin)") != std::string::npos);
}

TEST_CASE("An image in a folder is of the unit whose kernels it has") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  const std::string head = ".version 7.0\n.target sm_80\n.address_size 64\n";
  path.put("pair/first/compute_80.ptx", "// first\n" + head + ".visible .entry nothing()\n{\n}\n");
  path.put("pair/second/compute_80.ptx",
           "// second\n" + head + ".visible .entry scale_add()\n{\n}\n");
  const Device device = path.open();
  REQUIRE(device.get_or_load_func("scale_add", kAmdPair));
  REQUIRE(device.get_or_load_func("nothing", kAmdPair));
  CHECK(fake_cuda().loads() == std::vector<std::string>{"0 // second", "0 // first"});
}

TEST_CASE("A file in a folder that does not do is told with its reason") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  std::string text = kPtxText;
  text.replace(text.find("nothing"), 7, "nothin0");
  path.put("arithmetic/a.ptx", text);
  path.put("arithmetic/b.cubin", make_cubin().substr(0, 100) + "nothing scale_add");
  path.put("arithmetic/c.txt", "no image");
  path.put("arithmetic/d.ptx", std::string(kPtxText).replace(9, 3, "9.9"));
  const auto failed = path.open().get_or_load_func("nothing", kAmdOnly);
  REQUIRE_FALSE(failed);
  const std::string folder = scratch.path().string() + "/arithmetic/";
  CHECK(render(failed.error()) ==
        "kiln: error: no image of module 'arithmetic' runs on cuda:0 (Fake H200, sm_90)\n"
        "note: image 'compute_80': is PTX ISA 9.9, the driver takes up to 8.7\n"
        "note: image 'gfx90a': built for gfx90a, the device is sm_90, of another kind\n"
        "note: image '" +
            folder +
            "a.ptx': has no kernel 'nothing'\n"
            "note: image '" +
            folder +
            "b.cubin': damaged ELF file: the table of program headers, 56 bytes at offset 1576, "
            "passes the end of the file at 117\n"
            "note: image '" +
            folder +
            "c.txt': is no image for one device: unknown file\n"
            "note: KILN_IMAGE_PATH: there is no folder '/nowhere'\n"
            "hint: add 'sm_90' to the targets of module 'arithmetic' in the manifest and build again\n");
}

TEST_CASE("A folder that has nothing of the module is told") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  path.put("pair/compute_80.ptx", kPtxText);
  std::vector<std::string> lines;
  const auto failed = path.open(&lines).get_or_load_func("nothing", kAmdOnly);
  REQUIRE_FALSE(failed);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[1] == "cuda:0: module 'arithmetic': KILN_IMAGE_PATH: there is no folder '/nowhere'");
  CHECK(render(failed.error()).find("note: KILN_IMAGE_PATH: there is no folder '/nowhere'\n"
                                    "note: KILN_IMAGE_PATH: '" + scratch.path().string() +
                                    "' has no folder 'arithmetic'\nhint: ") != std::string::npos);
}

TEST_CASE("An image in a folder that was built from other sources than the program is refused") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  const std::string image = scratch.path().string() + "/arithmetic/compute_80.ptx";
  path.put("arithmetic/compute_80.ptx", kPtxText);
  path.put("arithmetic.sources", write_image_sources({{sha256(kPtxText), sha256("old")}}));
  std::vector<std::string> lines;
  const auto failed = path.open(&lines).get_or_load_func("nothing", kKnown);
  REQUIRE_FALSE(failed);
  std::string text = render(failed.error());
  for (std::size_t at = 0; (at = text.find(image)) != std::string::npos;) {
    text.replace(at, image.size(), "{folder}/arithmetic/compute_80.ptx");
  }
  check_golden("messages/other_sources.txt", text);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[1] == "cuda:0: module 'arithmetic': refused " + image +
                        ": was built from other sources than this program's");
  // A program that does not know its own sources accepts the image.
  CHECK(path.open().get_or_load_func("nothing", kAmdOnly));
}

TEST_CASE("An image in a folder is taken without a word where it is of the program's sources") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  path.put("arithmetic/compute_80.ptx", kPtxText);
  REQUIRE(sha256("x").prefix64() == kOurSources);
  path.put("arithmetic.sources", write_image_sources({{sha256(kPtxText), sha256("x")}}));
  std::vector<std::string> lines;
  {
    const Device device = path.open(&lines);
    REQUIRE(device.get_or_load_func("nothing", kKnown));
  }
  REQUIRE(lines.size() == 4);
  CHECK(lines[2].find("cuda:0: module 'arithmetic': loaded compute_80 of ") == 0);
}

TEST_CASE("An image in a folder that tells nothing of its sources is taken with a warning") {
  const ScratchFolder scratch;
  const ImagePath path(scratch.path().string());
  path.put("arithmetic/compute_80.ptx", kPtxText);
  for (const char* text : {"", "kiln image sources 1\n", "of another release"}) {
    path.put("arithmetic.sources", text);
    std::vector<std::string> lines;
    REQUIRE(path.open(&lines).get_or_load_func("nothing", kKnown));
    REQUIRE(lines.size() >= 3);
    CHECK(lines[2] == "cuda:0: module 'arithmetic': warning: nothing tells which sources " +
                          scratch.path().string() + "/arithmetic/compute_80.ptx was built from");
  }
}
