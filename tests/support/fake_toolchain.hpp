// A ROCm in /opt/rocm and a CUDA toolkit in /usr/local/cuda that answer only the questions of
// find_tools, for tests that plan and never build.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/fake_files.hpp"
#include "tests/support/fake_processes.hpp"
#include "tools/system/environment.hpp"

namespace kiln::testing {

class FakeToolchain {
 public:
  FakeFiles files;
  FakeProcesses processes;
  tools::Environment environment;
  // The behaviour of nvcc: whether it refuses -Xcicc, and whether it passes cicc the option that
  // names the source.
  bool refuses_xcicc = false, names_sources = true;

  FakeToolchain() {
    environment.variables = {{"PATH", "/usr/bin"}, {"HOME", "/home/user"}};
    environment.current_directory = "/project";
    add_rocm("/opt/rocm");
    add_cuda("/usr/local/cuda");
    put("/usr/bin/perl", "perl");
    put("/usr/bin/gcc", "gcc");
    put("/usr/lib/gcc/cc1plus", "cc1plus");
    processes.add("/usr/bin/gcc", [](const tools::Command&) {
      return answer("/usr/lib/gcc/cc1plus\n");
    });
    put("/usr/bin/g++", "g++");
    processes.add("/usr/bin/g++", [](const tools::Command&) {
      return answer("g++ (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022\n");
    });
  }

  void put(const std::string& path, std::string_view bytes) { (void)files.write(path, bytes); }

  void add_rocm(const std::string& root) {
    put(root + "/bin/hipify-perl", "#!/usr/bin/perl\n");
    processes.add(root + "/bin/hipify-perl",
                  [](const tools::Command&) { return answer("HIP version 7.0.2\n"); });
    put(root + "/bin/hipcc", "hipcc");
    processes.add(root + "/bin/hipcc", [root](const tools::Command&) {
      return answer("HIP version: 6.4.3-0\nAMD clang version 19.0.0git\nInstalledDir: " + root +
                    "/llvm/bin\n");
    });
    put(root + "/llvm/bin/clang++", "clang");
    put(root + "/include/hip/hip_runtime.h", "");
    put(root + "/llvm/bin/ld.lld", "lld");
    processes.add(root + "/llvm/bin/clang++", [root](const tools::Command& command) {
      if (std::find(command.argv.begin(), command.argv.end(), "--version") != command.argv.end()) {
        return answer("clang version 19.0.0\nInstalledDir: " + root + "/llvm/bin\n");
      }
      return answer("", "\tgfx1030\n\tgfx1100\n\tgfx11-generic\n\tgfx90a\n\tgfx942\n");
    });
    put(root + "/llvm/bin/clang-offload-bundler", "bundler");
    processes.add(root + "/llvm/bin/clang-offload-bundler", [](const tools::Command&) {
      return answer("clang-offload-bundler version 19.0.0\n");
    });
    for (const char* name : {"ocml", "ockl", "oclc_abi_version_500", "oclc_isa_version_1030",
                             "oclc_isa_version_1100", "oclc_isa_version_11-generic",
                             "oclc_isa_version_90a"}) {
      put(root + "/amdgcn/bitcode/" + name + ".bc", name);
    }
  }

  void add_cuda(const std::string& root) {
    put(root + "/bin/nvcc", "nvcc");
    put(root + "/bin/nvcc.profile", "profile");
    put(root + "/bin/ptxas", "ptxas");
    put(root + "/bin/fatbinary", "fatbinary");
    put(root + "/nvvm/bin/cicc", "cicc");
    put(root + "/nvvm/libdevice/libdevice.10.bc", "libdevice");
    processes.add(root + "/bin/nvcc", [this, root](const tools::Command& command) {
      const std::string& option = command.argv.at(1);
      if (option == "--version") return answer("Cuda compilation tools, release 13.0, V13.0.88\n");
      if (option == "--list-gpu-code") return answer("sm_75\nsm_80\nsm_90\nsm_100\n");
      if (option == "--list-gpu-arch") {
        return answer("compute_75\ncompute_80\ncompute_90\ncompute_100\n");
      }
      const bool is_named =
          std::find(command.argv.begin(), command.argv.end(), "-Xcicc") != command.argv.end();
      if (is_named && refuses_xcicc) return failure("nvcc fatal   : Unknown option '-Xcicc'\n");
      return answer("", "#$ _HERE_=" + root + "/bin\n#$ CICC_PATH=" + root +
                            "/bin/../nvvm/bin\n#$ PATH=" + root + "/bin:" + path_of(command) +
                            "\n#$ NVVMIR_LIBRARY_DIR=" + root +
                            "/bin/../nvvm/libdevice\n#$ \"$CICC_PATH/cicc\"" +
                            (names_sources ? " --orig_src_path_name \"/dev/null\"" : "") +
                            (is_named ? " --orig_src_path_name name\n" : "\n"));
    });
    processes.add(root + "/bin/fatbinary", [](const tools::Command&) {
      return answer("Cuda compilation tools, release 13.0, V13.0.88\n");
    });
  }

  static std::string path_of(const tools::Command& command) {
    for (const auto& [name, value] : command.environment) {
      if (name == "PATH") return value;
    }
    return {};
  }

  static tools::Outcome failure(std::string diagnostics) {
    tools::Outcome outcome = answer("", std::move(diagnostics));
    outcome.exit_code = 1;
    return outcome;
  }

  static tools::Outcome answer(std::string output, std::string diagnostics = {}) {
    tools::Outcome outcome;
    outcome.output = std::move(output);
    outcome.diagnostics = std::move(diagnostics);
    return outcome;
  }
};

}  // namespace kiln::testing
