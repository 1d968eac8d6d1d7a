// Catalog files through the runtime: opening by path and from memory, loading, and refusals.
#include "generator/catalog_file.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "formats/image_format.hpp"
#include "formats/zstd.hpp"
#include "runtime/src/no_such_kernel.hpp"
#include "subject.hpp"
#include "test_modules.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

tools::Artifact artifact(const ImageEntry& image, Compression compression) {
  tools::Artifact artifact;
  artifact.unit = image.unit;
  artifact.target = parse_target_id(image.target).value();
  artifact.info.format = image.format;
  artifact.info.ptx_isa = image.ptx_isa;
  artifact.stored.assign(reinterpret_cast<const char*>(image.data), image.size);
  artifact.bytes = artifact.stored;
  if (image.format == ImageFormat::kPtx) artifact.bytes.pop_back();
  artifact.digest = sha256(artifact.bytes);
  artifact.compression = compression;
  if (compression == Compression::kZstd) artifact.stored = zstd_compress(artifact.stored).value();
  return artifact;
}

// Returns the modules of test_modules.hpp, and a second `nothing` in both. The second module is
// `pair`.
tools::Catalog catalog_of_tests(Compression compression) {
  tools::Catalog catalog{"tests", {"gfx1100", "gfx90a", "compute_80"}, {}, {}, {}};
  for (const ModuleEntry* entry : {&kArithmetic, &kPair}) {
    tools::Module module;
    module.name = entry->name;
    module.sources.resize(entry->unit_count);
    for (const KernelEntry& kernel : entry->kernels) {
      tools::Kernel& added =
          module.kernels.emplace_back(tools::Kernel{std::string(kernel.name), kernel.unit, {}});
      for (const Parameter& place : kernel.parameters) added.parameters.push_back({place});
    }
    for (const ImageEntry& image : entry->images) {
      module.images.push_back(artifact(image, compression));
    }
    catalog.modules.push_back(std::move(module));
  }
  return catalog;
}

std::string file_bytes(const tools::Catalog& catalog) {
  return generator::write_catalog_file(catalog, 0).bytes;
}
std::string file_bytes(Compression compression = Compression::kNone) {
  return file_bytes(catalog_of_tests(compression));
}

class WrittenFile {
 public:
  explicit WrittenFile(const std::string& bytes) : path_((folder_ / "tests.kiln").string()) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  const std::string& path() const { return path_; }

 private:
  ScratchFolder folder_;
  std::string path_;
};

Device open_device(OpenOptions options) {
  Result<Runtime> runtime = Runtime::open(std::move(options));
  REQUIRE(runtime);
  return runtime->default_device().value();
}

void check_scale_add(const Device& device, const Function& scale_add) {
  const std::vector<float> input(64, 1.0F);
  const Buffer in = device.upload(input).value();
  const Buffer out = device.allocate(64 * sizeof(float)).value();
  REQUIRE(scale_add.launch({{1}, {64}}, std::uint64_t{64}, in.data(), out.data(), 2.0F, 1.0F));
  CHECK(device.download<float>(out).value() == std::vector<float>(64, 3.0F));
}

template <typename T>
std::string message(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error().message;
}

}  // namespace

TEST_CASE("A kernel of a catalog file is found by name, launched, and outlives the handle",
          "[catalog_file]") {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    const WrittenFile written(file_bytes(compression));
    const Device device =
        open_device(compression == Compression::kNone ? fake_cuda_options() : fake_hip_options());
    Function scale_add;
    {
      const Result<CatalogFile> file = Catalog::open(written.path());
      REQUIRE(file);
      CHECK((*file)->name == "tests");
      CHECK((*file)->find("pair") != nullptr);
      REQUIRE(device.load(*file));
      scale_add = device.function("scale_add", *file, "arithmetic").value();
    }
    std::filesystem::remove(written.path());
    check_scale_add(device, scale_add);
  }
}

TEST_CASE("A name that is not in a catalog file, or in two modules, is told", "[catalog_file]") {
  const WrittenFile written(file_bytes());
  const Device device = open_device(fake_cuda_options());
  const CatalogFile file = Catalog::open(written.path()).value();
  CHECK(message(device.function("scale_add", file)) ==
        "modules 'arithmetic' and 'pair' both have a kernel 'scale_add'");
  CHECK(message(device.function("scale_ad", file)) == "catalog 'tests' has no kernel 'scale_ad'");
  CHECK(message(device.function("nothing", file, "pear")) ==
        "catalog 'tests' has no module 'pear'");
  CHECK(message(device.function("tick", file, "pair")) == "module 'pair' has no kernel 'tick'");
  CHECK(device.function("nothing", file, "pair"));
  // The same for the catalog of a header.
  const Catalog& catalog = file.catalog();
  CHECK(device.function("nothing", catalog, "pair"));
  CHECK(message(device.function("nothin", catalog)) == "catalog 'tests' has no kernel 'nothin'");
}

