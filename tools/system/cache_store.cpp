#include "tools/system/cache_store.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kEntryFormat = "kiln-cache-entry";
constexpr std::string_view kListFormat = "kiln-cache-list";
constexpr unsigned kVersion = 2;
constexpr std::size_t kMaxCandidates = 8;

std::filesystem::path fan_out(const Digest& key) {
  const std::string hex = key.hex();
  return std::filesystem::path(hex.substr(0, 2)) / hex.substr(2);
}

// https://bford.info/cachedir/
constexpr std::string_view kTagName = "CACHEDIR.TAG";
constexpr std::string_view kTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of kiln, which 'kiln cache clear' empties.\n";
constexpr const char* kCutShort = "is cut short";

// Returns the fault of the tag file; empty if the tag is kiln's. Another program's tag may consist
// of just the first line.
std::string fault_of_tag(const Result<std::string>& tag) {
  if (!tag) return "is missing";
  if (*tag == kTag) return "";
  constexpr std::size_t kSignature = kTag.find('\n');
  const bool is_cut = kTag.starts_with(*tag) && tag->size() != kSignature && tag->size() != kSignature + 1;
  return is_cut ? kCutShort : "is of another program";
}

// Ranges of the lock file: one for users of the store, the others for running steps.
constexpr std::uint64_t kUseRange = 0;

std::uint64_t range_of(const Digest& key) { return key.prefix64() | 2; }  // never kUseRange

constexpr std::array<std::string_view, 3> kParts = {"objects", "lists", "aside"};

// Returns the first name in the store that kiln would not use, or an empty string. A folder with
// kiln's tag is always kiln's.
std::string first_foreign_name(const Files& files, const std::filesystem::path& root) {
  const Result<std::string> tag = files.read(root / kTagName);
  if (tag && *tag == kTag) return {};
  for (const std::string_view part : kParts) {
    const std::size_t length = part == "aside" ? 16 : 2;
    for (const std::string& name : files.list(root / part).value_or(std::vector<std::string>())) {
      const bool is_ours = name.size() == length &&
                           name.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!is_ours) return std::string(part) + "/" + name;
    }
  }
  return {};
}

CachedOutput with_digests(std::string output, std::string log) {
  const Digest output_digest = sha256(output), log_digest = sha256(log);
  return {std::move(output), std::move(log), output_digest, log_digest};
}

std::string entry_lines(const Digest& key, const CachedOutput& value) {
  return key.hex() + "\n" + value.output_digest.hex() + "\n" + value.log_digest.hex() + "\n";
}

// True if another version of kiln wrote the file: not usable, but not damaged.
bool is_of_another_version(std::string_view format, std::string_view file) {
  std::string_view version = take_until(file, '\n');
  if (take_until(version, ' ') != format) return false;
  const std::optional<unsigned> number = parse_integer<unsigned>(version);
  return number && *number != kVersion;
}

// Newest first:  { "candidate" { digest " " path } }
std::string write_candidates(const std::vector<Candidate>& candidates) {
  std::string lines;
  for (const Candidate& candidate : candidates) {
    lines += "candidate\n";
    for (const auto& [path, digest] : candidate.dependencies) {
      lines.append(digest.hex()).append(" ").append(escape_line(path)).append("\n");
    }
  }
  return lines;
}

