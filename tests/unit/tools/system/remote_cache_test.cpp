#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tools/system/remote_cache.hpp"

using namespace kiln::tools;

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
