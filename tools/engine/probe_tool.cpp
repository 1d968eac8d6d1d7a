#include "tools/engine/probe_tool.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/elf.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/hipify/hipify_driver.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// The oldest host compilers that support what host images need (-march=x86-64-v3, _Float16).
constexpr int kOldestGcc = 12, kOldestClang = 15;

struct NamedPart {
  std::string role;
  std::string_view name;
};
// What a driver calls for a host image, and with -flto.
const std::array<NamedPart, 6> kHostPrograms = {{{"compiler", "cc1plus"},
                                                 {"compiler", "lto-wrapper"},
                                                 {"compiler", "lto1"},
                                                 {"assembler", "as"},
                                                 {"linker", "collect2"},
                                                 {"linker", "ld"}}};
// What it gives the linker with host_link_flags(). A C library other than glibc has fewer of them.
const std::array<NamedPart, 14> kHostLinkerInputs = {{{"linked", "crti.o"},
                                                      {"linked", "crtbeginS.o"},
                                                      {"linked", "crtendS.o"},
                                                      {"linked", "crtn.o"},
                                                      {"linked", "libc.so"},
                                                      {"linked", "libc.so.6"},
                                                      {"linked", "libc_nonshared.a"},
                                                      {"linked", "libm.so"},
                                                      {"linked", "libm.so.6"},
                                                      {"linked", "libmvec.so.1"},
                                                      {"linked", "libgcc_s.so"},
                                                      {"linked", "libgcc_s.so.1"},
                                                      {"linker", "liblto_plugin.so"},
                                                      {"libgcc", "libgcc.a"}}};

// Returns the first dotted number that follows `marker`: "release 13.0, V13.0.88" with marker "V"
// -> "13.0.88".
std::string number_after(std::string_view text, std::string_view marker) {
  constexpr std::string_view kDigits = "0123456789";
  for (std::size_t at = text.find(marker); at != std::string_view::npos;
       at = text.find(marker, at + 1)) {
    std::string_view rest = text.substr(at + marker.size());
    const std::size_t end = rest.find_first_not_of("0123456789.");
    rest = rest.substr(0, end);
    if (!rest.empty() && kDigits.find(rest.front()) != std::string_view::npos) {
      return std::string(rest);
    }
  }
  return {};
}

// Returns the rest of the line after `marker`, trimmed.
std::string line_after(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + marker.size());
  return std::string(trim(rest.substr(0, rest.find('\n'))));
}

// Returns the path of a program in the first of the folders of a list like PATH, or an empty path.
fs::path find_in_folders(std::string_view name, std::string_view path, const Files& files) {
  for (const std::string_view folder : split(path, ':')) {
    // An empty or relative entry names another program in each working folder, so it is ignored.
    if (!folder.starts_with('/')) continue;
    const fs::path candidate = fs::path(folder) / name;
    if (files.kind(candidate) == PathKind::kFile) return candidate.lexically_normal();
  }
  return {};
}

class Prober {
 public:
  Prober(const ProbeRequest& request, const Files& files, Processes& processes,
         const Environment& environment)
      : request_(request), files_(files), processes_(processes), environment_(environment) {}

  Result<Probe> probe() {
    switch (request_.kind) {
      case ToolKind::kHipify:
        KILN_TRY(hipify());
        break;
      case ToolKind::kHipCompiler:
        KILN_TRY(hip_compiler());
        break;
      case ToolKind::kOffloadBundler:
        KILN_TRY(plain("version "));
        break;
      case ToolKind::kNvcc:
        KILN_TRY(nvcc());
        break;
      case ToolKind::kFatbinary:
        KILN_TRY(plain(", V"));
        break;
      case ToolKind::kHostCompiler:
        KILN_TRY(host_compiler());
        break;
    }
    sort_parts();
    return std::move(probe_);
  }

 private:
  Error unusable(const std::string& why) const {
    return Error{ErrorCode::kUnavailable, request_.program.string() + ": " + why};
  }

  // Uses the environment of a step, so that what the probe learns holds for steps.
  void set_environment(Command& command) const {
    command.inherit = Inherit::kNothing;
    command.environment = tool_environment(request_.kind, environment_);
    for (const auto& variable : request_.environment) command.environment.push_back(variable);
  }

  // Returns what the program prints on both streams.
  Result<std::string> ask(const fs::path& program, std::vector<std::string> arguments) {
    Command command;
    command.argv = {program.string()};
    for (std::string& argument : arguments) command.argv.push_back(std::move(argument));
    set_environment(command);
    Result<Outcome> outcome = processes_.run(command);
    if (!outcome) {
      if (outcome.error().code == ErrorCode::kInterrupted) return std::move(outcome).error();
      return unusable("cannot be run (" + outcome.error().message + ")");
    }
    if (!outcome->ok()) {
      return unusable(quote(shell_line(command.argv)) + " failed with exit status " +
                      std::to_string(outcome->exit_code));
    }
    return outcome->output + "\n" + outcome->diagnostics;
  }

