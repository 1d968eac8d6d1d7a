// Modules that contain their source: compiling for the device, the cache on disk, and errors.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/processor.hpp"
#include "formats/host_flags.hpp"
#include "formats/source_bundle.hpp"
#include "runtime/src/host_compiler.hpp"
#include "subject.hpp"
#include "test_modules.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

namespace fs = std::filesystem;

// A module that contains only its source.
class SourceModule {
 public:
  explicit SourceModule(const std::string& text) {
    SourceBundle bundle;
    bundle.files = {{"kernels/arithmetic.cu", text}, {"kernels/scale.cuh", "// scale\n"}};
    stored_ = write_source_bundle(bundle);
    image_.target = "source";
    image_.format = ImageFormat::kSource;
    image_.data = reinterpret_cast<const unsigned char*>(stored_.data());
    image_.stored_size = image_.size = stored_.size();
    entry_ = ModuleEntry{"arithmetic", 0, 1, {kArithmeticKernels}, {&image_, 1}};
  }
  SourceModule(const SourceModule&) = delete;
  SourceModule& operator=(const SourceModule&) = delete;
  const ModuleEntry& entry() const { return entry_; }

 private:
  std::string stored_;
  ImageEntry image_;
  ModuleEntry entry_;
};

constexpr char kSource[] =
    "__global__ void nothing() {}\n__global__ void scale_add(unsigned long long n) {}\n";

// A runtime over a fake driver, with the matching fake compiler.
class Machine {
 public:
  explicit Machine(const std::string& driver) : subject_(subject_named(driver)) {}

  OpenOptions options() const {
    OpenOptions options = options_for(subject_);
    options.nvrtc_library = KILN_FAKE_NVRTC;
    options.hiprtc_library = KILN_FAKE_HIPRTC;
    options.compile_cache = cache();
    return options;
  }
  std::string cache() const { return (scratch_.path() / "compiled").string(); }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(cache())) paths.push_back(entry.path());
    return paths;
  }
  fake::Machine& fake() const { return *subject_.machine; }

 private:
  Subject subject_;
  ScratchFolder scratch_;
};

Device open_device(const OpenOptions& options) {
  const Result<Runtime> runtime = Runtime::open(options);
  REQUIRE(runtime);
  Result<Device> device = runtime->default_device();
  REQUIRE(device);
  return *device;
}

// Loads the module with a fresh runtime. Returns the line of the trace that says how it was
// compiled.
std::string load(OpenOptions options, const ModuleEntry& module) {
  std::string compiled;
  options.trace = [&](std::string_view line) {
    if (line.find("compiled for") != std::string_view::npos) compiled = line;
  };
  const Device device = open_device(options);
  const auto nothing = device.get_or_load_func("nothing", module);
  if (!nothing) FAIL(render(nothing.error()));
  CHECK(nothing->launch({{1}, {32}}));
  return compiled.substr(0, compiled.rfind(" in "));
}

}  // namespace

