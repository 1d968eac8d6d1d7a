// HTTP as a cache needs it: whole bodies, short time-outs.
//
// The real client is libcurl, opened when it is asked for: it knows proxies, TLS, credentials in
// ~/.netrc and the machine's certificates, and who uses no HTTP cache needs no libcurl.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/result.hpp"
#include "tools/system/interrupt.hpp"

namespace kiln::tools {

struct HttpAnswer {
  long status = 0;
  std::string body;
};

struct HttpTimes {
  long connect_milliseconds = 2000;
  // Ends a request that moves less than 1 KiB a second for so long, and any that takes
  // kMostStalls times as long.
  long stall_seconds = 10;
  static constexpr long kMostStalls = 10;
};

// Safe from several threads. Errors: kUnavailable, in the client's own words, when there is no
// answer.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // A body of more than `most_bytes` is no answer.
  virtual Result<HttpAnswer> get(const std::string& url, std::size_t most_bytes) = 0;
  virtual Result<HttpAnswer> put(const std::string& url, std::string_view body) = 0;
};

// A request ends when `interrupt` is raised; null: never. The error (kUnavailable) is that there is
// no libcurl.
Result<std::unique_ptr<HttpClient>> real_http_client(const HttpTimes& times,
                                                     const Interrupt* interrupt);

}  // namespace kiln::tools
