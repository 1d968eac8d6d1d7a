#include "tools/system/http_client.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/diagnostic.hpp"
#include "tools/system/plugin.hpp"

namespace kiln::tools {
namespace {

// The part of libcurl's interface that is used here. libcurl.so.4 has had it since 2013.
using Handle = void;
struct Functions {
  int (*global_init)(long) = nullptr;
  Handle* (*init)() = nullptr;
  void (*cleanup)(Handle*) = nullptr;
  void (*reset)(Handle*) = nullptr;
  int (*setopt)(Handle*, int, ...) = nullptr;
  int (*perform)(Handle*) = nullptr;
  int (*getinfo)(Handle*, int, ...) = nullptr;
  const char* (*strerror)(int) = nullptr;
  void* (*slist_append)(void*, const char*) = nullptr;
  void (*slist_free_all)(void*) = nullptr;
};

constexpr long kGlobalAll = 3;
constexpr int kTimeout = 13, kLowSpeedLimit = 19, kLowSpeedTime = 20, kNoProgress = 43,
              kUpload = 46, kNetrc = 51, kNoSignal = 99, kConnectTimeoutMs = 156, kProtocols = 181;
constexpr int kWriteData = 10001, kUrl = 10002, kReadData = 10009, kErrorBuffer = 10010,
              kUserAgent = 10018, kHttpHeader = 10023, kTransferInfoData = 10057;
constexpr int kWriteFunction = 20011, kReadFunction = 20012, kTransferInfoFunction = 20219;
constexpr int kInFileSizeLarge = 30115;
constexpr int kResponseCode = 0x200002;
constexpr long kHttpAndHttps = 3, kNetrcOptional = 1;
constexpr std::size_t kErrorSize = 256;

template <typename Function>
Result<void> find(Function& function, const char* name) {
  KILN_TRY_ASSIGN(void* const symbol, open_plugin("libcurl.so.4", name));
  function = reinterpret_cast<Function>(symbol);
  return {};
}

Result<Functions> open_library() {
  Functions curl;
  KILN_TRY(find(curl.global_init, "curl_global_init"));
  KILN_TRY(find(curl.init, "curl_easy_init"));
  KILN_TRY(find(curl.cleanup, "curl_easy_cleanup"));
  KILN_TRY(find(curl.reset, "curl_easy_reset"));
  KILN_TRY(find(curl.setopt, "curl_easy_setopt"));
  KILN_TRY(find(curl.perform, "curl_easy_perform"));
  KILN_TRY(find(curl.getinfo, "curl_easy_getinfo"));
  KILN_TRY(find(curl.strerror, "curl_easy_strerror"));
  KILN_TRY(find(curl.slist_append, "curl_slist_append"));
  KILN_TRY(find(curl.slist_free_all, "curl_slist_free_all"));
  return curl;
}

struct Body {
  std::string bytes;
  std::size_t max_bytes = 0;
  bool is_too_long = false;
};

// Returning less than it was given tells libcurl to stop.
std::size_t receive(const char* data, std::size_t size, std::size_t count, void* into) {
  Body& body = *static_cast<Body*>(into);
  body.is_too_long = size * count > body.max_bytes - body.bytes.size();
  if (body.is_too_long) return 0;
  body.bytes.append(data, size * count);
  return size * count;
}

// libcurl calls this at least about once a second. Any value but 0 tells it to stop.
int is_interrupted(void* interrupt, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  return interrupt != nullptr && *static_cast<const Interrupt*>(interrupt) ? 1 : 0;
}

std::size_t send(char* data, std::size_t size, std::size_t count, void* from) {
  std::string_view& rest = *static_cast<std::string_view*>(from);
  const std::size_t length = std::min(size * count, rest.size());
  std::memcpy(data, rest.data(), length);
  rest.remove_prefix(length);
  return length;
}

class CurlClient final : public HttpClient {
 public:
  CurlClient(const Functions& curl, const HttpTimeouts& timeouts, const Interrupt* interrupt)
      : curl_(curl), timeouts_(timeouts), interrupt_(interrupt) {
    headers_ = curl_.slist_append(nullptr, "Expect:");  // a PUT does not wait for permission
  }
  ~CurlClient() override {
    for (Handle* handle : idle_) curl_.cleanup(handle);
    curl_.slist_free_all(headers_);
  }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  Result<HttpResponse> get(const std::string& url, std::size_t max_bytes) override {
    return request(url, nullptr, max_bytes);
  }
  Result<HttpResponse> put(const std::string& url, std::string_view body) override {
    return request(url, &body, kMaxPutBytes);
  }

