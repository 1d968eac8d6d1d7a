#include "tools/engine/find_tools.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_toolchain.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeToolchain;

namespace {

Toolchain find(FakeToolchain& machine) {
  Result<Toolchain> toolchain = find_tools(machine.files, machine.processes, machine.environment);
  REQUIRE(toolchain);
  return *std::move(toolchain);
}

std::vector<std::string> paths_of(const Tool& tool, std::string_view role) {
  std::vector<std::string> paths;
  for (const Tool::Part& part : tool.parts) {
    if (part.role == role) paths.push_back(part.path.string());
  }
  return paths;
}

}  // namespace

TEST_CASE("find_tools finds every tool with its version and rule") {
  FakeToolchain machine;
  const Toolchain toolchain = find(machine);
  REQUIRE(toolchain.tools.size() == 6);
  CHECK(toolchain.tool(ToolKind::kHipify).version == "7.0.2");
  CHECK(toolchain.tool(ToolKind::kHipCompiler).version == "HIP 6.4.3, clang 19.0.0");
  CHECK(toolchain.tool(ToolKind::kHipCompiler).rule == "/opt/rocm");
  CHECK(toolchain.tool(ToolKind::kNvcc).version == "13.0.88");
  CHECK(toolchain.tool(ToolKind::kFatbinary).version == "13.0.88");
  CHECK(toolchain.tool(ToolKind::kHostCompiler).version == "12.2.0");
  // Only clang knows gfx942, so it cannot be built.
  CHECK(toolchain.amd_processors ==
        std::vector<std::string>{"gfx1030", "gfx11-generic", "gfx1100", "gfx90a"});
  CHECK(toolchain.nvidia_targets.front() == "compute_100");
}

TEST_CASE("find_tools names the files that decide what a tool makes, by role") {
  FakeToolchain machine;
  const Toolchain toolchain = find(machine);
  const Tool& nvcc = toolchain.tool(ToolKind::kNvcc);
  CHECK(paths_of(nvcc, "ptxas") == std::vector<std::string>{"/usr/local/cuda/bin/ptxas"});
  CHECK(paths_of(nvcc, "cicc") == std::vector<std::string>{"/usr/local/cuda/nvvm/bin/cicc"});
  CHECK(paths_of(nvcc, "libdevice").size() == 1);
  CHECK(paths_of(nvcc, "program") == std::vector<std::string>{"/usr/local/cuda/bin/nvcc",
                                                              "/usr/local/cuda/bin/nvcc.profile"});
  CHECK(paths_of(nvcc, "preprocessor").size() == 2);
  const Tool& hipcc = toolchain.tool(ToolKind::kHipCompiler);
  CHECK(paths_of(hipcc, "device-library:1100").size() == 1);
  CHECK(paths_of(hipcc, "device-library").size() == 3);
  CHECK(paths_of(hipcc, "script") == std::vector<std::string>{"/opt/rocm/bin/hipcc"});
  CHECK(paths_of(toolchain.tool(ToolKind::kHipify), "interpreter") ==
        std::vector<std::string>{"/usr/bin/perl"});
}

TEST_CASE("find_tools names what a host compiler calls, what it links, and its specs") {
  FakeToolchain machine;
  const std::string folder = "/usr/lib/gcc/12/";
  machine.put("/usr/bin/ld", "ld");
  for (const char* name : {"cc1plus", "crti.o", "libc.so", "libgcc.a"})
    machine.put(folder + name, name);
  machine.processes.add("/usr/bin/g++", [&](const Command& command) {
    const std::string& option = command.argv.at(1);
    const std::string name = option.substr(option.find('=') + 1);
    // gcc answers with the bare name if it has no such file, or leaves it to PATH.
    if (option == "--version") return FakeToolchain::answer("g++ (Debian 12.2.0-14) 12.2.0\n");
    const bool is_own = machine.files.status(folder + name).has_value();
    return FakeToolchain::answer((is_own ? folder + "../12/" : "") + name + "\n");
  });
  const Tool before = find(machine).tool(ToolKind::kHostCompiler);
  CHECK(paths_of(before, "compiler") == std::vector{folder + "cc1plus"});
  CHECK(paths_of(before, "linker") == std::vector<std::string>{"/usr/bin/ld"});
  CHECK(paths_of(before, "linked") == std::vector{folder + "crti.o", folder + "libc.so"});
  CHECK(paths_of(before, "libgcc") == std::vector{folder + "libgcc.a"});
  CHECK(paths_of(before, "program") == std::vector<std::string>{"/usr/bin/g++"});
  machine.put(folder + "specs", "*link: -z now");
  CHECK(paths_of(find(machine).tool(ToolKind::kHostCompiler), "program") ==
        std::vector<std::string>{"/usr/bin/g++", folder + "specs"});
}

