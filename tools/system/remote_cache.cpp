#include "tools/system/remote_cache.hpp"

#include <algorithm>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "tools/system/action_result.hpp"

namespace kiln::tools {
namespace {

constexpr long kMaxSeconds = 600;
// Limits for a server's answer. An entry holds a tool's log or a list of files, an output is an
// image, and either may be a page with an error message.
constexpr std::size_t kMaxEntryBytes = std::size_t{16} << 20,
                      kMaxOutputBytes = std::size_t{1} << 30, kMaxPageBytes = std::size_t{64} << 10;

bool is_success(long status) { return status >= 200 && status < 300; }

}  // namespace

Result<RemotePolicy> remote_policy(const Environment& environment) {
  RemotePolicy policy;
  policy.url = environment.get("KILN_CACHE_URL").value_or("");
  while (policy.url.ends_with('/')) policy.url.pop_back();
  if (!policy.url.empty() && !policy.url.starts_with("http://") &&
      !policy.url.starts_with("https://")) {
    return Error{ErrorCode::kInvalidInput, "KILN_CACHE_URL is " +
                                               quote(without_credentials(policy.url)) +
                                               ", which is no address of an HTTP server"}
        .hint("write it like 'http://cache.example:8080/kiln'");
  }
  if (const auto mode = environment.get("KILN_CACHE_HTTP")) {
    if (*mode != "read" && *mode != "read-write") {
      return Error{ErrorCode::kInvalidInput,
                   "KILN_CACHE_HTTP is " + quote(*mode) + ", not 'read' or 'read-write'"};
    }
    policy.may_write = *mode == "read-write";
  }
  if (const auto text = environment.get("KILN_CACHE_TIMEOUT")) {
    const long seconds = parse_integer<long>(*text).value_or(0);
    if (seconds < 1 || seconds > kMaxSeconds) {
      return Error{ErrorCode::kInvalidInput, "KILN_CACHE_TIMEOUT is " + quote(*text) +
                                                 ", not a number of seconds from 1 to " +
                                                 std::to_string(kMaxSeconds)};
    }
    policy.timeouts = {.connect_milliseconds = 1000 * seconds, .stall_seconds = seconds};
  }
  return policy;
}

std::string without_credentials(const std::string& url) {
  const std::size_t at = url.rfind('@');
  if (at == std::string::npos) return url;
  const std::size_t scheme = url.find("://");
  const std::size_t start = scheme < at ? scheme + 3 : 0;
  return url.substr(0, start) + url.substr(at + 1);
}

std::string RemoteCache::first_failure() const {
  const std::lock_guard lock(mutex_);
  return first_failure_;
}

bool RemoteCache::is_missing(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return missing_.contains(path);
}

void RemoteCache::report_failure(std::string_view what_follows,
                                 const Result<HttpResponse>& response) {
  ++counts_.failures;
  const std::lock_guard lock(mutex_);
  if (!first_failure_.empty()) return;
  first_failure_ = std::string(what_follows) + ": " +
                   (response ? "the server answered HTTP " + std::to_string(response->status)
                             : response.error().message);
}

std::optional<std::string> RemoteCache::get(const std::string& path, std::size_t max_bytes) {
  if (is_off_ || is_missing(path)) return std::nullopt;
  Result<HttpResponse> response = client_->get(policy_.url + path, max_bytes);
  if (response && response->status == 200) {
    counts_.bytes_read += response->body.size();
    return std::move(response->body);
  }
  if (response && (response->status == 404 || response->status == 410)) {
    const std::lock_guard lock(mutex_);
    missing_.insert(path);
    return std::nullopt;
  }
  is_off_ = true;
  report_failure("is not used any more", response);
  return std::nullopt;
}

bool RemoteCache::put(const std::string& path, std::string_view body) {
  if (is_off_ || is_read_only_ || !policy_.may_write) return false;
  if (body.size() > (path.starts_with("/ac/") ? kMaxEntryBytes : kMaxOutputBytes)) return false;
  const Result<HttpResponse> response = client_->put(policy_.url + path, body);
  if (response && is_success(response->status)) {
    counts_.bytes_written += body.size();
    const std::lock_guard lock(mutex_);
    missing_.erase(path);
    return true;
  }
  // Too large for this server, but other outputs may not be.
  if (response && response->status == 413) {
    ++counts_.failures;
    return false;
  }
  // Without permission to write, reading may still work. Some servers just close the connection.
  is_read_only_ = true;
  report_failure("is only read from now on", response);
  return false;
}

std::optional<RemoteCache::Output> RemoteCache::find(const Digest& key) {
  const std::optional<std::string> entry = get("/ac/" + key.hex(), kMaxEntryBytes);
  const std::optional<ActionResult> result =
      entry ? read_action_result(*entry) : std::optional<ActionResult>();
  if (result && result->output && result->output->size <= kMaxOutputBytes) {
    std::optional<std::string> output =
        get("/cas/" + result->output->digest.hex(),
            std::max<std::size_t>(result->output->size, kMaxPageBytes));
    if (output && sha256(*output) == result->output->digest) {
      return Output{std::move(*output), result->text, result->output->digest};
    }
  }
  return std::nullopt;
}

void RemoteCache::store(const Digest& key, std::string_view output, std::string_view log) {
  ActionResult result;
  result.output = {sha256(output), output.size()};
  result.text = log;
  // Stores the bytes first, so that an entry never names missing bytes.
  if (put("/cas/" + result.output->digest.hex(), output)) {
    put("/ac/" + key.hex(), write_action_result(result));
  }
}

std::optional<std::string> RemoteCache::find_text(const Digest& key) {
  const std::optional<std::string> entry = get("/ac/" + key.hex(), kMaxEntryBytes);
  if (!entry) return std::nullopt;
  std::optional<ActionResult> result = read_action_result(*entry);
  if (!result) return std::nullopt;
  return std::move(result->text);
}

void RemoteCache::store_text(const Digest& key, std::string_view text) {
  put("/ac/" + key.hex(), write_action_result({.output = {}, .text = std::string(text)}));
}

}  // namespace kiln::tools
