#include "base/on_all_cores.hpp"

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>

using namespace kiln;

TEST_CASE("on_all_cores does each part once") {
  on_all_cores(0, [](std::size_t) { FAIL(); });
  std::array<std::atomic<int>, 1000> done{};
  on_all_cores(done.size(), [&](std::size_t i) { ++done[i]; });
  on_threads(3, done.size(), [&](std::size_t i) { ++done[i]; });
  for (const std::atomic<int>& one : done) REQUIRE(one == 2);
}

TEST_CASE("on_all_cores passes an exception on when all threads have ended") {
  std::atomic<int> busy{0}, begun{0};
  const auto work = [&](std::size_t) {
    ++busy;
    const bool is_tenth = ++begun == 10;
    --busy;
    if (is_tenth) throw std::runtime_error("the tenth");
  };
  CHECK_THROWS_AS(on_all_cores(1'000'000, work), std::runtime_error);
  CHECK(busy == 0);
  CHECK(begun < 1'000'000);
}

TEST_CASE("HelpingThreads gives each thread its number and waits for all") {
  std::array<std::atomic<int>, 8> done{};
  {
    const HelpingThreads helpers(done.size(), [&](std::size_t i) { ++done[i]; });
    REQUIRE(helpers.count() == done.size());
  }
  for (const std::atomic<int>& one : done) CHECK(one == 1);
}
