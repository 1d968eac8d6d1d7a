#include "tools/engine/probe_cache.hpp"

#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-tools";
constexpr unsigned kVersion = 5;
// old entries are never removed one by one: at the limit, all are dropped
constexpr std::size_t kMaxEntries = 64;

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

// JSON form: {"version", "takes_source_name", "driver_perl", "builds": [...],
//   "parts": [[role, path, [status]]], "folders": [[path, [status]]]}
struct Entry {
  Probe probe;
  std::vector<std::pair<std::filesystem::path, FileStatus>> watched;
};

std::optional<Entry> read_entry(const Json& tool) {
  const std::string* version = text_of(tool, "version");
  const Json::Array* builds = list_of(tool, "builds");
  const Json::Array* parts = list_of(tool, "parts");
  const Json::Array* folders = list_of(tool, "folders");
  const Json* takes_source_name = tool.find("takes_source_name");
  const std::string* driver_perl = text_of(tool, "driver_perl");
  if (!version || !builds || !parts || !folders || !takes_source_name) return std::nullopt;
  if (driver_perl == nullptr || takes_source_name->boolean() == nullptr) return std::nullopt;
  Entry entry;
  entry.probe.version = *version;
  entry.probe.takes_source_name = *takes_source_name->boolean();
  entry.probe.driver_perl = *driver_perl;
  for (const Json& build : *builds) {
    if (build.text() == nullptr) return std::nullopt;
    entry.probe.builds.push_back(*build.text());
  }
  for (const Json& part : *parts) {
    const Json::Array* fields = part.array();
    if (!fields || fields->size() != 3) return std::nullopt;
    if (!(*fields)[0].text() || !(*fields)[1].text()) return std::nullopt;
    const auto status = read_status((*fields)[2]);
    if (!status) return std::nullopt;
    entry.probe.parts.push_back({*(*fields)[0].text(), *(*fields)[1].text()});
    entry.watched.emplace_back(*(*fields)[1].text(), *status);
  }
  for (const Json& folder : *folders) {
    const Json::Array* fields = folder.array();
    if (!fields || fields->size() != 2 || !(*fields)[0].text()) return std::nullopt;
    const auto status = read_status((*fields)[1]);
    if (!status) return std::nullopt;
    entry.probe.folders.emplace_back(*(*fields)[0].text());
    entry.watched.emplace_back(*(*fields)[0].text(), *status);
  }
  return entry;
}

Json write_entry(const Entry& entry) {
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
  return Json::Object{{"version", probe.version},
                      {"takes_source_name", probe.takes_source_name},
                      {"driver_perl", probe.driver_perl.string()},
                      {"builds", std::move(builds)},
                      {"parts", std::move(parts)},
                      {"folders", std::move(folders)}};
}

}  // namespace

ProbeCache::ProbeCache(Files& files, std::filesystem::path path)
    : files_(files), path_(std::move(path)) {
  if (path_.empty()) return;
  const Result<std::string> text = files_.read(path_);
  if (!text) return;
  std::optional<std::string_view> lines = unseal(kFormat, kVersion, *text);
  while (lines && !lines->empty()) {
    std::string_view line = take_until(*lines, '\n');
    const std::string_view key = take_until(line, ' ');
    entries_.emplace(key, line);
  }
}

std::optional<Probe> ProbeCache::find(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  const Result<Json> json = read_json(found->second, path_.string());
  if (!json) return std::nullopt;
  std::optional<Entry> entry = read_entry(*json);
  if (!entry) return std::nullopt;
  for (const auto& [path, status] : entry->watched) {
    if (status_of(path.native()) != status) return std::nullopt;
  }
  return std::move(entry->probe);
}

std::optional<FileStatus> ProbeCache::status_of(const std::string& path) const {
  const auto [known, is_new] = status_.try_emplace(path);
  if (is_new) known->second = files_.status(path);
  return known->second;
}

void ProbeCache::store(const std::string& key, Probe probe) {
  Entry entry;
  const auto watch = [&](const std::filesystem::path& path) {
    if (const auto status = files_.status(path)) entry.watched.emplace_back(path, *status);
  };
  for (const Tool::Part& part : probe.parts) watch(part.path);
  for (const std::filesystem::path& folder : probe.folders) watch(folder);
  // A file disappeared during the probe, so the result is not stored.
  if (entry.watched.size() != probe.parts.size() + probe.folders.size()) return;
  entry.probe = std::move(probe);
  if (entries_.size() >= kMaxEntries) entries_.clear();
  entries_.insert_or_assign(
      key, std::string(trim(write_json(write_entry(entry), JsonLayout::kCompact))));
  is_changed_ = true;
}

void ProbeCache::save() {
  if (!is_changed_ || path_.empty()) return;
  std::string lines;
  for (const auto& [key, json] : entries_) lines.append(key).append(" ").append(json).append("\n");
  (void)files_.write(path_, seal(kFormat, kVersion, lines));
  is_changed_ = false;
}

}  // namespace kiln::tools