std::vector<Candidate> read_candidates(std::string_view lines) {
  std::vector<Candidate> result;
  while (!lines.empty()) {
    std::string_view line = take_until(lines, '\n');
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

// Puts `added` before the existing candidates, without repetition.
std::vector<Candidate> with_candidate(std::vector<Candidate> candidates, const Candidate& added) {
  std::erase_if(candidates,
                [&](const Candidate& old) { return old.dependencies == added.dependencies; });
  candidates.insert(candidates.begin(), added);
  if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
  return candidates;
}

struct CountField {
  std::string_view name;
  std::uint64_t CacheStore::Counts::*member;
};
constexpr std::array<CountField, 8> kCounts = {{
    {"hits", &CacheStore::Counts::hits},
    {"misses", &CacheStore::Counts::misses},
    {"bytes", &CacheStore::Counts::bytes},
    {"remote-hits", &CacheStore::Counts::remote_hits},
    {"remote-misses", &CacheStore::Counts::remote_misses},
    {"remote-read", &CacheStore::Counts::remote_read},
    {"remote-written", &CacheStore::Counts::remote_written},
    {"remote-failures", &CacheStore::Counts::remote_failures},
}};

}  // namespace

std::filesystem::path CacheStore::entry_folder(const Digest& key) const {
  return root_ / "objects" / fan_out(key);
}

std::filesystem::path CacheStore::list_file(const Digest& step_key) const {
  return root_ / "lists" / fan_out(step_key);
}

std::optional<CachedOutput> CacheStore::find(const Digest& key, Levels levels) {
  std::optional<CachedOutput> found = find_local(key);
  if (found || levels == Levels::kLocal || remote_ == nullptr) return found;
  std::optional<RemoteCache::Output> remote = remote_->find(key);
  if (!remote) return std::nullopt;
  const Digest log_digest = sha256(remote->log);
  CachedOutput value{std::move(remote->output), std::move(remote->log), remote->digest, log_digest,
                     FoundIn::kServer};
  (void)store_local(key, value);
  return value;
}

void CacheStore::count(FoundIn where, std::uint64_t bytes) {
  if (where == FoundIn::kFolder) {
    ++hits_;
    bytes_ += bytes;
    return;
  }
  ++misses_;
  if (remote_ != nullptr) remote_->count(where == FoundIn::kServer);
}

Result<void> CacheStore::store(const Digest& key, const CachedOutput& value) {
  if (remote_ != nullptr) remote_->store(key, value.output, value.log);
  return store_local(key, with_digests(value.output, value.log));
}

std::optional<CachedOutput> CacheStore::find_local(const Digest& key) {
  const std::filesystem::path folder = entry_folder(key);
  if (!files_.status(folder)) return std::nullopt;
  const Result<std::string> entry = files_.read(folder / "entry");
  Result<std::string> output = files_.read(folder / "output");
  Result<std::string> log = files_.read(folder / "log");
  if (entry && output && log) {
    CachedOutput value = with_digests(std::move(*output), std::move(*log));
    if (unseal(kEntryFormat, kVersion, *entry) == entry_lines(key, value)) {
      (void)files_.touch(folder / "entry");  // fails on a read-only cache, which can still be read
      return value;
    }
  }
  if (!entry || !is_of_another_version(kEntryFormat, *entry)) note_damage(folder);
  (void)discard(folder);
  return std::nullopt;
}

Result<void> CacheStore::store_local(const Digest& key, const CachedOutput& value) {
  KILN_TRY(mark());
  KILN_TRY_ASSIGN(const std::filesystem::path aside, files_.make_unique_folder(root_ / "aside"));
  const auto fill_and_publish = [&]() -> Result<void> {
    KILN_TRY(files_.write(aside / "output", value.output));
    KILN_TRY(files_.write(aside / "log", value.log));
    KILN_TRY(files_.write(aside / "entry", seal(kEntryFormat, kVersion, entry_lines(key, value))));
    return publish(aside, entry_folder(key));
  };
  Result<void> published = fill_and_publish();
  if (published) return {};
  // Another build was faster, and its entry is as good. Or the existing entry is damaged;
  // find_local() removes it.
  const bool exists = files_.status(entry_folder(key)).has_value();
  if (exists) {
    published = find_local(key) ? Result<void>() : publish(aside, entry_folder(key));
  }
  (void)files_.remove_all(aside);
  return published;
}

// Moves what was made aside to its place. Tries again where nothing is in the way: clear() may have
// removed the folder meanwhile.
Result<void> CacheStore::publish(const std::filesystem::path& made,
                                 const std::filesystem::path& place) {
  constexpr int kTries = 8;
  Result<void> done;
  for (int i = 0; i < kTries; ++i) {
    done = files_.make_directories(place.parent_path());
    if (done) done = files_.rename(made, place);
    if (done || files_.status(place)) break;
  }
  return done;
}

// Called when something is first stored. Leaves another program's tag as it is.
Result<void> CacheStore::mark() {
  if (is_marked_) return {};
  const bool is_file = files_.kind(root_ / kTagName) == PathKind::kFile;
  if (!is_file || fault_of_tag(files_.read(root_ / kTagName)) == kCutShort) {
    KILN_TRY(files_.write(root_ / kTagName, kTag));
  }
  is_marked_ = true;
  return {};
}

// Moves the entry away first, so that concurrent readers find all of it or nothing.
Result<void> CacheStore::discard(const std::filesystem::path& path) {
  const Result<std::filesystem::path> aside = files_.make_unique_folder(root_ / "aside");
  if (!aside || !files_.rename(path, *aside / "discarded")) {
    KILN_TRY(files_.remove_all(path));
  }
  return aside ? files_.remove_all(*aside) : Result<void>();
}

// Does not count files that disappeared while they were read: another build discarded them.
void CacheStore::note_damage(const std::filesystem::path& path) {
  if (files_.status(path)) ++damaged_;
}

std::optional<RangeLock> CacheStore::use() {
  if (!files_.make_directories(root_)) return std::nullopt;
  return RangeLock::take(root_ / "lock", kUseRange, RangeLock::Mode::kShared, nullptr);
}

std::optional<RangeLock> CacheStore::claim(const Digest& step_key, const Interrupt* interrupt) {
  if (!files_.make_directories(root_)) return std::nullopt;
  return RangeLock::take(root_ / "lock", range_of(step_key), RangeLock::Mode::kExclusive, interrupt);
}

// Returns the files and folders that make_unique_folder() and write() create and a killed build
// leaves behind.
std::vector<std::filesystem::path> CacheStore::leftovers() const {
  std::vector<std::filesystem::path> found;
  for (const std::string& name : files_.list(root_ / "aside").value_or(std::vector<std::string>())) {
    found.push_back(root_ / "aside" / name);
  }
  for (const std::string& name : files_.list(root_).value_or(std::vector<std::string>())) {
    if (name.starts_with(".kiln-") && name.ends_with("~")) found.push_back(root_ / name);
  }
  return found;
}

void CacheStore::sweep(RangeLock& use) {
  if (leftovers().empty() || !use.try_upgrade()) return;
  // Lists again: files that were just being made may be in place by now.
  for (const std::filesystem::path& path : leftovers()) (void)files_.remove_all(path);
}

// A list file holds the step's key, followed by the text of write_candidates().
std::vector<Candidate> CacheStore::candidates(const Digest& step_key) {
  const std::filesystem::path path = list_file(step_key);
  const Result<std::string> file = files_.read(path);
  if (!file) return {};
  std::optional<std::string_view> lines = unseal(kListFormat, kVersion, *file);
  if (!lines || take_until(*lines, '\n') != step_key.hex()) {
    if (!is_of_another_version(kListFormat, *file)) note_damage(path);
    (void)files_.remove_all(path);
    return {};
  }
  return read_candidates(*lines);
}

std::vector<Candidate> CacheStore::remote_candidates(const Digest& step_key) {
  if (remote_ == nullptr) return {};
  const std::optional<std::string> text = remote_->find_text(step_key);
  return text ? read_candidates(*text) : std::vector<Candidate>();
}

Result<void> CacheStore::add_candidate(const Digest& step_key, const Candidate& candidate) {
  if (remote_ != nullptr) {
    remote_->store_text(step_key,
                        write_candidates(with_candidate(remote_candidates(step_key), candidate)));
  }
  return add_local_candidate(step_key, candidate);
}

Result<void> CacheStore::add_local_candidate(const Digest& step_key, const Candidate& candidate) {
  const std::string lines =
      step_key.hex() + "\n" + write_candidates(with_candidate(candidates(step_key), candidate));
  KILN_TRY(mark());
  KILN_TRY_ASSIGN(const std::filesystem::path aside, files_.make_unique_folder(root_ / "aside"));
  const auto fill_and_publish = [&]() -> Result<void> {
    KILN_TRY(files_.write(aside / "list", seal(kListFormat, kVersion, lines)));
    return publish(aside / "list", list_file(step_key));
  };
  Result<void> published = fill_and_publish();
  (void)files_.remove_all(aside);
  return published;
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

CacheStore::Counts CacheStore::counts() const {
  Counts counts;
  const Result<std::string> file = files_.read(root_ / "counts");
  if (!file) return counts;
  std::optional<std::string_view> lines = unseal("kiln-cache-counts", 1, *file);
  while (lines && !lines->empty()) {
    std::string_view line = take_until(*lines, '\n');
    const std::string_view name = take_until(line, ' ');
    for (const CountField& field : kCounts) {
      if (field.name != name) continue;
      counts.*field.member = parse_integer<std::uint64_t>(line).value_or(0);
    }
  }
  return counts;
}

void CacheStore::save_counts() {
  Counts added{.hits = hits_, .misses = misses_, .bytes = bytes_};
  if (remote_ != nullptr) {
    const RemoteCache::Counts& remote = remote_->counts();
    added.remote_hits = remote.hits;
    added.remote_misses = remote.misses;
    added.remote_read = remote.bytes_read;
    added.remote_written = remote.bytes_written;
    added.remote_failures = remote.failures;
  }
  const bool has_any = std::any_of(kCounts.begin(), kCounts.end(), [&](const CountField& field) {
    return added.*field.member != 0;
  });
  if (!has_any || !mark()) return;
  const std::optional<RangeLock> lock = claim(sha256("counts"), nullptr);
  const Counts before = counts();
  std::string lines;
  for (const CountField& field : kCounts) {
    lines += std::string(field.name) + " " +
             std::to_string(before.*field.member + added.*field.member) + "\n";
  }
  (void)files_.write(root_ / "counts", seal("kiln-cache-counts", 1, lines));
}

Result<void> CacheStore::trim(std::uint64_t limit, std::int64_t oldest_ns) {
  std::vector<Stored> entries = all_entries();
  std::uint64_t total = 0;
  for (const Stored& stored : entries) total += stored.bytes;
  std::sort(entries.begin(), entries.end(), [](const Stored& a, const Stored& b) {
    return std::pair(a.used_ns, a.path) < std::pair(b.used_ns, b.path);
  });
  for (const Stored& stored : entries) {
    if (total <= limit && stored.used_ns >= oldest_ns) break;
    KILN_TRY(discard(stored.path));
    total -= stored.bytes;
  }
  return {};
}

Result<void> CacheStore::check_mark() const {
  const bool has_parts = std::ranges::any_of(
      kParts, [&](const std::string_view part) { return files_.status(root_ / part).has_value(); });
  const std::string fault = has_parts ? fault_of_tag(files_.read(root_ / kTagName)) : "";
  if (fault.empty()) return {};
  return Error{.code = ErrorCode::kInvalidInput,
               .message = quote(root_.string()) + " is not known to be a cache of kiln"}
      .note("its " + std::string(kTagName) + " " + fault)
      .hint("a build that keeps something there marks it; or remove the folder yourself");
}

Result<void> CacheStore::clear() {
  KILN_TRY(check_mark());
  for (const char* part : {"objects", "lists"}) {
    if (files_.status(root_ / part)) KILN_TRY(discard(root_ / part));
  }
  return files_.remove_all(root_ / "counts");
}

CacheFolder cache_folder(const Files& files, const Environment& environment) {
  CacheFolder folder{.path = environment.cache_directory(), .refused = {}};
  if (folder.path.empty()) {
    folder.refused = "none of KILN_CACHE_DIR, XDG_CACHE_HOME and HOME says where it is";
    return folder;
  }
  folder.path = environment.absolute(folder.path);
  if (const std::string name = first_foreign_name(files, folder.path); !name.empty()) {
    folder.refused = folder.path.string() + " holds " + quote(name) + ", which kiln did not write";
  } else {
    folder.refused = files.why_untrusted(folder.path);
  }
  return folder;
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
  const std::size_t at = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  if (unit.size() != 1 || at == std::string_view::npos) return std::nullopt;
  const std::size_t shift = 10 * (at + 1);
  if (value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

}  // namespace kiln::tools