TEST_CASE("A module's source is compiled for the device, once a machine") {
  const std::string driver = GENERATE("fake_cuda", "fake_hip");
  const bool is_cuda = driver == "fake_cuda";
  const Machine machine(driver);
  const SourceModule module(kSource);
  const std::string line =
      is_cuda ? "cuda:0: module 'arithmetic': compiled for sm_90 by NVRTC 9.1"
              : "hip:0: module 'arithmetic': compiled for gfx90a:sramecc+:xnack- by hipRTC 9.1";
  CHECK(load(machine.options(), module.entry()) == line);
  CHECK(machine.fake().loads() ==
        std::vector<std::string>{is_cuda ? "0 FAKE sm_90" : "0 FAKE gfx90a:sramecc+:xnack-"});
  CHECK(machine.kept().size() == 1);
  CHECK(load(machine.options(), module.entry()) == line + ", found in the cache");

  SECTION("another source is compiled anew") {
    const SourceModule other(std::string(kSource) + "// changed\n");
    CHECK(load(machine.options(), other.entry()) == line);
    CHECK(machine.kept().size() == 2);
  }
  SECTION("a kept image that is damaged is compiled anew") {
    const fs::path kept = machine.kept().front();
    const auto size = fs::file_size(kept);
    for (const auto left : {std::uintmax_t{0}, std::uintmax_t{64}, size - 1}) {
      fs::resize_file(kept, left);
      CHECK(load(machine.options(), module.entry()) == line);
      CHECK(fs::file_size(kept) == size);
    }
  }
  SECTION("an image that was kept under another key is compiled anew") {
    const fs::path first = machine.kept().front();
    const SourceModule other(std::string(kSource) + "// changed\n");
    CHECK(load(machine.options(), other.entry()) == line);
    for (const fs::path& path : machine.kept()) {
      if (path != first) fs::copy_file(path, first, fs::copy_options::overwrite_existing);
    }
    CHECK(load(machine.options(), module.entry()) == line);
  }
  SECTION("a variable that the compiler reads counts") {
    REQUIRE(::setenv("HIPRTC_COMPILE_OPTIONS_APPEND", "-DX", 1) == 0);
    CHECK(load(machine.options(), module.entry()) == line);
    REQUIRE(::unsetenv("HIPRTC_COMPILE_OPTIONS_APPEND") == 0);
    CHECK(load(machine.options(), module.entry()) == line + ", found in the cache");
  }
  SECTION("a pipe in an entry's place is compiled anew") {
    const fs::path kept = machine.kept().front();
    fs::remove(kept);
    REQUIRE(::mkfifo(kept.c_str(), 0600) == 0);
    CHECK(load(machine.options(), module.entry()) == line);
  }
  SECTION("nothing is run out of a folder that everybody may write to") {
    const std::string folder =
        GENERATE(false, true) ? machine.cache() : fs::path(machine.cache()).parent_path().string();
    fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
    CHECK(load(machine.options(), module.entry()) ==
          line + ", not kept because everybody may write to " + folder);
  }
  SECTION("a relative XDG_CACHE_HOME is ignored, as the tools ignore it") {
    const char* const names[] = {"KILN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    std::vector<std::optional<std::string>> before;
    for (const char* name : names) {
      const char* value = std::getenv(name);
      before.push_back(value != nullptr ? std::optional<std::string>(value) : std::nullopt);
    }
    ::unsetenv("KILN_CACHE_DIR");
    ::setenv("XDG_CACHE_HOME", "relative-cache", 1);
    const fs::path home = fs::path(machine.cache()).parent_path() / "home";
    ::setenv("HOME", home.c_str(), 1);
    OpenOptions options = machine.options();
    options.compile_cache.clear();
    CHECK(load(options, module.entry()) == line);
    CHECK(fs::is_directory(home / ".cache/kiln/compiled"));
    CHECK_FALSE(fs::exists("relative-cache"));
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] ? ::setenv(names[i], before[i]->c_str(), 1) : ::unsetenv(names[i]);
    }
  }
  SECTION("nothing is kept where that is switched off, or cannot be") {
    OpenOptions options = machine.options();
    options.compile_cache = "off";
    CHECK(load(options, module.entry()) == line);
    options.compile_cache = "/dev/null/nowhere";
    CHECK(load(options, module.entry()) == line);
    CHECK(machine.kept().size() == 1);
  }
}

TEST_CASE("Runtimes that compile one source at once leave one whole image") {
  const Machine machine("fake_cuda");
  const SourceModule module(kSource);
  const OpenOptions options = machine.options();
  std::vector<std::string> errors(8);
  std::vector<std::thread> threads;
  for (std::string& error : errors) {
    threads.emplace_back([&] {
      const Result<Runtime> runtime = Runtime::open(options);
      const Result<Device> device = runtime->default_device();
      const auto loaded = device->get_or_load_func("nothing", module.entry());
      if (!loaded) error = loaded.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(machine.kept().size() == 1);
}

TEST_CASE("A header that lies where the program runs is not taken for the module's own") {
  const Machine machine(GENERATE("fake_cuda", "fake_hip"));
  const SourceModule module("#include \"scale.cuh\"\n" + std::string(kSource));
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() / "kernels");
  std::ofstream(scratch.path() / "kernels/scale.cuh") << "__global__ void stray() {}\n";
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  load(machine.options(), module.entry());
  fs::current_path(before);
  std::ifstream kept(machine.kept().front());
  const std::string image(std::istreambuf_iterator<char>(kept), {});
  CHECK(image.find(".entry nothing") != std::string::npos);
  CHECK(image.find("stray") == std::string::npos);
}

TEST_CASE("What a killed program left in the cache goes, unless another program compiles there") {
  const Machine machine("fake_cuda");
  const SourceModule first(kSource), second(std::string(kSource) + "// another\n");
  const fs::path left = fs::path(machine.cache()) / "compile-abcdef";
  fs::create_directories(left / "kernels");
  std::ofstream(left / ".log") << "half";

  const int other = ::open(machine.cache().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(other, LOCK_SH) == 0);
  load(machine.options(), first.entry());
  CHECK(fs::exists(left));
  ::close(other);

  load(machine.options(), second.entry());
  CHECK_FALSE(fs::exists(left));
  CHECK(machine.kept().size() == 2);
}

TEST_CASE("A signal does not make a program compile in a cache that another one is clearing") {
  const Machine machine("fake_cuda");
  const SourceModule module(kSource);
  fs::create_directories(machine.cache());
  const int other = ::open(machine.cache().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  struct sigaction interrupts = {}, before = {};
  interrupts.sa_handler = [](int) {};  // without SA_RESTART, so that calls that wait end with EINTR
  REQUIRE(::sigaction(SIGUSR1, &interrupts, &before) == 0);

  std::thread thread([&] { load(machine.options(), module.entry()); });
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::pthread_kill(thread.native_handle(), SIGUSR1);
  }
  const std::size_t kept = machine.kept().size();
  ::close(other);
  thread.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  CHECK(kept == 0);  // it waited all the time
  CHECK(machine.kept().size() == 1);
}

TEST_CASE("What the compiler says is part of the error") {
  const Machine machine("fake_cuda");
  const SourceModule module("__global__ void nothing() { mistake }\n");
  const auto failed = open_device(machine.options()).get_or_load_func("nothing", module.entry());
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::kBuildFailed);
  CHECK(render(failed.error()) ==
        "kiln: error: failed compiling module 'arithmetic' on cuda:0 (Fake H200, sm_90): "
        "nvrtcCompileProgram: NVRTC_ERROR_COMPILATION\n"
        "note: the compiler: kernels/scale.cuh(3): error: a mistake\n"
        "note: the compiler: 1 error detected\n");
  CHECK(machine.kept().empty());
}

TEST_CASE("Without a compiler the error has the reason, and what else would do") {
  const Machine machine("fake_cuda");
  OpenOptions options = machine.options();
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  const SourceModule module(kSource);
  const auto failed = open_device(options).get_or_load_func("nothing", module.entry());
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::kNoImage);
  CHECK(
      render(failed.error()) ==
      "kiln: error: no image of module 'arithmetic' runs on cuda:0 (Fake H200, sm_90)\n"
      "note: image 'source': no NVRTC on this machine\n"
      "note: image 'source': /nowhere/libnvrtc.so: cannot open shared object file: No such file or "
      "directory\n"
      "hint: the module holds its source and no image: NVRTC compiles it (KILN_NVRTC_LIBRARY), or build with "
      "--embed-source=beside for 'sm_90'\n");
}

