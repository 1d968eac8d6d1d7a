// The cache that machines share: an HTTP server that stores bodies under /ac/<key> and
// /cas/<SHA-256 of the bytes>, like Bazel's HTTP caches (bazel-remote, nginx with WebDAV, ...).
//
//   /ac/<key of an output>   ActionResult: digest of the output, the tool's log as stdout_raw
//   /ac/<key of a step>      ActionResult: the lists of files that the step was seen to read
//   /cas/<digest>            an output
//
// Nothing here fails a build. An unreachable server is not asked again by the same process, and
// neither are keys that it did not have. A server that refuses writes gets no more of them.
// first_failure() tells why. A response that fails its check counts as missing. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/digest.hpp"
#include "kiln/result.hpp"
#include "tools/system/environment.hpp"
#include "tools/system/http_client.hpp"

namespace kiln::tools {

struct RemotePolicy {
  std::string url;  // without a trailing slash; empty: no server
  bool may_write = true;
  HttpTimeouts timeouts;
};
// Reads KILN_CACHE_URL, KILN_CACHE_HTTP=read|read-write and KILN_CACHE_TIMEOUT=seconds. Errors:
// kInvalidInput.
Result<RemotePolicy> remote_policy(const Environment& environment);

// Returns `url` for printing, without everything before its last '@'. A password may contain '@' or
// '/', so an '@' in the path, which is rare, hides the host as well.
std::string without_credentials(const std::string& url);

class RemoteCache {
 public:
  struct Counts {
    std::atomic<std::uint64_t> hits{0}, misses{0}, bytes_read{0}, bytes_written{0}, failures{0};
  };
  struct Output {
    std::string output, log;
    Digest digest = {};  // of the output
  };

  RemoteCache(std::unique_ptr<HttpClient> client, RemotePolicy policy)
      : client_(std::move(client)), policy_(std::move(policy)) {}

  std::optional<Output> find(const Digest& key);
  void store(const Digest& key, std::string_view output, std::string_view log);
  // Texts that the caller defines.
  std::optional<std::string> find_text(const Digest& key);
  void store_text(const Digest& key, std::string_view text);

  // Counts one search for an output, which may need several requests.
  void count(bool was_found) { ++(was_found ? counts_.hits : counts_.misses); }
  const Counts& counts() const { return counts_; }
  // Returns the first problem, such as "is not used any more: the server answered HTTP 500"; empty
  // if there was none.
  std::string first_failure() const;
  std::string shown_url() const { return without_credentials(policy_.url); }

 private:
  std::optional<std::string> get(const std::string& path, std::size_t max_bytes);
  bool put(const std::string& path, std::string_view body);
  bool is_missing(const std::string& path) const;
  void report_failure(std::string_view what_follows, const Result<HttpResponse>& response);

  std::unique_ptr<HttpClient> client_;
  const RemotePolicy policy_;
  Counts counts_;
  std::atomic<bool> is_off_{false}, is_read_only_{false};
  mutable std::mutex mutex_;
  std::string first_failure_;
  std::set<std::string> missing_;
};

}  // namespace kiln::tools