TEST_CASE("find_tools gives no perl to drive a hipify-perl that kiln was not tested with") {
  FakeToolchain machine;
  const Tool hipify = find(machine).tool(ToolKind::kHipify);
  CHECK(hipify.found());
  CHECK(hipify.driver_perl.empty());
}

TEST_CASE("find_tools tells whether nvcc can be told what to name internal functions after") {
  FakeToolchain machine;
  bool expected = true;
  SECTION("it can") {}
  SECTION("nvcc refuses the option") {
    machine.refuses_xcicc = true;
    expected = false;
  }
  SECTION("nvcc passes it on, but its cicc is not known to take it") {
    machine.names_sources = false;
    expected = false;
  }
  for (const char* which : {"looked at", "remembered"}) {
    CAPTURE(which);
    const Tool nvcc = find(machine).tool(ToolKind::kNvcc);
    CHECK(nvcc.found());
    CHECK(nvcc.takes_source_name == expected);
    CHECK(shortcoming(nvcc).empty() == expected);
    CHECK(paths_of(nvcc, "ptxas").size() == 1);
  }
}

TEST_CASE("find_tools runs nothing when all is as it was, and looks again when a part changed") {
  FakeToolchain machine;
  (void)find(machine);
  machine.processes.forget();
  CHECK(find(machine).tool(ToolKind::kNvcc).found());
  CHECK(machine.processes.ran().empty());

  machine.put("/usr/local/cuda/bin/ptxas", "another ptxas");
  CHECK(find(machine).tool(ToolKind::kNvcc).found());
  CHECK_FALSE(machine.processes.ran().empty());
  for (const Command& command : machine.processes.ran()) {
    CHECK_FALSE(command.argv[0].starts_with("/opt/rocm"));
  }

  machine.processes.forget();
  machine.put("/opt/rocm/amdgcn/bitcode/oclc_isa_version_942.bc", "new");
  const Toolchain toolchain = find(machine);
  CHECK(std::binary_search(toolchain.amd_processors.begin(), toolchain.amd_processors.end(),
                           "gfx942"));
}

TEST_CASE("find_tools looks again when a program or library is found elsewhere") {
  FakeToolchain machine;
  machine.environment.variables["PATH"] = "/early:/usr/bin";
  machine.environment.variables["LD_LIBRARY_PATH"] = "/none:/libraries";
  machine.put("/libraries/libone.so", "one");
  machine.put("/early/gcc/README", "a folder of that name is no program");
  CHECK(paths_of(find(machine).tool(ToolKind::kNvcc), "preprocessor") ==
        std::vector<std::string>{"/usr/bin/gcc", "/usr/lib/gcc/cc1plus"});
  machine.processes.forget();
  SECTION("gcc") {
    REQUIRE(machine.files.remove_all("/early/gcc"));
    machine.put("/early/gcc", "another gcc");
    machine.processes.add("/early/gcc", [](const Command&) {
      Outcome outcome;
      outcome.output = "/usr/lib/gcc/cc1plus\n";
      return outcome;
    });
    CHECK(paths_of(find(machine).tool(ToolKind::kNvcc), "preprocessor") ==
          std::vector<std::string>{"/early/gcc", "/usr/lib/gcc/cc1plus"});
  }
  SECTION("a gcc beside nvcc, which nvcc takes before those on PATH") {
    machine.put("/usr/local/cuda/bin/gcc", "another gcc");
    machine.processes.add("/usr/local/cuda/bin/gcc", [](const Command&) {
      return FakeToolchain::answer("/usr/lib/gcc/cc1plus\n");
    });
    CHECK(paths_of(find(machine).tool(ToolKind::kNvcc), "preprocessor") ==
          std::vector<std::string>{"/usr/lib/gcc/cc1plus", "/usr/local/cuda/bin/gcc"});
  }
  SECTION("a library") {
    machine.put("/libraries/libtwo.so", "two");
    (void)find(machine);
    CHECK_FALSE(machine.processes.ran().empty());
  }
  SECTION("a folder of libraries") {
    machine.put("/none/libtwo.so", "two");
    (void)find(machine);
    CHECK_FALSE(machine.processes.ran().empty());
  }
}

TEST_CASE("find_tools counts the configuration of clang, also when it comes later") {
  FakeToolchain machine;
  (void)find(machine);
  machine.put("/opt/rocm/llvm/bin/clang++.cfg", "-DX");
  CHECK(paths_of(find(machine).tool(ToolKind::kHipCompiler), "program") ==
        std::vector<std::string>{"/opt/rocm/llvm/bin/clang++", "/opt/rocm/llvm/bin/clang++.cfg"});
}

TEST_CASE("find_tools takes a damaged memory for an empty one") {
  FakeToolchain machine;
  const std::string memory = machine.environment.cache_directory() / "tools";
  (void)find(machine);
  const std::string whole = *machine.files.read(memory);
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    machine.put(memory, whole.substr(0, size));
    machine.processes.forget();
    CHECK(find(machine).tool(ToolKind::kHipCompiler).found());
    CHECK_FALSE(machine.processes.ran().empty());
  }
}