TEST_CASE("An image that fits is taken before the source") {
  const Machine machine("fake_cuda");
  const SourceModule source(kSource);
  const std::vector<ImageEntry> images = {source.entry().images[0],
                                          stored("compute_80", ImageFormat::kPtx, kPtx, 0, 70)};
  const ModuleEntry module{"both", 0, 1, {kArithmeticKernels}, {images.data(), images.size()}};
  CHECK(load(machine.options(), module).empty());
  CHECK(machine.fake().loads() == std::vector<std::string>{"0 .version 7.0"});
}

TEST_CASE(
    "An image's key has the compiler's command line, and the processor if that is asked for") {
  SourceBundle bundle;
  bundle.files = {{"nothing.cpp", ""}};
  const TargetId host{.kind = TargetKind::kHost, .processor = "host"};
  const auto compiler = runtime::find_host_compiler("true");
  REQUIRE(compiler);
  const auto has = [&](const std::string& text) {
    return (*compiler)->ingredients(bundle, host).find(text) != std::string::npos;
  };
  for (const std::string& flag : host_compile_flags(false)) CHECK(has("\n" + flag + "\n"));
  for (const std::string& flag : host_link_flags()) CHECK(has("\n" + flag + "\n"));
  CHECK_FALSE(has(this_processor()));
  SECTION("by a flag of the module") {
    bundle.host_flags = {"-march=native"};
    CHECK(has(this_processor()));
  }
  SECTION("by a variable") {
    REQUIRE(::setenv("CCC_OVERRIDE_OPTIONS", "+-mtune=native", 1) == 0);
    CHECK(has(this_processor()));
    REQUIRE(::unsetenv("CCC_OVERRIDE_OPTIONS") == 0);
  }
}

TEST_CASE("The host's compiler needs to be told how a process ended, and is one program") {
  const ScratchFolder scratch;
  SourceBundle bundle;
  bundle.files = {{"nothing.cpp", ""}};
  const auto compiler = runtime::find_host_compiler("true");
  REQUIRE(compiler);
  std::signal(SIGCHLD, SIG_IGN);
  const auto image = (*compiler)->compile(bundle, scratch.path().string(),
                                            {.kind = TargetKind::kHost, .processor = "host"});
  std::signal(SIGCHLD, SIG_DFL);
  REQUIRE_FALSE(image);
  CHECK(image.error().message.ends_with("true: nothing tells how it ended"));
  CHECK(image.error().notes.back().text.starts_with("this program ignores SIGCHLD"));

  const auto two = runtime::find_host_compiler("ccache g++");
  REQUIRE_FALSE(two);
  CHECK(two.error().text() ==
        "no C++ compiler on this machine: looked for ccache g++\n"
        "hint: KILN_CXX is one program, without options or another before it");
}
