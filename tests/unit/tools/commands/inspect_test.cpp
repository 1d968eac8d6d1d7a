#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/elf_builder.hpp"
#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tests/support/sample_images.hpp"
#include "tools/commands/cache.hpp"
#include "tools/commands/inspect.hpp"
#include "tools/commands/shared_store.hpp"
#include "tools/json/json_fields.hpp"
#include "tools/system/cache_store.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

constexpr const char* kPtx =
    ".version 9.0\n.target sm_80\n.address_size 64\n\n"
    ".visible .entry fill_f32(\n\t.param .u64 .ptr .align 1 fill_f32_param_0,\n"
    "\t.param .f32 fill_f32_param_1\n)\n{\n\tret;\n}\n";

struct Machine {
  testing::FakeFiles files;
  testing::FakeProcesses processes;
  Environment environment;
  std::ostringstream out, err;
  World world{.files = files, .processes = processes, .environment = environment, .out = out, .err = err};
  Machine() { environment.current_directory = "/w"; }
};

}  // namespace

TEST_CASE("inspect shows the kernels of a file as a table and as JSON") {
  Machine machine;
  REQUIRE(machine.files.write("/w/fill.ptx", kPtx));
  REQUIRE(run_inspect({.path = "/w/fill.ptx", .json = false}, machine.world).value() == 0);
  const std::string text = machine.out.str();
  CHECK(text.starts_with("compute_80, PTX ISA 9.0, "));
  CHECK(text.find(" 1 kernel\n") != std::string::npos);
  CHECK(text.find("fill_f32") != std::string::npos);
  CHECK(text.find("\n  spills           NVIDIA: bytes stored/loaded\n") != std::string::npos);
  CHECK(text.find("vgprs") == std::string::npos);
  machine.out.str("");
  REQUIRE(run_inspect({.path = "/w/fill.ptx", .json = true}, machine.world).value() == 0);
  CHECK(machine.out.str().find("\"target\": \"compute_80\"") != std::string::npos);
}

TEST_CASE("inspect says what is wrong with a file or folder that it cannot read") {
  Machine machine;
  REQUIRE(machine.files.write("/w/text", "hello"));
  const auto unknown = run_inspect({.path = "/w/text", .json = false}, machine.world);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::kInvalidInput);
  CHECK(unknown.error().where.file == "/w/text");
  const auto folder = run_inspect({.path = "/w", .json = false}, machine.world);
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == "'/w' is not the folder of a finished build");
  CHECK(folder.error().notes.back().text == "build it first: kiln build --out /w");
  const auto missing = run_inspect({.path = "/w/none", .json = false}, machine.world);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "there is no file or folder '/w/none'");
  REQUIRE(machine.files.write("/w/cut.hsaco", testing::make_hsaco().substr(0, 300)));
  const auto cut = run_inspect({.path = "cut.hsaco", .json = false}, machine.world);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().where.file == "cut.hsaco");
  CHECK(cut.error().message.starts_with("damaged ELF file: "));
  CHECK(cut.error().notes.back().text ==
        "the file is cut short or changed: build or copy it again");
  REQUIRE(machine.files.write("/w/out/kiln.json", "{\"format\": 7, \"images\": []}"));
  const auto other = run_inspect({.path = "/w/out", .json = false}, machine.world);
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "not a catalog of this kiln: its 'format' is not 1");
}

TEST_CASE("inspect says how to take the images out of a program or library of a vendor's compiler") {
  for (const std::string section : {".nv_fatbin", ".hip_fatbin", ".text"}) {
    INFO(section);
    testing::ElfBuilder elf;
    elf.machine = 62;  // x86-64
    elf.add({.name = section, .bytes = "image"});
    Machine machine;
    REQUIRE(machine.files.write("/w/libvectors.so", elf.build()));
    const auto refused = run_inspect({.path = "libvectors.so", .json = false}, machine.world);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().notes.back().text ==
          (section == ".text" ? "'kiln build' makes host images for the targets 'host' and 'host:wave64'"
                              : "'objcopy -O binary --only-section=" + section +
                                    " FILE OUT' takes out its GPU images, which inspect reads"));
  }
}

TEST_CASE("inspect takes the catalog of a build for the build") {
  Machine machine;
  const std::string catalog = "{\n  \"format\": 1,\n  \"images\": []\n}\n";
  REQUIRE(machine.files.write("/w/out/kiln.json", catalog));
  for (const char* path : {"out", "out/kiln.json"}) {
    machine.out.str("");
    REQUIRE(run_inspect({.path = path, .json = true}, machine.world).value() == 0);
    CHECK(machine.out.str() == catalog);
  }
}

