// HTTP as a cache needs it: whole bodies, short time-outs.
//
// The real client is libcurl, which handles proxies, TLS, credentials in ~/.netrc and the machine's
// certificates. It is opened on demand, so users without an HTTP cache do not need it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/system/interrupt.hpp"

namespace kiln::tools {

struct HttpResponse {
  long status = 0;
  std::string body;
};

struct HttpTimeouts {
  long connect_milliseconds = 2000;
  // Ends a request that moves less than 1 KiB a second for this long, and any request that takes
  // kMaxStalls times as long.
  long stall_seconds = 10;
  static constexpr long kMaxStalls = 10;
};

// Thread-safe. Errors: kUnavailable, in the client's own words, if there is no answer.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // A body with more than `max_bytes` counts as no answer.
  virtual Result<HttpResponse> get(const std::string& url, std::size_t max_bytes) = 0;
  virtual Result<HttpResponse> put(const std::string& url, std::string_view body) = 0;
};

// Raising `interrupt` ends a request; null: never. The error (kUnavailable) says that libcurl is
// missing.
Result<std::unique_ptr<HttpClient>> real_http_client(const HttpTimeouts& timeouts,
                                                     const Interrupt* interrupt);

}  // namespace kiln::tools
