#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tools/system/remote_cache.hpp"

using namespace kiln;
using namespace kiln::tools;

namespace {

// Accepts bodies up to a size, like nginx.
class SmallServer final : public HttpClient {
 public:
  explicit SmallServer(std::vector<std::string>& taken) : taken_(taken) {}
  Result<HttpResponse> get(const std::string&, std::size_t) override {
    return HttpResponse{.status = 404, .body = {}};
  }
  Result<HttpResponse> put(const std::string& url, std::string_view body) override {
    if (body.size() > 1000) return HttpResponse{.status = 413, .body = {}};
    taken_.push_back(url);
    return HttpResponse{.status = 201, .body = {}};
  }

 private:
  std::vector<std::string>& taken_;
};

}  // namespace

TEST_CASE("without_credentials hides a password however it is written") {
  CHECK(without_credentials("http://cache:8080/kiln") == "http://cache:8080/kiln");
  CHECK(without_credentials("http://ci:secret@cache/kiln") == "http://cache/kiln");
  CHECK(without_credentials("http://ci:se@cret@cache/kiln") == "http://cache/kiln");
  CHECK(without_credentials("http://ci:se/cret@cache/kiln") == "http://cache/kiln");
  CHECK(without_credentials("http://ci:se://cret@cache") == "http://cache");
  CHECK(without_credentials("ci:secret@cache/kiln") == "cache/kiln");
  CHECK(without_credentials("ci:secret@http://cache") == "http://cache");
  CHECK(without_credentials("").empty());
}

TEST_CASE("remote_policy refuses an address without its password") {
  Environment environment;
  environment.variables["KILN_CACHE_URL"] = "ci:secret@cache.example/kiln";
  const auto policy = remote_policy(environment);
  REQUIRE_FALSE(policy);
  CHECK(policy.error().message == "KILN_CACHE_URL is 'cache.example/kiln', which is no address of an HTTP server");
}

TEST_CASE("RemoteCache leaves out a body that is too large for the server, and goes on") {
  std::vector<std::string> taken;
  RemoteCache cache(std::make_unique<SmallServer>(taken),
                    {.url = "http://cache", .may_write = true, .timeouts = {}});
  cache.store(sha256("large"), std::string(2000, 'x'), "");
  CHECK(taken.empty());
  cache.store(sha256("small"), "small", "");
  CHECK(taken == std::vector<std::string>{"http://cache/cas/" + sha256("small").hex(),
                                          "http://cache/ac/" + sha256("small").hex()});
  CHECK(cache.first_failure().empty());
  CHECK(cache.counts().failures == 1);
}