TEST_CASE("An instance of a template is found by its name in the source", "[catalog_file]") {
  static constexpr KernelEntry kKernels[] = {{"_Z5saxpyIdEvPT_", 0, {}},
                                             {"_Z5saxpyIfEvPKT_", 0, {}},
                                             {"_Z5saxpyIfEvPT_", 0, {}},
                                             {"_Z7reversePf", 0, {}}};
  static constexpr ModuleEntry kModule{"vectors", 0, 1, kKernels, {}, 0};
  CHECK(runtime::find_by_readable_name("saxpy<double>", kModule).value() == 0);
  CHECK(runtime::find_by_readable_name("saxpy<int>", kModule).value() < 0);
  const auto twice = runtime::find_by_readable_name("saxpy<float>", kModule);
  CHECK(message(twice) == "'saxpy<float>' may be two kernels of module 'vectors'");
  CHECK(twice.error().notes.size() == 3);
  const auto hint = [](std::string_view name) {
    return runtime::no_such_kernel(name, kModule).notes.at(0).text;
  };
  CHECK(hint("saxpy") == "the sources instantiate saxpy<double>, saxpy<float>, saxpy<float>");
  CHECK(hint("saxpy<int>") ==
        "the sources instantiate saxpy<double>, saxpy<float>, saxpy<float>; add the instance to them");
  CHECK(hint("saxpi<double>") == "did you mean 'saxpy<double>'?");
  CHECK(hint("saxpi") == "did you mean saxpy<double>, saxpy<float>, saxpy<float>?");
  CHECK(hint("reverse<float>") == "did you mean 'reverse'?");
}

TEST_CASE("A catalog file is read from memory, at a whole page alone", "[catalog_file]") {
  const std::string bytes = file_bytes();
  auto* const memory =
      static_cast<char*>(::operator new (bytes.size() + 1, std::align_val_t{4096}));
  std::copy(bytes.begin(), bytes.end(), memory);
  {
    const Device device = open_device(fake_cuda_options());
    const CatalogFile file = CatalogFile::open(memory, bytes.size()).value();
    check_scale_add(device, device.function("scale_add", file, "pair").value());
    CHECK(message(CatalogFile::open(memory + 1, bytes.size())) ==
          "the bytes of a catalog file lie at an address that is no multiple of 4096");
    const auto null = CatalogFile::open(nullptr, 100);
    REQUIRE_FALSE(null);
    CHECK(null.error().code == ErrorCode::kInvalidInput);
  }
  ::operator delete (memory, std::align_val_t{4096});
}

TEST_CASE("An image of a catalog file that is not what was written is not loaded",
          "[catalog_file]") {
  std::string bytes = file_bytes();
  const std::size_t at = bytes.find(".visible .entry nothing");
  REQUIRE(at != std::string::npos);
  bytes[at + 1] = 'V';
  const WrittenFile written(bytes);
  const Device device = open_device(fake_cuda_options());
  const CatalogFile file = Catalog::open(written.path()).value();
  const std::string said = message(device.function("scale_add", file, "arithmetic"));
  CHECK(said.ends_with("the image 'compute_80' of '" + written.path() +
                       "' is not what was written: its digest differs"));
  const ModuleEntry& module = *file->find("arithmetic");
  CHECK_FALSE(file.unpack(module.images[2]));
  CHECK(file.unpack(module.images[0]));
}

TEST_CASE("A look-up in a catalog file does not wait for a thread that checks a large image",
          "[catalog_file]") {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kLarge = std::size_t{32} << 20;
  tools::Catalog catalog = catalog_of_tests(Compression::kNone);
  tools::Artifact& image = catalog.modules.at(1).images.back();  // the PTX of scale_add
  image.bytes += std::string(kLarge, '\0');  // the driver reads up to the first NUL
  image.stored = image.bytes + '\0';
  image.digest = sha256(image.bytes);
  const WrittenFile written(file_bytes(catalog));
  const CatalogFile file = Catalog::open(written.path()).value();
  const auto start = Clock::now();
  CHECK(sha256(image.bytes) == image.digest);
  const Clock::duration hashing = Clock::now() - start;

  // The machine may be busy and stop the thread for longer than that, but not each time.
  Clock::duration longest = Clock::duration::max();
  for (int attempt = 0; attempt < 5 && longest > hashing / 2; ++attempt) {
    const Device device = open_device(fake_cuda_options());
    REQUIRE(device.function("nothing", file, "arithmetic"));
    std::atomic<bool> is_loaded = false;
    std::thread loading([&] {
      (void)device.function("scale_add", file, "pair");
      is_loaded = true;
    });
    longest = {};
    while (!is_loaded) {
      const auto before = Clock::now();
      (void)device.function("nothing", file, "arithmetic");
      longest = std::max(longest, Clock::now() - before);
    }
    loading.join();
  }
  CHECK(longest <= hashing / 2);
}

TEST_CASE("What is no catalog file is refused by its path", "[catalog_file]") {
  const WrittenFile text("{\"format\": 1}");
  CHECK(message(Catalog::open(text.path())) ==
        "cannot open '" + text.path() + "': this is no catalog file of kiln");
  const WrittenFile empty("");
  CHECK(message(Catalog::open(empty.path())) ==
        "cannot open '" + empty.path() + "': this is no catalog file of kiln");
  CHECK(message(Catalog::open("/nonexistent.kiln")).starts_with("cannot read '/nonexistent.kiln'"));
  CHECK(Catalog::open("/nonexistent.kiln").error().notes.back().text ==
        "--emit catalog of 'kiln build', beside the others that it has, writes one");
  CHECK(message(Catalog::open("/")) == "cannot read '/': it is no file");
}
