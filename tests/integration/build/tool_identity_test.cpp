// A tool is identified by its bytes: one changed byte in a private copy of a compiler, a library or
// a device library makes the steps that depend on it stale, and no others.
#include <fstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/integration/build/project.hpp"

using namespace kiln;
using namespace kiln::testing;
using Steps = std::vector<std::string>;
using tools::ToolKind;

namespace {

void link_into(const fs::path& target, const fs::path& name) {
  if (!fs::exists(target)) return;
  fs::create_directories(name.parent_path());
  fs::create_symlink(target, name);
}

void copy_into(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy(from, to, fs::copy_options::recursive);
}

// Makes a ROCm prefix with the layout of the real one, with its own clang, libLLVM and device
// libraries. Returns false if the real one has no libLLVM to copy (a static clang).
bool copy_rocm(const fs::path& to, fs::path& llvm, fs::path& ocml) {
  const fs::path from = real_toolchain().rocm_path;
  fs::path library;
  for (const tools::Tool::Part& part : real_toolchain().tool(ToolKind::kHipCompiler).parts) {
    if (part.path.filename().string().starts_with("libLLVM")) library = part.path;
    if (part.path.filename() == "ocml.bc") ocml = part.path;
  }
  if (from.empty() || library.empty() || ocml.empty() || !fs::exists(from / "llvm/bin/clang")) {
    return false;
  }
  for (const char* name : {"bin", "libexec"}) {
    if (fs::exists(from / name)) copy_into(from / name, to / name);
  }
  for (const char* name : {"include", "lib", "share"}) link_into(from / name, to / name);
  copy_into(ocml.parent_path(), to / "amdgcn/bitcode");
  ocml = to / "amdgcn/bitcode/ocml.bc";

  const fs::path bin = fs::canonical(from / "llvm/bin/clang").parent_path();
  for (const char* name : {"clang", "clang-offload-bundler", "lld"}) {
    copy_into(fs::canonical(bin / name), to / "llvm/bin" / name);
  }
  for (const char* name : {"clang++", "clang-17", "clang++-17"}) {
    fs::create_symlink("clang", to / "llvm/bin" / name);
  }
  fs::create_symlink("lld", to / "llvm/bin/ld.lld");
  for (const auto& entry : fs::directory_iterator(bin.parent_path() / "lib")) {
    const std::string name = entry.path().filename().string();
    if (name == "clang" || name.starts_with("libclang-cpp.so")) link_into(entry.path(), to / "llvm/lib" / name);
  }
  llvm = to / "llvm/lib" / library.filename();
  copy_into(fs::canonical(library), llvm);
  return true;
}

void copy_cuda(const fs::path& to) {
  const fs::path from = fs::canonical(real_toolchain().cuda_path);
  for (const char* name : {"nvcc", "ptxas"}) copy_into(from / "bin" / name, to / "bin" / name);
  for (const char* name : {"nvcc.profile", "cudafe++", "fatbinary", "nvlink", "crt"}) {
    link_into(from / "bin" / name, to / "bin" / name);
  }
  copy_into(from / "nvvm/bin/cicc", to / "nvvm/bin/cicc");
  for (const char* name : {"nvvm/libdevice", "include", "targets", "lib64"}) link_into(from / name, to / name);
}

// Changes the last byte of a file during its lifetime: in an ELF file it belongs to a table that no
// loader reads.
class ChangedByte {
 public:
  explicit ChangedByte(const fs::path& path) : path_(path) { flip(); }
  ~ChangedByte() { flip(); }
  ChangedByte(const ChangedByte&) = delete;
  ChangedByte& operator=(const ChangedByte&) = delete;

 private:
  void flip() {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(byte);
  }
  fs::path path_;
};

}  // namespace