  void add(std::string role, const fs::path& path) {
    if (!files_.status(path)) return;
    probe_.parts.push_back({std::move(role), path.lexically_normal()});
  }

  // Adds the program and the shared libraries that the dynamic linker loads with it.
  Result<void> add_with_libraries(const std::string& role, const std::string& library_role,
                                  const fs::path& program) {
    add(role, program);
    const Result<std::string> bytes = files_.read(program);
    if (!bytes && bytes.error().code == ErrorCode::kEnvironment)
      return unusable(bytes.error().message);
    if (!bytes || !is_dynamic(*bytes)) return {};
    Command command;
    command.argv = {program.string()};
    set_environment(command);
    command.environment.emplace_back("LD_TRACE_LOADED_OBJECTS", "1");
    const Result<Outcome> outcome = processes_.run(command);
    if (!outcome) return outcome.error();
    for (const std::string_view line : split(outcome->output, '\n')) {
      const std::size_t arrow = line.find(" => ");
      const std::string_view path =
          trim(arrow == std::string_view::npos ? line : line.substr(arrow + 4));
      if (path.starts_with('/')) add(library_role, path.substr(0, path.find(" (0x")));
    }
    return {};
  }

  // Only a dynamic program may be asked for its libraries: a static program or a script would run.
  static bool is_dynamic(std::string_view bytes) {
    const Result<Elf> elf = read_elf(std::as_bytes(std::span(bytes)));
    return elf && std::any_of(elf->sections.begin(), elf->sections.end(),
                              [](const ElfSection& section) { return section.name == ".interp"; });
  }

  Result<void> plain(std::string_view version_marker) {
    KILN_TRY_ASSIGN(const std::string text, ask(request_.program, {"--version"}));
    probe_.version = number_after(text, version_marker);
    return add_with_libraries("program", "library", request_.program);
  }

  // GCC prints "g++ (Debian 12.2.0-14) 12.2.0", clang "clang version 14.0.6".
  Result<void> host_compiler() {
    KILN_TRY_ASSIGN(const std::string text, ask(request_.program, {"--version"}));
    const std::string clang = number_after(text, "clang version ");
    probe_.version = clang.empty() ? number_after(text, ") ") : clang;
    const int oldest = clang.empty() ? kOldestGcc : kOldestClang;
    if (std::atoi(probe_.version.c_str()) < oldest) {
      return unusable("is version " + probe_.version + ", host targets need g++ " +
                      std::to_string(kOldestGcc) + " or clang++ " + std::to_string(kOldestClang));
    }
    add_configuration(line_after(text, "InstalledDir:"));
    KILN_TRY(add_with_libraries("program", "library", request_.program));
    for (const auto& [role, name] : kHostPrograms) {
      KILN_TRY_ASSIGN(const fs::path program, program_of(request_.program, name));
      if (!program.empty()) KILN_TRY(add_with_libraries(role, "library", program));
    }
    for (const auto& [role, name] : kHostLinkerInputs) {
      KILN_TRY_ASSIGN(const fs::path file, file_of(request_.program, name));
      if (!file.empty()) add(role, file);
    }
    return add_specs("program", request_.program);
  }

  // Returns the path of a program that this compiler driver calls; empty if it has none. clang calls
  // only the linker.
  Result<fs::path> program_of(const fs::path& driver, std::string_view name) {
    KILN_TRY_ASSIGN(const std::string answer,
                    ask(driver, {"-print-prog-name=" + std::string(name)}));
    const fs::path program = std::string(trim(answer));
    if (program.is_absolute()) return program;
    return find_on_path(program.string(), files_, environment_);
  }

  // Returns the path of a file that this compiler driver gives the linker; empty if it has none.
  Result<fs::path> file_of(const fs::path& driver, std::string_view name) {
    KILN_TRY_ASSIGN(const std::string answer,
                    ask(driver, {"-print-file-name=" + std::string(name)}));
    fs::path file = std::string(trim(answer));
    return file.is_absolute() ? std::move(file) : fs::path();
  }

