#include "tools/commands/init.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/check_path.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

struct NewFile {
  std::string name, text;
};

// Returns an identifier that resembles `text`.
std::string as_identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_plain ? c : '_';
  }
  if (!is_identifier(name)) name = "my_" + name;
  return name;
}

// Returns the name of the project and of its program: an identifier of at most 64 letters, and none
// that CMake keeps for its own targets (policy CMP0037).
std::string project_name(const std::string& folder) {
  static const std::set<std::string> reserved = {
      "ALL_BUILD",      "INSTALL",    "RUN_TESTS",     "ZERO_CHECK", "all",
      "clean",          "edit_cache", "help",          "install",    "package",
      "package_source", "preinstall", "rebuild_cache", "test"};
  const std::string name = as_identifier(folder).substr(0, 64);
  return reserved.contains(name) ? "my_" + name : name;
}

constexpr const char* kKernel = R"(#include "device/platform.cuh"

// y[i] += a * x[i], a thread an element, for blocks of up to 256 threads.
KILN_KERNEL(256, saxpy, kiln::u32 n, float a, const float* x, float* y) {
  const kiln::u32 i = kiln::device::block_index() * kiln::device::block_size() + kiln::device::thread_index();
  if (i < n) y[i] += a * x[i];
}
)";

constexpr const char* kAbi =
    R"({"format": 1, "modules": {"saxpy": {"saxpy": ["u32 n", "f32 a", "const f32* x", "f32* y"]}}}
)";

constexpr const char* kHead = R"(#include <kernels.hpp>  // generated
#include <kiln/runtime.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

)";

constexpr const char* kTail = R"(
int main() {
  const auto done = run();
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return 1;
}
)";

constexpr const char* kRunSaxpy = R"(// y = 1 + 2 * x on the default device.
kiln::Result<void> run() {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return runtime.error();
  auto device = runtime->default_device();
  if (!device) return device.error();
  auto x = device->upload(std::vector<float>{1, 2, 3, 4});
  if (!x) return x.error();
  auto y = device->upload(std::vector<float>(4, 1.0f));
  if (!y) return y.error();
  auto saxpy = device->function(kernels::saxpy);
  if (!saxpy) return saxpy.error();
  auto launched = saxpy->launch({{1}, {256}}, std::uint32_t{4}, 2.0f, *x, *y);
  if (!launched) return launched;
  auto result = device->download(*y);
  if (!result) return result.error();
  std::printf("%s:", device->info().name.c_str());
  for (const float value : *result) std::printf(" %g", value);
  std::puts("");
  return {};
}
)";

constexpr const char* kRunAll =
    R"(// Loads every kernel onto the default device, and says what each takes.
kiln::Result<void> run() {
  auto runtime = kiln::Runtime::open();
  if (!runtime) return runtime.error();
  auto device = runtime->default_device();
  if (!device) return device.error();
  for (const kiln::ModuleEntry* module : kernels::catalog().modules) {
    auto loaded = device->load(*module);
    if (!loaded) return loaded;
    for (const kiln::KernelEntry& kernel : module->kernels) {
      std::printf("%s: %zu arguments\n", kiln::readable_name(kernel.name).c_str(), kernel.parameters.size());
    }
  }
  return {};
}
)";

std::string cmake_lists(const std::string& name) {
  return "# cmake -G Ninja -B build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build && build/" + name +
         "\ncmake_minimum_required(VERSION 3.22)\nproject(" + name +
         " LANGUAGES CXX)\n\nfind_package(kiln 0.1 REQUIRED)\nkiln_add_kernels(TARGET " + name +
         "_kernels MANIFEST targets.json OPTIONS --allow-missing)\nadd_executable(" + name +
         " main.cpp)\ntarget_link_libraries(" + name + " PRIVATE " + name +
         "_kernels kiln::runtime)\n";
}

struct Source {
  std::string name, text, module;

  bool contains(std::string_view word) const { return text.find(word) != std::string::npos; }
  // True if the source can be built for the host. It then needs kiln's headers for kernels.
  bool is_kiln_spelt() const { return contains("device/platform.cuh") || contains("KILN_KERNEL"); }
};

// Gives modules unique names: "a-b.cu" and "a_b.cu" -> a_b, a_b_2.
void name_modules(std::vector<Source>& sources) {
  std::set<std::string> used_names;
  for (Source& source : sources) {
    const std::string stem = as_identifier(fs::path(source.name).stem().string());
    source.module = stem;
    for (int i = 2; !used_names.insert(source.module).second; ++i) {
      source.module = stem + "_" + std::to_string(i);
    }
  }
}

// Checks that the folder and the sources can be given to the compilers.
Result<void> check_names(const fs::path& folder, const fs::path& shown, const std::vector<Source>& sources) {
  const auto refused = [](const std::string& what, const std::string& why) {
    return Error{ErrorCode::kInvalidInput, what + " cannot be given to the compilers"}.note(why).hint("rename it");
  };
  if (const std::string why = why_not_a_folder_path(folder.native()); !why.empty()) {
    return refused("the folder " + quote(folder.string()), why);
  }
  for (const Source& source : sources) {
    if (const std::string why = why_not_a_source_path(source.name); !why.empty()) {
      return refused("source " + quote((shown / source.name).lexically_normal().string()), why);
    }
  }
  return {};
}

