#include "tools/system/cache_store.hpp"

#include <algorithm>
#include <charconv>

#include <unistd.h>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kEntryFormat = "kiln-cache-entry";
constexpr std::string_view kListFormat = "kiln-cache-list";
constexpr unsigned kVersion = 1;
constexpr std::size_t kCandidatesKept = 8;

std::filesystem::path fan_out(const Digest& key) {
  const std::string hex = key.hex();
  return std::filesystem::path(hex.substr(0, 2)) / hex.substr(2);
}

std::string entry_lines(const CachedOutput& value) {
  return sha256(value.output).hex() + "\n" + sha256(value.log).hex() + "\n";
}

}  // namespace

std::filesystem::path CacheStore::entry_folder(const Digest& key) const {
  return root_ / "objects" / fan_out(key);
}

std::filesystem::path CacheStore::list_file(const Digest& step_key) const {
  return root_ / "lists" / fan_out(step_key);
}

std::optional<CachedOutput> CacheStore::find(const Digest& key) {
  const std::filesystem::path folder = entry_folder(key);
  if (!files_.status(folder)) return std::nullopt;
  const Result<std::string> entry = files_.read(folder / "entry");
  Result<std::string> output = files_.read(folder / "output");
  Result<std::string> log = files_.read(folder / "log");
  if (entry && output && log) {
    CachedOutput value{std::move(*output), std::move(*log)};
    if (unseal(kEntryFormat, kVersion, *entry) == entry_lines(value)) {
      (void)files_.touch(folder / "entry");  // a read-only cache still serves
      return value;
    }
  }
  (void)files_.remove_all(folder);
  return std::nullopt;
}

Result<void> CacheStore::store(const Digest& key, const CachedOutput& value) {
  const std::filesystem::path aside = root_ / "aside" /
                                      (std::to_string(::getpid()) + "-" +
                                       std::to_string(++aside_count_));
  const auto fill_and_publish = [&]() -> Result<void> {
    KILN_TRY(files_.write(aside / "output", value.output));
    KILN_TRY(files_.write(aside / "log", value.log));
    KILN_TRY(files_.write(aside / "entry", seal(kEntryFormat, kVersion, entry_lines(value))));
    const std::filesystem::path folder = entry_folder(key);
    KILN_TRY(files_.make_directories(folder.parent_path()));
    return files_.rename(aside, folder);
  };
  Result<void> published = fill_and_publish();
  if (published) return {};
  (void)files_.remove_all(aside);
  // Another build was quicker: its entry is as good.
  if (files_.status(entry_folder(key) / "entry")) return {};
  return published;
}

// A list file holds, newest first:  { "candidate" { digest " " path } }
std::vector<Candidate> CacheStore::candidates(const Digest& step_key) const {
  const Result<std::string> file = files_.read(list_file(step_key));
  if (!file) return {};
  std::optional<std::string_view> lines = unseal(kListFormat, kVersion, *file);
  if (!lines) return {};
  std::vector<Candidate> result;
  while (!lines->empty()) {
    std::string_view line = take_until(*lines, '\n');
    if (line == "candidate") {
      result.emplace_back();
      continue;
    }
    Digest digest;
    if (result.empty() || !Digest::parse(take_until(line, ' '), digest)) return {};
    result.back().dependencies.emplace_back(unescape_line(line), digest);
  }
  return result;
}

Result<void> CacheStore::add_candidate(const Digest& step_key, const Candidate& candidate) {
  std::vector<Candidate> kept = candidates(step_key);
  std::erase_if(kept, [&](const Candidate& old) {
    return old.dependencies == candidate.dependencies;
  });
  kept.insert(kept.begin(), candidate);
  if (kept.size() > kCandidatesKept) kept.resize(kCandidatesKept);
  std::string lines;
  for (const Candidate& one : kept) {
    lines += "candidate\n";
    for (const auto& [path, digest] : one.dependencies) {
      lines.append(digest.hex()).append(" ").append(escape_line(path)).append("\n");
    }
  }
  return files_.write(list_file(step_key), seal(kListFormat, kVersion, lines));
}

std::vector<CacheStore::Stored> CacheStore::all_entries() const {
  std::vector<Stored> result;
  for (const char* kind : {"objects", "lists"}) {
    const Result<std::vector<std::string>> prefixes = files_.list(root_ / kind);
    if (!prefixes) continue;
    for (const std::string& prefix : *prefixes) {
      const Result<std::vector<std::string>> names = files_.list(root_ / kind / prefix);
      if (!names) continue;
      for (const std::string& name : *names) {
        Stored stored{.path = root_ / kind / prefix / name, .bytes = 0, .used_ns = 0};
        const bool is_list = std::string_view(kind) == "lists";
        for (const char* part : {"entry", "output", "log"}) {
          const auto status = files_.status(is_list ? stored.path : stored.path / part);
          if (!status) continue;
          stored.bytes += status->size;
          stored.used_ns = std::max(stored.used_ns, status->modified_ns);
          if (is_list) break;
        }
        result.push_back(std::move(stored));
      }
    }
  }
  return result;
}

CacheStore::Usage CacheStore::usage() const {
  Usage usage;
  for (const Stored& stored : all_entries()) {
    usage.bytes += stored.bytes;
    if (stored.path.parent_path().parent_path().filename() == "objects") ++usage.entries;
  }
  return usage;
}

Result<void> CacheStore::trim(std::uint64_t limit) {
  std::vector<Stored> entries = all_entries();
  std::uint64_t total = 0;
  for (const Stored& stored : entries) total += stored.bytes;
  std::sort(entries.begin(), entries.end(), [](const Stored& a, const Stored& b) {
    return std::pair(a.used_ns, a.path) < std::pair(b.used_ns, b.path);
  });
  for (const Stored& stored : entries) {
    if (total <= limit) break;
    KILN_TRY(files_.remove_all(stored.path));
    total -= stored.bytes;
  }
  return {};
}

Result<void> CacheStore::clear() {
  for (const char* part : {"objects", "lists", "aside"}) {
    KILN_TRY(files_.remove_all(root_ / part));
  }
  return {};
}

Result<CachePolicy> cache_policy(const Environment& environment) {
  CachePolicy policy;
  if (const auto value = environment.get("KILN_CACHE")) {
    if (*value != "on" && *value != "off") {
      return Error{.code = ErrorCode::kInvalidInput,
                   .message = "KILN_CACHE is " + quote(*value) + ", not 'on' or 'off'"};
    }
    policy.is_on = *value == "on";
  }
  if (const auto value = environment.get("KILN_CACHE_SIZE")) {
    const std::optional<std::uint64_t> limit = parse_size(*value);
    if (!limit) {
      return Error{.code = ErrorCode::kInvalidInput,
                   .message = "KILN_CACHE_SIZE is " + quote(*value) + ", not a size"}
          .hint("write bytes, or a number with K, M, G or T: 'KILN_CACHE_SIZE=2G'");
    }
    policy.limit = *limit;
  }
  return policy;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  if (unit.empty()) return value;
  if (unit.size() != 1 || kUnits.find(unit[0]) == std::string_view::npos) return std::nullopt;
  const std::size_t shift = 10 * (kUnits.find(unit[0]) + 1);
  if (value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

}  // namespace kiln::tools