  // gcc reads options from a file 'specs', usually beside its libgcc. That folder is recorded,
  // because the file may be added later.
  Result<void> add_specs(const std::string& role, const fs::path& driver) {
    KILN_TRY_ASSIGN(const fs::path libgcc, file_of(driver, "libgcc.a"));
    if (!libgcc.empty()) probe_.folders.push_back(libgcc.lexically_normal().parent_path());
    KILN_TRY_ASSIGN(const fs::path specs, file_of(driver, "specs"));
    if (!specs.empty()) add(role, specs);
    return {};
  }

  Result<void> hipify() {
    KILN_TRY_ASSIGN(const std::string text, ask(request_.program, {"-version"}));
    probe_.version = number_after(text, "version ");
    add("program", request_.program);
    KILN_TRY_ASSIGN(const std::string script, files_.read(request_.program));
    if (!script.starts_with("#!")) return {};
    // "#! /usr/bin/perl -w" or "#!/usr/bin/env perl"
    std::string interpreter;
    const std::string first_line = script.substr(2, script.find('\n') - 2);
    for (const std::string_view word : split(first_line, ' ')) {
      if (word.empty() || word.front() == '-' || word.ends_with("/env")) continue;
      interpreter = word;
      break;
    }
    if (!interpreter.starts_with('/')) {
      interpreter = find_on_path(interpreter, files_, environment_).string();
    }
    if (is_verified_hipify(sha256(script))) probe_.driver_perl = interpreter;
    return add_with_libraries("interpreter", "interpreter", interpreter);
  }

  Result<void> hip_compiler() {
    KILN_TRY_ASSIGN(const std::string text, ask(request_.program, {"--version"}));
    const std::string clang_version = number_after(text, "clang version ");
    const fs::path folder = line_after(text, "InstalledDir:");
    if (clang_version.empty() || folder.empty()) {
      return unusable("is no HIP compiler: its --version names no clang");
    }
    probe_.version = "clang " + clang_version;
    if (is_hipcc(request_.program)) {
      probe_.version = "HIP " + number_after(text, "HIP version: ") + ", " + probe_.version;
      add_scripts();
    }
    add_configuration(folder);
    const fs::path clang = folder / "clang++";
    KILN_TRY(add_with_libraries("program", "library", clang));
    KILN_TRY(add_with_libraries("linker", "library", folder / "ld.lld"));
    KILN_TRY_ASSIGN(
        const std::string processors,
        ask(clang, {"--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"}));
    return add_device_libraries(processors);
  }

  // clang reads options from *.cfg files beside it. The folder is recorded, because such a file may
  // be added later.
  void add_configuration(const fs::path& folder) {
    if (folder.empty()) return;
    const Result<std::vector<std::string>> names = files_.list(folder);
    if (!names) return;
    probe_.folders.push_back(folder);
    for (const std::string& name : *names) {
      if (name.ends_with(".cfg")) add("program", folder / name);
    }
  }

  void add_scripts() {
    const fs::path bin = request_.program.parent_path();
    add("script", request_.program);
    for (const fs::path& folder : {bin, bin.parent_path() / "libexec" / "hipcc"}) {
      for (const char* name : {"hipcc", "hipcc.pl", "hipcc.bin", "hipvars.pm"}) {
        if (folder / name != request_.program) add("script", folder / name);
      }
    }
  }

  // A processor can be built for if clang knows it and the device libraries have its constants.
  Result<void> add_device_libraries(std::string_view supported) {
    constexpr std::string_view kIsa = "oclc_isa_version_", kSuffix = ".bc";
    const Result<std::vector<std::string>> names = files_.list(request_.device_libraries);
    if (!names) return unusable("has no device libraries (ocml.bc and its like)");
    probe_.folders.push_back(request_.device_libraries);
    std::vector<std::string> known;
    for (const std::string_view line : split(supported, '\n')) known.emplace_back(trim(line));
    std::sort(known.begin(), known.end());
    for (const std::string& name : *names) {
      if (!name.ends_with(kSuffix)) continue;
      std::string role = "device-library";
      if (name.starts_with(kIsa)) {
        const std::string isa =
            name.substr(kIsa.size(), name.size() - kIsa.size() - kSuffix.size());
        role += ":" + isa;
        const std::string processor = "gfx" + isa;
        if (std::binary_search(known.begin(), known.end(), processor)) {
          probe_.builds.push_back(processor);
        }
      }
      add(role, request_.device_libraries / name);
    }
    return {};
  }