 private:
  static constexpr std::size_t kMaxPutBytes = std::size_t{1} << 20;

  // A connection lives as long as its handle.
  Handle* take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return curl_.init();
    Handle* handle = idle_.back();
    idle_.pop_back();
    curl_.reset(handle);
    return handle;
  }

  Result<HttpResponse> request(const std::string& url, std::string_view* body,
                               std::size_t max_bytes) {
    Handle* handle = take();
    if (handle == nullptr) return Error{ErrorCode::kUnavailable, "libcurl gives no handle"};
    HttpResponse response;
    Body received{.bytes = {}, .max_bytes = max_bytes};
    std::array<char, kErrorSize> reason{};
    const auto set = [&](int option, auto value) { curl_.setopt(handle, option, value); };
    set(kUrl, url.c_str());
    set(kErrorBuffer, reason.data());
    set(kUserAgent, "kiln");
    set(kNoSignal, 1L);
    set(kProtocols, kHttpAndHttps);
    set(kNetrc, kNetrcOptional);
    set(kConnectTimeoutMs, timeouts_.connect_milliseconds);
    set(kLowSpeedLimit, 1024L);
    set(kLowSpeedTime, timeouts_.stall_seconds);
    set(kTimeout, HttpTimeouts::kMaxStalls * timeouts_.stall_seconds);
    set(kNoProgress, 0L);
    set(kTransferInfoFunction, &is_interrupted);
    set(kTransferInfoData, static_cast<const void*>(interrupt_));
    set(kHttpHeader, headers_);
    set(kWriteFunction, &receive);
    set(kWriteData, static_cast<void*>(&received));
    if (body != nullptr) {
      set(kUpload, 1L);
      set(kReadFunction, &send);
      set(kReadData, static_cast<void*>(body));
      set(kInFileSizeLarge, static_cast<std::int64_t>(body->size()));
    }
    const int code = curl_.perform(handle);
    curl_.getinfo(handle, kResponseCode, &response.status);
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(handle);
    }
    response.body = std::move(received.bytes);
    if (code == 0) return response;
    if (received.is_too_long) {
      return Error{ErrorCode::kUnavailable,
                   "it sends more than the " + std::to_string(max_bytes) + " bytes that are read"};
    }
    return Error{ErrorCode::kUnavailable, reason[0] != '\0' ? reason.data() : curl_.strerror(code)};
  }

  const Functions curl_;
  const HttpTimeouts timeouts_;
  const Interrupt* const interrupt_;
  void* headers_ = nullptr;
  std::mutex mutex_;
  std::vector<Handle*> idle_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> real_http_client(const HttpTimeouts& timeouts,
                                                     const Interrupt* interrupt) {
  Result<Functions> curl = open_library();
  if (!curl) {
    return Error{ErrorCode::kUnavailable, "there is no libcurl.so.4: " + curl.error().message}.hint(
        "install it: apt-get install libcurl4");
  }
  if (const int code = curl->global_init(kGlobalAll); code != 0) {
    return Error{ErrorCode::kUnavailable, std::string("libcurl: ") + curl->strerror(code)};
  }
  return std::unique_ptr<HttpClient>(std::make_unique<CurlClient>(*curl, timeouts, interrupt));
}

}  // namespace kiln::tools