TEST_CASE("inspect prints no document as a catalog that is none") {
  Machine machine;
  REQUIRE(machine.files.write("/w/out/kiln.json", "{\"version\": 3}"));
  const auto other = run_inspect({.path = "out", .json = true}, machine.world);
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "not the catalog of a build: it has no 'format'");
  CHECK(machine.out.str().empty());
}

TEST_CASE("A shared store keeps its counts and says what was damaged however its use ends") {
  Machine machine;
  machine.environment.variables = {{"KILN_CACHE_DIR", "/c"}};
  const auto fails_early = [&]() -> Result<void> {
    SharedStore store(StoreUse::kFolder, store_policies(machine.environment).value(),
                      cache_folder(machine.files, machine.environment), machine.world);
    store.get()->count(FoundIn::kNowhere);
    return Error{ErrorCode::kInterrupted, "interrupted"};
  };
  CHECK_FALSE(fails_early());
  CHECK(CacheStore(machine.files, "/c").counts().misses == 1);
}

TEST_CASE("cache shows what it holds and clears it") {
  Machine machine;
  machine.environment.variables = {{"KILN_CACHE_DIR", "/c"}, {"KILN_CACHE_SIZE", "1M"}};
  CacheStore store(machine.files, "/c");
  REQUIRE(store.store(sha256("key"), {std::string(1 << 19, 'x'), "log"}));
  REQUIRE(machine.files.write("/c/digests", "kept"));
  REQUIRE(run_cache({.action = CacheAction::kShow}, machine.world).value() == 0);
  CHECK(machine.out.str() ==
        "/c: 1 outputs, 0.5 MiB of 1.0 MiB\n"
        "  level   hits  misses     read  written  failures\n"
        "  folder     0       0  0.0 MiB        -         -\n"
        "  HTTP       0       0  0.0 MiB  0.0 MiB         0\n"
        "HTTP: no server (KILN_CACHE_URL)\n");
  machine.out.str("");
  REQUIRE(run_cache({.json = true}, machine.world).value() == 0);
  const Json shown = read_json(machine.out.str(), "cache").value();
  CHECK(text_of(shown, "folder") == "/c");
  CHECK(integer_of(shown, "size").value_or(0) >= 1 << 19);
  CHECK(integer_of(shown, "limit") == 1 << 20);
  CHECK(integer_of(*shown.find("http"), "hits") == 0);
  machine.out.str("");
  REQUIRE(run_cache({.action = CacheAction::kClear}, machine.world).value() == 0);
  CHECK(machine.out.str() == "/c: 0 outputs, 0.0 MiB of 1.0 MiB\n");
  CHECK(machine.files.status("/c/digests"));
}

TEST_CASE("inspect compares the images of a build with their catalog") {
  Machine machine;
  const auto catalog = [](const std::string& path) {
    return "{\n  \"format\": 1,\n  \"images\": [\n    {\n      \"path\": \"" + path +
           "\",\n      \"digest\": \"" + sha256(kPtx).hex() + "\",\n      \"size\": 1,\n" +
           "      \"format\": \"ptx\",\n      \"target\": \"compute_80\",\n" +
           "      \"kernels\": []\n    }\n  ]\n}\n";
  };
  const auto inspect = [&] { return run_inspect({.path = "out", .json = true}, machine.world); };
  REQUIRE(machine.files.write("/w/out/kiln.json", catalog("images/fill.ptx")));
  REQUIRE(machine.files.write("/w/out/images/fill.ptx", kPtx));
  const auto same = inspect();
  INFO((same ? "" : same.error().message));
  CHECK(same);
  REQUIRE(machine.files.write("/w/out/images/fill.ptx", "another"));
  const auto changed = inspect();
  REQUIRE_FALSE(changed);
  CHECK(changed.error().code == ErrorCode::kBuildFailed);
  CHECK(changed.error().message ==
        "'out/kiln.json' does not match the images beside it: 1 image of 1 differs");
  CHECK(changed.error().notes.front().text == "'images/fill.ptx' was changed");
  REQUIRE(machine.files.remove_all("/w/out/images/fill.ptx"));
  CHECK(inspect().error().notes.front().text == "'images/fill.ptx' is missing");
  REQUIRE(machine.files.write("/w/out/kiln.json", catalog("../secret")));
  CHECK(inspect().error().notes.front().text == "'../secret' lies outside the folder");
}