  Result<void> nvcc() {
    KILN_TRY_ASSIGN(const std::string text, ask(request_.program, {"--version"}));
    probe_.version = number_after(text, ", V");
    for (const char* option : {"--list-gpu-code", "--list-gpu-arch"}) {
      KILN_TRY_ASSIGN(const std::string listed, ask(request_.program, {option}));
      for (const std::string_view line : split(listed, '\n')) {
        if (!trim(line).empty()) probe_.builds.emplace_back(trim(line));
      }
    }
    // A dry run tells where this nvcc keeps its programs, in any packaging.
    KILN_TRY_ASSIGN(const std::string dry_run, nvcc_dry_run());
    const fs::path here = line_after(dry_run, "#$ _HERE_=");
    const fs::path nvvm = line_after(dry_run, "#$ CICC_PATH=");
    add("program", request_.program);
    if (here / "nvcc" != request_.program) add("program", here / "nvcc");
    add("program", here / "nvcc.profile");
    add("ptxas", here / "ptxas");
    add("cicc", (nvvm.empty() ? here / "../nvvm/bin" : nvvm) / "cicc");
    const fs::path libdevice = line_after(dry_run, "#$ NVVMIR_LIBRARY_DIR=");
    if (const auto names = files_.list(libdevice)) {
      for (const std::string& name : *names) {
        if (name.ends_with(".bc")) add("libdevice", libdevice / name);
      }
    }
    return preprocessor(line_after(dry_run, "#$ PATH="));
  }

  // Learns whether nvcc can be told another name for the source. -Xcicc is not in nvcc's manual, so
  // nvcc may refuse it. cicc knows the option only if nvcc also passes it by itself.
  Result<std::string> nvcc_dry_run() {
    std::vector<std::string> arguments = {"--dryrun", "-cubin", "-x", "cu", "/dev/null"};
    std::vector<std::string> naming = arguments;
    naming.insert(naming.end(), {"-Xcicc", std::string(kSourceNameOption) + ",name"});
    const Result<std::string> named = ask(request_.program, std::move(naming));
    if (!named && named.error().code == ErrorCode::kInterrupted) return named.error();
    probe_.takes_source_name =
        named && named->find(kSourceNameOption) != named->rfind(kSourceNameOption);
    if (probe_.takes_source_name) return *named;
    return ask(request_.program, std::move(arguments));
  }

  // nvcc preprocesses device code with the host's gcc, or with the program that NVCC_CCBIN names.
  // NVCC_CCBIN may also name the program's folder. `path` is nvcc's own PATH, which has folders of
  // the toolkit before the user's; they are recorded, because a gcc may be added to them later.
  Result<void> preprocessor(std::string_view path) {
    const std::string users = environment_.get("PATH").value_or(std::string(kDefaultPath));
    if (path.empty()) path = users;
    fs::path gcc = environment_.get("NVCC_CCBIN").value_or("gcc");
    if (files_.kind(gcc) == PathKind::kFolder) gcc /= "gcc";
    if (!gcc.has_parent_path()) {
      const std::size_t end = path.ends_with(users) ? path.size() - users.size() : path.size();
      for (const std::string_view folder : split(path.substr(0, end), ':')) {
        if (files_.kind(folder) == PathKind::kFolder) probe_.folders.emplace_back(folder);
      }
      gcc = find_in_folders(gcc.string(), path, files_);
    }
    if (gcc.empty() || files_.kind(gcc) != PathKind::kFile) return {};
    add("preprocessor", gcc);
    KILN_TRY_ASSIGN(const fs::path program, program_of(gcc, "cc1plus"));
    if (!program.empty()) add("preprocessor", program);
    return add_specs("preprocessor", gcc);
  }

  // Sorts the parts and removes duplicates: two programs may load the same library.
  void sort_parts() {
    const auto key = [](const Tool::Part& part) { return std::pair(part.role, part.path); };
    std::sort(probe_.parts.begin(), probe_.parts.end(),
              [&](const Tool::Part& a, const Tool::Part& b) { return key(a) < key(b); });
    probe_.parts.erase(
        std::unique(probe_.parts.begin(), probe_.parts.end(),
                    [&](const Tool::Part& a, const Tool::Part& b) { return key(a) == key(b); }),
        probe_.parts.end());
    std::sort(probe_.builds.begin(), probe_.builds.end());
    probe_.builds.erase(std::unique(probe_.builds.begin(), probe_.builds.end()),
                        probe_.builds.end());
  }

  const ProbeRequest& request_;
  const Files& files_;
  Processes& processes_;
  const Environment& environment_;
  Probe probe_;
};

}  // namespace

Result<Probe> probe_tool(const ProbeRequest& request, const Files& files, Processes& processes,
                         const Environment& environment) {
  return Prober(request, files, processes, environment).probe();
}

fs::path find_on_path(std::string_view name, const Files& files, const Environment& environment) {
  if (name.empty()) return {};
  return find_in_folders(name, environment.get("PATH").value_or(std::string(kDefaultPath)), files);
}

}  // namespace kiln::tools
