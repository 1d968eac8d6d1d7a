#include "tools/commands/doctor.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "tools/engine/find_tools.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/check_targets.hpp"
#include "tools/stages/parse_manifest.hpp"
#include "tools/stages/tool_bounds.hpp"

namespace kiln::tools {
namespace {

constexpr int kSomethingMissing = 3;

std::string padded(std::string_view text, std::size_t width) {
  std::string cell(text);
  if (cell.size() < width) cell.append(width - cell.size(), ' ');
  return cell;
}

// Returns the mark at the start of each line: "  ok  " or "  --  ".
std::string mark(bool is_good, Color color) {
  if (color == Color::kNo) return is_good ? "  ok  " : "  --  ";
  return is_good ? "  \033[1;32mok\033[0m  " : "  \033[1;31m--\033[0m  ";
}

std::string heading(const std::string& text, Color color) {
  return color == Color::kNo ? text + "\n" : "\033[1m" + text + "\033[0m\n";
}

template <typename Range, typename Name>
std::size_t widest(const Range& range, Name name) {
  std::size_t width = 0;
  for (const auto& item : range) width = std::max(width, std::string_view(name(item)).size());
  return width;
}

// Returns a remark on a tool that was found; usually empty.
std::string note_on(const Tool& tool) {
  if (tool.kind == ToolKind::kHipify && tool.driver_perl.empty()) {
    return "kiln was not tested with this version: it runs as it is, which takes seconds a file";
  }
  return shortcoming(tool);
}

// Headers that converted sources include, and the CUDA headers that they replace.
struct VendorHeader {
  std::string_view hip, cuda;
};
constexpr std::array<VendorHeader, 7> kHipHeaders = {{
    {"hip/hip_bf16.h", "cuda_bf16.h"},
    {"hip/hip_cooperative_groups.h", "cooperative_groups.h"},
    {"hip/hip_fp4.h", "cuda_fp4.h"},
    {"hip/hip_fp6.h", "cuda_fp6.h"},
    {"hip/hip_fp8.h", "cuda_fp8.h"},
    {"hipcub/hipcub.hpp", "cub/cub.cuh"},
    {"hiprand/hiprand_kernel.h", "curand_kernel.h"},
}};

// Headers that the installed HIP lacks; empty if there is no HIP.
std::vector<std::string> missing_hip_headers(const Toolchain& toolchain, const Files& files) {
  std::vector<std::string> missing;
  if (!toolchain.tool(ToolKind::kHipCompiler).found()) return missing;
  for (const VendorHeader& header : kHipHeaders) {
    if (files.status(toolchain.rocm_path / "include" / header.hip)) continue;
    missing.push_back(std::string(header.hip) + " (" + std::string(header.cuda) + ")");
  }
  return missing;
}

// Returns the CUDA headers that the installed HIP has under another name but hipify-perl does not
// rename.
std::vector<std::string> unconverted_headers(const Toolchain& toolchain, const Files& files) {
  std::vector<std::string> headers;
  const Tool& hipify = toolchain.tool(ToolKind::kHipify);
  if (!hipify.found() || !toolchain.tool(ToolKind::kHipCompiler).found()) return headers;
  const Result<std::string> text = files.read(hipify.path);
  if (!text) return headers;
  for (const VendorHeader& header : kHipHeaders) {
    if (!files.status(toolchain.rocm_path / "include" / header.hip)) continue;
    const std::string_view file = header.cuda.substr(header.cuda.find('/') + 1);  // it writes "cub\/cub.cuh"
    if (text->find(file) == std::string::npos) headers.emplace_back(header.cuda);
  }
  return headers;
}

std::string tools_as_text(const Findings& findings, Color color) {
  const Toolchain& toolchain = findings.toolchain;
  const std::size_t names =
      widest(toolchain.tools, [](const Tool& t) { return to_string(t.kind); });
  const std::size_t versions =
      widest(toolchain.tools, [](const Tool& t) { return std::string_view(t.version); });
  std::string text = heading("Tools", color);
  for (const Tool& tool : toolchain.tools) {
    text += mark(tool.found(), color) + padded(to_string(tool.kind), names) + "  ";
    if (tool.found()) {
      text += padded(tool.version, versions) + "  " + tool.path.string() + " (" + tool.rule + ")\n";
      const std::string note = note_on(tool);
      if (!note.empty()) text += "      " + padded("", names) + "  note: " + note + "\n";
      if (tool.kind == ToolKind::kHipify && !findings.hipify_leaves.empty()) {
        text += "      " + padded("", names) +
                "  note: this hipify-perl does not know headers, so that what includes them is not compiled for "
                "AMD:\n" +
                "      " + padded("", names) + "        " + join(findings.hipify_leaves, ", ") + "\n";
      }
      if (tool.kind == ToolKind::kHipCompiler && !findings.hip_lacks.empty()) {
        text += "      " + padded("", names) +
                "  note: this HIP lacks headers, so that what includes the one in brackets is not "
                "compiled for AMD:\n" +
                "      " + padded("", names) + "        " + join(findings.hip_lacks, ", ") + "\n";
      }
    } else {
      text += "not found: " + tool.missing + "\n";
      text += "      " + padded("", names) +
              (tool.named_by.empty() ? "  install: " + tool.install : "  " + correction(tool)) + "\n";
    }
  }
  return text;
}

std::string targets_as_text(const Findings& findings, Color color) {
  if (findings.manifest.empty()) return {};
  const std::size_t names =
      widest(findings.targets, [](const auto& t) { return std::string_view(t.name); });
  std::string text = "\n" + heading("Targets of " + findings.manifest, color);
  for (const Findings::Target& target : findings.targets) {
    text += mark(!target.why_not, color);
    if (!target.why_not) {
      text += target.name + "\n";
      continue;
    }
    text += padded(target.name, names) + "  " + target.why_not->message + "\n";
  }
  return text;
}

// Returns a text such as "NVIDIA H200, sm_90, CUDA 13.0". For devices that run on the CPU, leaves
// out the driver, and the target if the id ends with it.
std::string described(const DeviceInfo& device) {
  const bool is_gpu = device.backend == Backend::kCuda || device.backend == Backend::kHip;
  if (is_gpu) return device.name + ", " + device.target + ", " + device.driver;
  const bool says_target = device.id.ends_with(device.target);
  return says_target ? device.name : device.name + ", " + device.target;
}

std::string devices_as_text(const Findings& findings, Color color) {
  std::string text = "\n" + heading("What this machine can run", color);
  const std::size_t names =
      widest(findings.devices, [](const auto& d) { return std::string_view(d.id); });
  for (const DeviceInfo& device : findings.devices) {
    text += mark(true, color) + padded(device.id, names) + "  " + described(device) + "\n";
  }
  for (const BackendStatus& backend : findings.backends) {
    if (backend.available && backend.device_count > 0) continue;
    text += mark(false, color) + std::string(to_string(backend.backend)) + "  ";
    text += backend.available ? "no device" : "not available";
    for (const std::string& reason : backend.reasons) text += "\n        " + reason;
    text += "\n";
  }
  return text;
}

Json as_json(const Tool& tool) {
  if (!tool.found()) {
    return Json::Object{{"name", to_string(tool.kind)},
                        {"found", false},
                        {"missing", tool.missing},
                        {"install", tool.install}};
  }
  Json::Object members{{"name", to_string(tool.kind)},
                       {"found", true},
                       {"path", tool.path.string()},
                       {"version", tool.version},
                       {"rule", tool.rule}};
  if (const std::string note = note_on(tool); !note.empty()) members.push_back({"note", note});
  return members;
}

Json as_json(const Findings::Target& target) {
  Json::Object members{{"target", target.name}, {"buildable", !target.why_not.has_value()}};
  if (target.why_not) {
    Json::Array notes;
    for (const Note& note : target.why_not->notes) notes.push_back(note.text);
    members.push_back({"reason", target.why_not->message});
    members.push_back({"notes", std::move(notes)});
  }
  return members;
}

Json as_json(const DeviceInfo& device) {
  return Json::Object{{"id", device.id},
                      {"name", device.name},
                      {"target", device.target},
                      {"driver", device.driver},
                      {"memory_bytes", device.memory_bytes}};
}

Json as_json(const BackendStatus& backend) {
  return Json::Object{{"backend", to_string(backend.backend)},
                      {"available", backend.available},
                      {"library", backend.library},
                      {"version", backend.version},
                      {"device_count", backend.device_count},
                      {"reasons", Json::Array(backend.reasons.begin(), backend.reasons.end())}};
}

template <typename Range>
Json::Array list_as_json(const Range& range) {
  Json::Array items;
  for (const auto& item : range) items.push_back(as_json(item));
  return items;
}

// Adds the targets of the named manifest, or of targets.json if it exists.
Result<void> add_targets(const DoctorOptions& options, World& world, Findings& findings) {
  const std::filesystem::path& current_folder = world.environment.current_directory;
  const std::filesystem::path path = options.manifest.value_or("targets.json");
  if (!options.manifest && !world.files.status(current_folder / path)) return {};
  KILN_TRY_ASSIGN(const Manifest manifest, parse_manifest(path, current_folder, world.files));
  findings.manifest = path.generic_string();
  std::set<TargetId> checked;
  const auto add = [&](const std::vector<Located<TargetId>>& targets) {
    for (const Located<TargetId>& target : targets) {
      if (!checked.insert(target.value).second) continue;
      std::optional<Obstacle> obstacle = find_obstacle(target.value, findings.toolchain);
      findings.targets.push_back({to_string(target.value), std::nullopt});
      findings.targets.back().why_not =
          obstacle ? std::move(obstacle->error)
                   : find_unwanted_version(manifest.tool_bounds, target.value, findings.toolchain);
    }
  };
  add(manifest.targets);
  for (const ModuleSpec& module : manifest.modules) add(module.targets);
  return {};
}

}  // namespace

std::string findings_as_text(const Findings& findings, Color color) {
  return tools_as_text(findings, color) + targets_as_text(findings, color) +
         devices_as_text(findings, color);
}

std::string findings_as_json(const Findings& findings) {
  Json::Object members{{"format", 1}, {"tools", list_as_json(findings.toolchain.tools)}};
  if (!findings.manifest.empty()) {
    members.push_back({"manifest", findings.manifest});
    members.push_back({"targets", list_as_json(findings.targets)});
  }
  members.push_back(
      {"hip_lacks", Json::Array(findings.hip_lacks.begin(), findings.hip_lacks.end())});
  members.push_back(
      {"hipify_leaves", Json::Array(findings.hipify_leaves.begin(), findings.hipify_leaves.end())});
  members.push_back({"devices", list_as_json(findings.devices)});
  members.push_back({"backends", list_as_json(findings.backends)});
  return write_json(std::move(members));
}

Result<int> run_doctor(const DoctorOptions& options, World& world) {
  Findings findings;
  KILN_TRY_ASSIGN(findings.toolchain, find_tools(world.files, world.processes, world.environment));
  KILN_TRY(add_targets(options, world, findings));
  KILN_TRY_ASSIGN(const Runtime runtime, Runtime::open());
  findings.devices = runtime.devices();
  findings.backends = runtime.backends();
  // Emulated devices are listed only on request.
  OpenOptions emulated;
  emulated.backends = {Backend::kEmulator};
  KILN_TRY_ASSIGN(const Runtime emulators, Runtime::open(emulated));
  for (const DeviceInfo& device : emulators.devices()) {
    // If KILN_DEVICE names an emulated device, they are already listed.
    if (std::ranges::count(findings.devices, device.id, &DeviceInfo::id) != 0) continue;
    findings.devices.push_back(device);
  }
  for (const BackendStatus& backend : emulators.backends()) {
    if (std::ranges::count(findings.backends, backend.backend, &BackendStatus::backend) == 0) {
      findings.backends.push_back(backend);
    }
  }
  findings.hip_lacks = missing_hip_headers(findings.toolchain, world.files);
  findings.hipify_leaves = unconverted_headers(findings.toolchain, world.files);

  if (const auto named = world.environment.get("KILN_DEVICE"); named && !named->empty()) {
    if (const Result<Device> device = runtime.default_device(); !device) {
      world.err << "kiln: warning: KILN_DEVICE: " << printable_line(device.error().message) << "\n";
    }
  }
  world.out << (options.json ? findings_as_json(findings)
                             : findings_as_text(findings, world.out_color));
  const bool all_buildable = std::none_of(findings.targets.begin(), findings.targets.end(),
                                          [](const auto& target) { return target.why_not; });
  return all_buildable ? 0 : kSomethingMissing;
}

}  // namespace kiln::tools
