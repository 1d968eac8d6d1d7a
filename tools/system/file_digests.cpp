#include "tools/system/file_digests.hpp"

#include <algorithm>
#include <chrono>

#include "base/on_all_cores.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-file-digests";
constexpr unsigned kVersion = 1;
// More than any toolkit needs. Beyond it, entries that this run did not use are dropped.
constexpr std::size_t kMaxEntries = 16384;

// True if a later change would show in the status. A second change within one tick of the file
// system's clock does not. Linux ticks every 4 to 10 ms; a time without nanoseconds comes from a
// file system that counts seconds.
bool has_settled(const FileStatus& status) {
  using namespace std::chrono;
  const std::int64_t now =
      duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  const bool counts_seconds =
      status.modified_ns % 1'000'000'000 == 0 && status.changed_ns % 1'000'000'000 == 0;
  const std::int64_t tick = counts_seconds ? 2'000'000'000 : 50'000'000;
  // A modification time in the future was set by hand and is ignored.
  const std::int64_t modified = status.modified_ns > now + tick ? 0 : status.modified_ns;
  return std::max(modified, status.changed_ns) + tick < now;
}

}  // namespace

bool FileDigests::check(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path);
    if (found != entries_.end() && found->second.seen) return true;
  }
  const std::optional<FileStatus> status = files_.status(path);
  const std::lock_guard lock(mutex_);
  if (!status) {
    entries_[path] = Entry{.status = {}, .digest = {}, .seen = true, .is_missing = true};
    return true;
  }
  const auto found = entries_.find(path);
  if (found == entries_.end() || found->second.status != *status) return false;
  return found->second.seen = true;
}

std::optional<Digest> FileDigests::digest_at(const std::string& path) {
  for (int tries = 0; tries < 2; ++tries) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = entries_.find(path);
      if (found != entries_.end() && found->second.seen) {
        return found->second.is_missing ? std::nullopt : std::optional(found->second.digest);
      }
    }
    if (!check(path)) break;
  }
  const std::optional<FileStatus> status = files_.status(path);
  if (!status) return std::nullopt;
  const Result<Digest> digest = files_.digest(path);
  if (!digest) {
    // An option may name a folder or a device, which does not count as a file.
    if (files_.kind(path) == PathKind::kFile) return std::nullopt;
    const std::lock_guard lock(mutex_);
    entries_[path] = Entry{.status = {}, .digest = {}, .seen = true, .is_missing = true};
    return std::nullopt;
  }
  const Entry entry{.status = *status,
                    .digest = *digest,
                    // If the file was written to during the read, the digest matches neither state.
                    .settled = has_settled(*status) && files_.status(path) == status,
                    .seen = true,
                    .is_new = true};
  const std::lock_guard lock(mutex_);
  entries_[path] = entry;
  return entry.digest;
}

std::optional<Digest> FileDigests::digest_now(const std::filesystem::path& path) const {
  const std::optional<FileStatus> status = files_.status(path);
  if (!status) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(path.native());
    const bool is_known = found != entries_.end() && found->second.status == *status;
    // If not, the same status may belong to a later change.
    if (is_known && found->second.settled) return found->second.digest;
  }
  const Result<Digest> digest = files_.digest(path);
  return digest ? std::optional(*digest) : std::nullopt;
}

void FileDigests::record(const std::filesystem::path& path, const Digest& digest) {
  const std::optional<FileStatus> status = files_.status(path);
  if (!status) return forget(path);
  const std::lock_guard lock(mutex_);
  ++changes_;
  entries_[path.native()] =
      Entry{.status = *status, .digest = digest, .settled = true, .seen = true, .is_new = true};
}

void FileDigests::forget(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  entries_.erase(path.native());
}

void FileDigests::prefetch(const std::vector<std::string>& paths, unsigned threads) {
  // Usually everything is remembered, and the status of some hundred files is cheaper than a
  // thread.
  constexpr std::size_t kPathsPerThread = 400;
  std::vector<char> is_unread(paths.size());
  on_threads(std::min<std::size_t>(threads, paths.size() / kPathsPerThread + 1), paths.size(),
             [&](std::size_t i) { is_unread[i] = check(paths[i]) ? 0 : 1; });
  std::vector<const std::string*> unread;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (is_unread[i] != 0) unread.push_back(&paths[i]);
  }
  on_threads(threads, unread.size(), [&](std::size_t i) { digest_at(*unread[i]); });
}

void FileDigests::load(std::string_view file) {
  std::optional<std::string_view> lines = unseal(kFormat, kVersion, file);
  if (!lines) return;
  const std::lock_guard lock(mutex_);
  while (!lines->empty()) {
    std::string_view line = take_until(*lines, '\n');
    Entry entry;
    FileStatus& status = entry.status;
    if (Digest::parse(take_until(line, ' '), entry.digest) && take_number(line, status.device) &&
        take_number(line, status.inode) && take_number(line, status.size) &&
        take_number(line, status.modified_ns) && take_number(line, status.changed_ns)) {
      entries_.emplace(unescape_line(line), entry);
    }
  }
}

std::string FileDigests::save(const std::function<bool(const std::string&)>& wanted) const {
  const std::lock_guard lock(mutex_);
  std::vector<const std::pair<const std::string, Entry>*> known;
  for (const auto& item : entries_) {
    if (!item.second.is_missing) known.push_back(&item);
  }
  const bool is_crowded = known.size() > kMaxEntries;
  std::erase_if(known, [&](const auto* item) {
    const auto& [path, entry] = *item;
    return !entry.settled || (is_crowded && !entry.seen) || !wanted(path);
  });
  std::ranges::sort(known, {}, [](const auto* item) -> const std::string& { return item->first; });
  std::string lines;
  for (const auto* item : known) {
    const FileStatus& status = item->second.status;
    lines += item->second.digest.hex();
    for (const std::uint64_t number : {status.device, status.inode, status.size}) {
      lines.append(" ").append(std::to_string(number));
    }
    for (const std::int64_t number : {status.modified_ns, status.changed_ns}) {
      lines.append(" ").append(std::to_string(number));
    }
    lines.append(" ").append(escape_line(item->first)).append("\n");
  }
  return seal(kFormat, kVersion, lines);
}

bool FileDigests::has_new(const std::function<bool(const std::string&)>& wanted) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry.second.is_new && entry.second.settled && wanted(entry.first);
  });
}

}  // namespace kiln::tools