constexpr const char* kGpus = R"("gfx1100", "gfx90a", "sm_80", "sm_90", "compute_80"])";
constexpr const char* kHostAndGpus = R"("targets": ["host", )";
constexpr const char* kGpusAlone = R"("targets": [)";

// If some sources are plain CUDA, each module that the host can build lists its own targets.
std::string manifest(const std::string& name, const std::vector<Source>& sources, bool has_abi) {
  const bool any = std::ranges::any_of(sources, &Source::is_kiln_spelt);
  const bool all = std::ranges::all_of(sources, &Source::is_kiln_spelt);
  std::string modules;
  for (const Source& source : sources) {
    modules += std::string(modules.empty() ? "" : ",") + "\n    {\"name\": \"" + source.module +
               "\", \"sources\": [" + std::string(trim(write_json(Json(source.name)))) + "]";
    if (source.is_kiln_spelt() && !all) modules += std::string(", ") + kHostAndGpus + kGpus;
    modules += "}";
  }
  std::string text = "{\n  \"format\": 1,\n  \"name\": \"" + name + "\",\n  " +
                     (all ? kHostAndGpus : kGpusAlone) + kGpus + ",\n  \"modules\": [" + modules + "\n  ]";
  if (has_abi) text += ",\n  \"abi\": \"abi.json\"";
  if (any) text += ",\n  \"include_directories\": [\"{kiln}\"]";
  return text + "\n}\n";
}

// Finds the sources in the folder, sorted by name. Returns none if the folder does not exist.
Result<std::vector<Source>> find_sources(const fs::path& folder, const fs::path& shown, const Files& files) {
  std::vector<Source> sources;
  if (files.kind(folder) == PathKind::kFile) {
    return Error{ErrorCode::kInvalidInput, quote(shown.string()) + " is a file, not a folder"}.hint(
        "name the folder that it lies in, or a new one");
  }
  if (files.kind(folder) != PathKind::kFolder) return sources;
  KILN_TRY_ASSIGN(const std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    if (!name.ends_with(".cu") || name.size() == 3) continue;
    KILN_TRY_ASSIGN(std::string text, files.read(folder / name));
    sources.push_back({name, std::move(text), {}});
  }
  std::ranges::sort(sources, {}, &Source::name);
  return sources;
}

// Writes all files or none, so that a failed command can be repeated. None of the files exists yet.
Result<void> write_new(const std::vector<NewFile>& added, const fs::path& folder, Files& files) {
  KILN_TRY(files.make_directories(folder));
  for (std::size_t i = 0; i < added.size(); ++i) {
    Result<void> written = files.write(folder / added[i].name, added[i].text);
    if (written) continue;
    while (i-- > 0) (void)files.remove_all(folder / added[i].name);
    return written;
  }
  return {};
}

}  // namespace

Result<int> run_init(const InitOptions& options, World& world) {
  const fs::path folder = (world.environment.current_directory / options.folder).lexically_normal();
  KILN_TRY_ASSIGN(std::vector<Source> sources, find_sources(folder, options.folder, world.files));
  const bool is_first = sources.empty();
  if (is_first) sources.push_back({"saxpy.cu", kKernel, {}});
  KILN_TRY(check_names(folder, options.folder, sources));
  name_modules(sources);
  const fs::path named =
      folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  const std::string name = project_name(named.string());

  std::vector<NewFile> files = {
      {"targets.json", manifest(name, sources, is_first)},
      {"CMakeLists.txt", cmake_lists(name)},
      {"main.cpp", std::string(kHead) + (is_first ? kRunSaxpy : kRunAll) + kTail}};
  if (is_first) {
    files.push_back({sources.front().name, sources.front().text});
    files.push_back({"abi.json", kAbi});
  }
  for (const NewFile& file : files) {
    if (world.files.kind(folder / file.name) == PathKind::kNone) continue;
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = quote((options.folder / file.name).string()) + " is there already"}
        .hint("nothing was written: remove that file, or name another folder");
  }
  KILN_TRY(write_new(files, folder, world.files));
  for (const NewFile& file : files) {
    world.out << "wrote " << (options.folder / file.name).lexically_normal().string() << "\n";
  }
  for (const Source& source : sources) {
    const bool is_spelt = source.contains("KILN_KERNEL");
    if (is_first || !(is_spelt || source.contains("extern \"C\""))) continue;
    world.out << "note: " << source.name << ": of " << (is_spelt ? "KILN_KERNEL" : "extern \"C\"")
              << " kernels only the sizes of arguments are known: "
              << (is_spelt ? "" : "leave extern \"C\" out, or ")
              << "write an abi file, and \"abi\": \"abi.json\" into the manifest:\n"
              << "  {\"format\": 1, \"modules\": {" << '"'
              << source.module << '"'
              << ": {\"kernel\": [\"u32 n\", \"const f32* x\", \"f32* y\"]}}}\n";
  }
  const auto below = [&](const fs::path& path) {
    return shell_quote((options.folder / path).lexically_normal().string());
  };
  world.out << "next: kiln build " << below("targets.json") << " --out " << below("out")
            << " --allow-missing\n"
            << "or the program, which builds the kernels too; PREFIX is where kiln is installed:\n"
            << "  cmake -G Ninja -S " << shell_quote(options.folder.lexically_normal().string()) << " -B "
            << below("build") << " -DCMAKE_PREFIX_PATH=PREFIX\n"
            << "  cmake --build " << below("build") << "\n"
            << "  " << below("build/" + name) << "\n";
  return 0;
}

}  // namespace kiln::tools