TEST_CASE("kiln build finds exactly the steps stale that depend on a changed byte of a tool") {
  KILN_NEEDS_BOTH_VENDORS();
  const ScratchFolder folder;
  const fs::path rocm = folder / "rocm", cuda = folder / "cuda";
  fs::path llvm, ocml;
  if (!copy_rocm(rocm, llvm, ocml)) SKIP("the HIP compiler of this machine has no libLLVM of its own");
  copy_cuda(cuda);
  Project project(folder / "project");
  project.environment = {{"ROCM_PATH", rocm.string()}, {"HIP_PATH", rocm.string()},
                         {"CUDA_PATH", cuda.string()}, {"CUDA_HOME", cuda.string()}};
  const tools::Outcome built = project.kiln({"build"});
  INFO(built.diagnostics);
  REQUIRE(built.ok());
  REQUIRE(project.kiln({"build", "--dry-run"}).output.starts_with("15 steps: 0 would run"));

  const Steps amd = {"compile affine gfx1030", "compile affine gfx1100", "compile fill gfx1030",
                     "compile fill gfx1100"};
  const Steps amd_bundles = {"bundle affine", "bundle fill"};
  const Steps cubin = {"compile affine sm_80", "compile fill sm_80"};
  const Steps ptx = {"compile affine compute_80", "compile fill compute_80"};
  const Steps fatbins = {"fatbin affine", "fatbin fill"};
  const auto join = [](Steps a, const Steps& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    return a;
  };
  struct Case {
    fs::path changed;
    Steps stale, follow;
  };
  // The offload bundler is also linked with libLLVM.
  for (const Case& one : {Case{llvm, join(amd, amd_bundles), {}}, Case{ocml, amd, amd_bundles},
                          Case{cuda / "nvvm/bin/cicc", ptx, join(cubin, fatbins)},
                          Case{cuda / "bin/ptxas", cubin, fatbins}}) {
    CAPTURE(one.changed);
    const ChangedByte changed(one.changed);
    const auto events = project.events({"--dry-run"});
    CHECK(steps_of(events, "stale") == one.stale);
    CHECK(steps_of(events, "follows") == one.follow);
    for (const tools::Json& event : events) {
      if (text_of(event, "event") != "stale") continue;
      const auto& reasons = *event.find("reasons")->array();
      REQUIRE(reasons.size() == 1);
      CHECK(*reasons[0].text() == one.changed.filename().string() + " changed");
    }
  }
  CHECK(project.kiln({"build", "--dry-run"}).output.starts_with("15 steps: 0 would run"));
}

TEST_CASE("kiln build makes a host image anew if a library changed that is linked into it") {
  const tools::Tool& compiler = real_toolchain().tool(ToolKind::kHostCompiler);
  fs::path libgcc;
  for (const tools::Tool::Part& part : compiler.parts) {
    if (part.role == "libgcc") libgcc = part.path;
  }
  if (libgcc.empty()) SKIP("the host compiler of this machine has no libgcc.a");
  const ScratchFolder folder;
  Project project(folder / "project");
  project.write("own/g++", "#!/bin/sh\nexec " + compiler.path.string() + " -B\"${0%/*}\" \"$@\"\n");
  const fs::path own = project.root() / "own";
  fs::permissions(own / "g++", fs::perms::owner_all);
  fs::copy_file(libgcc, own / "libgcc.a");
  project.environment = {{"KILN_CXX", (own / "g++").string()}};
  project.write(
      "targets.json",
      R"({"format": 1, "name": "demo", "targets": ["host"], "include_directories": ["{kiln}"],)"
      R"( "modules": [{"name": "divide", "sources": ["divide.cu"]}]})");
  // A division of 128 bits calls __divti3 of libgcc.a.
  project.write("divide.cu",
                "#include \"device/platform.cuh\"\n"
                "KILN_KERNEL(256, divide, __int128* x, __int128 by) {\n"
                "  x[kiln::device::thread_index()] /= by;\n}\n");
  const tools::Outcome built = project.kiln({"build"});
  INFO(built.diagnostics);
  REQUIRE(built.ok());

  const ChangedByte changed(own / "libgcc.a");
  const tools::Outcome stale = project.kiln({"build", "--dry-run", "--explain"});
  CHECK(stale.output.find("libgcc.a changed") != std::string::npos);
  // The cache has the image of the former libgcc.a.
  CHECK(steps_of(project.events({"--out", "other"}), "finished", "ran") ==
        Steps{"compile divide host"});
}
