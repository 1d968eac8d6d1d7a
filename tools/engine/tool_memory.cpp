#include "tools/engine/tool_memory.hpp"

#include "tools/json/json.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-tools";
constexpr unsigned kVersion = 4;
constexpr std::size_t kMostEntries = 64;  // toolchains come and go: past that, start afresh

Json write_status(const FileStatus& status) {
  return Json::Array{status.device, status.inode, status.size, status.modified_ns,
                     status.changed_ns};
}

std::optional<FileStatus> read_status(const Json& json) {
  const Json::Array* items = json.array();
  if (items == nullptr || items->size() != 5) return std::nullopt;
  std::int64_t numbers[5];
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t* number = (*items)[i].integer();
    if (number == nullptr) return std::nullopt;
    numbers[i] = *number;
  }
  return FileStatus{.device = static_cast<std::uint64_t>(numbers[0]),
                    .inode = static_cast<std::uint64_t>(numbers[1]),
                    .size = static_cast<std::uint64_t>(numbers[2]),
                    .modified_ns = numbers[3],
                    .changed_ns = numbers[4]};
}

const std::string* text_of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value != nullptr ? value->text() : nullptr;
}

const Json::Array* list_of(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value != nullptr ? value->array() : nullptr;
}

}  // namespace

ToolMemory::ToolMemory(Files& files, std::filesystem::path path)
    : files_(files), path_(std::move(path)) {
  read();
}

// {"tools": [{"key", "version", "takes_source_name", "driver_perl", "builds": [...],
//   "parts": [[role, path, [status]]], "folders": [[path, [status]]]}]}
void ToolMemory::read() {
  if (path_.empty()) return;
  const Result<std::string> text = files_.read(path_);
  if (!text) return;
  const std::optional<std::string_view> lines = unseal(kFormat, kVersion, *text);
  if (!lines) return;
  const Result<Json> json = read_json(*lines, path_.string());
  if (!json) return;
  const Json::Array* tools = list_of(*json, "tools");
  if (tools == nullptr) return;
  std::map<std::string, Entry> entries;
  for (const Json& tool : *tools) {
    const std::string* key = text_of(tool, "key");
    const std::string* version = text_of(tool, "version");
    const Json::Array* builds = list_of(tool, "builds");
    const Json::Array* parts = list_of(tool, "parts");
    const Json::Array* folders = list_of(tool, "folders");
    const Json* takes_source_name = tool.find("takes_source_name");
    const std::string* driver_perl = text_of(tool, "driver_perl");
    if (!key || !version || !builds || !parts || !folders || !takes_source_name) return;
    if (driver_perl == nullptr) return;
    if (takes_source_name->boolean() == nullptr) return;
    Entry entry;
    entry.probe.version = *version;
    entry.probe.takes_source_name = *takes_source_name->boolean();
    entry.probe.driver_perl = *driver_perl;
    for (const Json& build : *builds) {
      if (build.text() == nullptr) return;
      entry.probe.builds.push_back(*build.text());
    }
    for (const Json& part : *parts) {
      const Json::Array* fields = part.array();
      if (!fields || fields->size() != 3 || !(*fields)[0].text() || !(*fields)[1].text()) return;
      const auto status = read_status((*fields)[2]);
      if (!status) return;
      entry.probe.parts.push_back({*(*fields)[0].text(), *(*fields)[1].text()});
      entry.watched.emplace_back(*(*fields)[1].text(), *status);
    }
    for (const Json& folder : *folders) {
      const Json::Array* fields = folder.array();
      if (!fields || fields->size() != 2 || !(*fields)[0].text()) return;
      const auto status = read_status((*fields)[1]);
      if (!status) return;
      entry.probe.folders.emplace_back(*(*fields)[0].text());
      entry.watched.emplace_back(*(*fields)[0].text(), *status);
    }
    entries.emplace(*key, std::move(entry));
  }
  entries_ = std::move(entries);
}

std::optional<Probe> ToolMemory::recall(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  for (const auto& [path, status] : found->second.watched) {
    if (files_.status(path) != status) return std::nullopt;
  }
  return found->second.probe;
}

void ToolMemory::remember(const std::string& key, Probe probe) {
  Entry entry;
  const auto watch = [&](const std::filesystem::path& path) {
    if (const auto status = files_.status(path)) entry.watched.emplace_back(path, *status);
  };
  for (const Tool::Part& part : probe.parts) watch(part.path);
  for (const std::filesystem::path& folder : probe.folders) watch(folder);
  // A file that went away while it was looked at: not worth remembering.
  if (entry.watched.size() != probe.parts.size() + probe.folders.size()) return;
  entry.probe = std::move(probe);
  if (entries_.size() >= kMostEntries) entries_.clear();
  entries_.insert_or_assign(key, std::move(entry));
  is_changed_ = true;
}

void ToolMemory::save() {
  if (!is_changed_ || path_.empty()) return;
  Json::Array tools;
  for (const auto& [key, entry] : entries_) {
    const Probe& probe = entry.probe;
    Json::Array builds(probe.builds.begin(), probe.builds.end());
    Json::Array parts, folders;
    for (std::size_t i = 0; i < entry.watched.size(); ++i) {
      const auto& [path, status] = entry.watched[i];
      if (i < probe.parts.size()) {
        parts.push_back(Json::Array{probe.parts[i].role, path.string(), write_status(status)});
      } else {
        folders.push_back(Json::Array{path.string(), write_status(status)});
      }
    }
    tools.push_back(Json::Object{{"key", key},
                                 {"version", probe.version},
                                 {"takes_source_name", probe.takes_source_name},
                                 {"driver_perl", probe.driver_perl.string()},
                                 {"builds", std::move(builds)},
                                 {"parts", std::move(parts)},
                                 {"folders", std::move(folders)}});
  }
  const Json json = Json::Object{{"tools", std::move(tools)}};
  std::string lines = write_json(json, JsonLayout::kCompact);
  if (!lines.ends_with('\n')) lines += '\n';
  (void)files_.write(path_, seal(kFormat, kVersion, lines));
  is_changed_ = false;
}

}  // namespace kiln::tools