TEST_CASE("find_tools prefers a tool's variable, then the vendor's folder, then PATH") {
  FakeToolchain machine;
  machine.add_cuda("/tools/cuda-12");
  machine.environment.variables["CUDA_PATH"] = "/tools/cuda-12";
  CHECK(find(machine).tool(ToolKind::kNvcc).path == "/tools/cuda-12/bin/nvcc");
  CHECK(find(machine).tool(ToolKind::kNvcc).rule == "CUDA_PATH");
  machine.environment.variables["CUDA_PATH"] = "../tools/cuda-12/";  // from where kiln started
  CHECK(find(machine).tool(ToolKind::kNvcc).path == "/tools/cuda-12/bin/nvcc");
  CHECK(find(machine).cuda_path == "/tools/cuda-12");
  machine.environment.variables["KILN_NVCC"] = "/usr/local/cuda/bin/nvcc";
  CHECK(find(machine).tool(ToolKind::kNvcc).rule == "KILN_NVCC");

  FakeToolchain other;
  (void)other.files.remove_all("/usr/local/cuda");
  other.add_cuda("/far");
  other.environment.variables["PATH"] = "/usr/bin:/far/bin";
  CHECK(find(other).tool(ToolKind::kNvcc).path == "/far/bin/nvcc");
  CHECK(find(other).tool(ToolKind::kNvcc).rule == "PATH");
}

TEST_CASE("find_tools says where it looked and what to install when a tool is absent or broken") {
  FakeToolchain machine;
  machine.processes.add("/usr/local/cuda/bin/nvcc", [](const Command&) {
    Outcome outcome;
    outcome.exit_code = 127;
    return outcome;
  });
  const Tool nvcc = find(machine).tool(ToolKind::kNvcc);
  CHECK_FALSE(nvcc.found());
  CHECK(nvcc.missing.find("exit status 127") != std::string::npos);
  CHECK(nvcc.missing.find("nvcc on PATH") != std::string::npos);
  CHECK(nvcc.install == "apt-get install nvidia-cuda-toolkit");
}

TEST_CASE("find_tools passes an interruption on") {
  class Interrupted final : public Processes {
    Result<Outcome> run(const Command&) override {
      return Error{ErrorCode::kInterrupted, "interrupted"};
    }
  };
  FakeToolchain machine;
  Interrupted processes;
  const auto toolchain = find_tools(machine.files, processes, machine.environment);
  REQUIRE_FALSE(toolchain);
  CHECK(toolchain.error().code == ErrorCode::kInterrupted);
}

TEST_CASE("find_tools counts the compiler that NVCC_CCBIN names as a part of nvcc") {
  FakeToolchain machine;
  const auto before = paths_of(find(machine).tool(ToolKind::kNvcc), "preprocessor");
  machine.put("/elsewhere/gcc", "another gcc");
  machine.processes.add("/elsewhere/gcc", [](const tools::Command&) {
    return FakeToolchain::answer("/usr/lib/gcc/cc1plus\n");
  });
  for (const char* value : {"/elsewhere/gcc", "/elsewhere"}) {
    machine.environment.variables["NVCC_CCBIN"] = value;
    const auto now = paths_of(find(machine).tool(ToolKind::kNvcc), "preprocessor");
    CHECK(now != before);
    CHECK(now.front() == "/elsewhere/gcc");
  }
}

TEST_CASE("find_tools runs nothing with variables of the user's own that do not count") {
  FakeToolchain machine;
  machine.environment.variables["PERL5OPT"] = "-Mevil";
  (void)find(machine);
  REQUIRE_FALSE(machine.processes.ran().empty());
  for (const tools::Command& command : machine.processes.ran()) {
    CHECK(command.inherit == tools::Inherit::kNothing);
    for (const auto& [name, value] : command.environment) CHECK(name != "PERL5OPT");
  }
}

TEST_CASE("find_tools runs nothing out of a folder that others may write to") {
  FakeToolchain machine;
  REQUIRE(machine.files.remove_all("/opt/rocm"));
  machine.add_rocm("/home/user/.local/share/kiln/toolchain/rocm");
  CHECK(find(machine).tool(ToolKind::kHipify).found());
  machine.files.untrusted["/home/user/.local/share/kiln/toolchain"] = "everybody may write to it";
  const Tool hipify = find(machine).tool(ToolKind::kHipify);
  CHECK_FALSE(hipify.found());
  CHECK(
      hipify.missing.find("not /home/user/.local/share/kiln/toolchain because everybody may write "
                          "to it") != std::string::npos);
  machine.files.untrusted.clear();
  machine.environment.variables.erase("HOME");
  machine.add_rocm("/tmp/.local/share/kiln/toolchain/rocm");
  CHECK_FALSE(find(machine).tool(ToolKind::kHipify).found());
}
