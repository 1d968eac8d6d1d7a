// The engine alone, with kernels written directly against the image ABI, as in a host image.
#include "host/engine.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <vector>

using namespace kiln::host;
using Catch::Matchers::ContainsSubstring;

namespace {

// Runs `body(block)` for every thread, like the run function of an image.
template <void (*Body)(Block&)>
void run(Block* block) {
  while (block->next_thread < block->thread_limit) {
    const std::uint32_t t = block->next_thread++;
    block->thread = t;
    block->thread_index = t % block->block_dim.x;
    Body(*block);
  }
}

template <typename T>
T argument(const Block& block, std::size_t index) {
  T value;
  std::memcpy(&value, block.arguments[index], sizeof value);
  return value;
}

#define HERE \
  Site { "test.cu", __LINE__ }

Launch make_launch(const char* name, RunFunction function, Index3 grid, Index3 block) {
  Launch launch;
  launch.kernel = name;
  launch.run = function;
  launch.grid = grid;
  launch.block = block;
  return launch;
}

void count_threads(Block& block) {
  auto* counts = argument<std::atomic<std::uint32_t>*>(block, 0);
  const Index3 b = block.block_index, g = block.grid_dim;
  const std::uint64_t index = (std::uint64_t{b.z} * g.y + b.y) * g.x + b.x;
  ++counts[index * block.block_dim.x * block.block_dim.y * block.block_dim.z + block.thread];
}

// Each block sums its thread numbers through shared memory, in a tree with barriers.
void block_sum(Block& block) {
  static const char tag = 0;
  auto* sums = static_cast<std::uint32_t*>(
      block.services->shared(&block, &tag, kMaxBlockThreads * sizeof(std::uint32_t), 16));
  const std::uint32_t t = block.thread_index;
  sums[t] = t;
  block.services->block_barrier(&block, HERE);
  for (std::uint32_t step = block.block_dim.x / 2; step != 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    block.services->block_barrier(&block, HERE);
  }
  if (t == 0) argument<std::uint32_t*>(block, 0)[block.block_index.x] = sums[0];
}

void wave_sum(Block& block) {
  const std::uint32_t width = argument<std::uint32_t>(block, 1);
  const std::uint32_t t = block.thread_index;
  std::uint32_t sum = t;
  for (std::uint32_t step = width / 2; step != 0; step /= 2) {
    sum += block.services->shuffle(&block, sum, (t % width) ^ step, width, HERE);
  }
  argument<std::uint32_t*>(block, 0)[t] = sum;
}

void odd_ballot(Block& block) {
  argument<std::uint64_t*>(block, 0)[block.thread_index] =
      block.services->ballot(&block, block.thread_index % 2 == 1, block.wave_width, HERE);
}

// Alternates narrow and wide exchanges: a lane must not see values from the exchange of another
// group.
void mixed_widths(Block& block) {
  const std::uint32_t t = block.thread_index;
  std::uint32_t value = t;
  const bool low = t % 32 < 16;
  if (low) {
    value = block.services->shuffle(&block, value, (t % 16) ^ 1, 16, HERE);
  }
  argument<std::uint32_t*>(block, 0)[t] =
      block.services->shuffle(&block, value, (t % 32) ^ 16, 32, HERE);
}

void half_at_barrier(Block& block) {
  if (block.thread_index % 2 == 1) block.services->block_barrier(&block, HERE);
}

void two_barriers(Block& block) {
  if (block.thread_index % 2 == 1) {
    block.services->block_barrier(&block, Site{"test.cu", 100});
  } else {
    block.services->block_barrier(&block, Site{"test.cu", 200});
  }
}

void shuffle_after_exit(Block& block) {
  if (block.thread_index == 5) return;
  block.services->shuffle(&block, 0, 0, 32, HERE);
}

void too_much_shared(Block& block) {
  static const char tag = 0;
  block.services->shared(&block, &tag, kSharedMemoryBytes - 100, 16);
}

void fail_in_last_block(Block& block) {
  if (block.block_index.x + 1 == block.grid_dim.x && block.thread_index == 3) {
    block.services->fail(&block, "assertion failed", Site{"test.cu", 7});
  }
}

#if !defined(KILN_HOST_SANITIZED)
void write_to_null(Block& block) {
  if (block.block_index.x == 2) argument<volatile std::uint32_t*>(block, 0)[3] = 1;
}

void write_to_dynamic_shared(Block& block) {
  static_cast<volatile std::uint32_t*>(block.dynamic_shared)[block.thread_index] = 1;
}

void write_behind_dynamic_shared(Block& block) {
  static_cast<volatile std::uint32_t*>(block.dynamic_shared)[block.thread_index + 1] = 1;
}

void divide(Block& block) {
  volatile std::uint32_t zero = argument<std::uint32_t>(block, 0);
  const std::uint32_t quotient = 7 / zero;
  zero = quotient;
}

// NOLINTNEXTLINE(misc-no-recursion)
std::uint32_t recurse(volatile std::uint32_t* depth) {
  volatile std::uint32_t mine = *depth + 1;
  return mine == 0 ? 0 : recurse(&mine) + mine;
}
void use_up_stack(Block&) {
  volatile std::uint32_t depth = 0;
  recurse(&depth);
}
#endif

}  // namespace

#if !defined(KILN_HOST_SANITIZED)
TEST_CASE("a fault of a thread is an error of its launch, and the next launch runs") {
  Engine engine(4);
  const auto failure = [&](RunFunction function, const void* argument) {
    const void* arguments[] = {argument};
    Launch launch = make_launch("faulty", function, {4, 1, 1}, {8, 1, 1});
    launch.arguments = arguments;
    const auto launched = engine.launch(launch);
    REQUIRE_FALSE(launched);
    return launched.error().text();
  };
  std::uint32_t* const null = nullptr;
  const std::uint64_t nowhere = 0xdead000000000000;
  const std::uint32_t zero = 0;
  for (int round = 0; round < 3; ++round) {
    CHECK_THAT(
        failure(run<write_to_null>, &null),
        ContainsSubstring("access to address 0xc, where no memory is: kernel 'faulty', block (2,0,0)") &&
            ContainsSubstring("a null pointer"));
#if defined(__x86_64__)
    CHECK_THAT(failure(run<write_to_null>, &nowhere),
               ContainsSubstring("access to an address that no memory can have") &&
                   ContainsSubstring("kernel 'faulty', block (2,0,0)") && !ContainsSubstring("null"));
#endif
    CHECK_THAT(failure(run<write_to_dynamic_shared>, &zero),
               ContainsSubstring("where no memory is: kernel 'faulty', block (0,0,0)") &&
                   ContainsSubstring("dynamic_shared()"));
    const auto too_little = [&] {
      Launch launch = make_launch("faulty", run<write_behind_dynamic_shared>, {4, 1, 1}, {8, 1, 1});
      launch.dynamic_shared_bytes = 20;
      return engine.launch(launch);
    }();
    REQUIRE_FALSE(too_little);
    CHECK_THAT(too_little.error().text(),
               ContainsSubstring("access behind the 20 bytes of dynamic shared memory that the launch "
                                 "gives: kernel 'faulty', block (0,0,0)"));
    CHECK_THAT(failure(run<use_up_stack>, &zero),
               ContainsSubstring("a thread's stack of 256 KiB is used up: kernel 'faulty'"));
#if defined(__x86_64__)  // other processors return a quotient, like a GPU
    CHECK_THAT(failure(run<divide>, &zero),
               ContainsSubstring("division of a whole number by zero"));
#endif
    std::vector<std::atomic<std::uint32_t>> counts(32);
    auto* data = counts.data();
    const void* arguments[] = {&data};
    Launch launch = make_launch("count", run<count_threads>, {4, 1, 1}, {8, 1, 1});
    launch.arguments = arguments;
    REQUIRE(engine.launch(launch));
    for (const auto& value : counts) REQUIRE(value == 1);
  }
}
#endif

TEST_CASE("the engine runs every thread of every block exactly once") {
  Engine engine(4);
  const Index3 grid{7, 3, 2}, block{5, 3, 4};
  const std::size_t count = 7 * 3 * 2 * 5 * 3 * 4;
  std::vector<std::atomic<std::uint32_t>> counts(count);
  auto* data = counts.data();
  const void* arguments[] = {&data};
  Launch launch = make_launch("count", run<count_threads>, grid, block);
  launch.arguments = arguments;
  REQUIRE(engine.launch(launch));
  for (const auto& value : counts) REQUIRE(value == 1);
}

TEST_CASE("the engine keeps barriers and shared memory apart by block") {
  Engine engine(3);
  for (const std::uint32_t threads : {1u, 32u, 256u, 1024u}) {
    CAPTURE(threads);
    std::vector<std::uint32_t> sums(200);
    auto* data = sums.data();
    const void* arguments[] = {&data};
    Launch launch = make_launch("block_sum", run<block_sum>, {200, 1, 1}, {threads, 1, 1});
    launch.arguments = arguments;
    REQUIRE(engine.launch(launch));
    REQUIRE(sums == std::vector<std::uint32_t>(200, threads * (threads - 1) / 2));
  }
}

TEST_CASE("the engine shuffles among groups of any width up to the wave's") {
  Engine engine(1);
  for (const std::uint32_t wave : {32u, 64u}) {
    for (std::uint32_t width = 1; width <= wave; width *= 2) {
      CAPTURE(wave, width);
      std::vector<std::uint32_t> sums(128);
      auto* data = sums.data();
      const void* arguments[] = {&data, &width};
      Launch launch = make_launch("wave_sum", run<wave_sum>, {1, 1, 1}, {128, 1, 1});
      launch.arguments = arguments;
      launch.wave_width = wave;
      REQUIRE(engine.launch(launch));
      for (std::uint32_t t = 0; t < 128; ++t) {
        const std::uint32_t first = t / width * width;
        REQUIRE(sums[t] == width * first + width * (width - 1) / 2);
      }
    }
  }
}

TEST_CASE("the engine's ballots have one bit a lane") {
  Engine engine(1);
  std::vector<std::uint64_t> ballots(64);
  auto* data = ballots.data();
  const void* arguments[] = {&data};
  Launch launch = make_launch("odd_ballot", run<odd_ballot>, {1, 1, 1}, {64, 1, 1});
  launch.arguments = arguments;
  REQUIRE(engine.launch(launch));
  REQUIRE(ballots == std::vector<std::uint64_t>(64, 0xAAAAAAAA));
  launch.wave_width = 64;
  REQUIRE(engine.launch(launch));
  REQUIRE(ballots == std::vector<std::uint64_t>(64, 0xAAAAAAAAAAAAAAAA));
}

TEST_CASE("the engine keeps exchanges of different widths apart") {
  Engine engine(1);
  std::vector<std::uint32_t> values(64);
  auto* data = values.data();
  const void* arguments[] = {&data};
  Launch launch = make_launch("mixed", run<mixed_widths>, {1, 1, 1}, {64, 1, 1});
  launch.arguments = arguments;
  launch.wave_width = 64;
  REQUIRE(engine.launch(launch));
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::uint32_t from = t ^ 16;
    REQUIRE(values[t] == (from % 32 < 16 ? from ^ 1 : from));
  }
}

TEST_CASE("the engine names kernel, block and thread when threads wait for ever") {
  Engine engine(2);
  const auto message = [&](RunFunction function) {
    const auto result = engine.launch(make_launch("bad", function, {4, 1, 1}, {64, 1, 1}));
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  SECTION("a barrier that some threads never reach") {
    const std::string text = message(run<half_at_barrier>);
    REQUIRE_THAT(text, ContainsSubstring("divergent barrier: kernel 'bad', block ("));
    REQUIRE_THAT(text, ContainsSubstring("thread (1,0,0) waits at test.cu:"));
    REQUIRE_THAT(text, ContainsSubstring("which thread (0,0,0) has left without reaching"));
  }
  SECTION("barriers in two places") {
    const std::string text = message(run<two_barriers>);
    REQUIRE_THAT(text, ContainsSubstring("test.cu:100"));
    REQUIRE_THAT(text, ContainsSubstring("test.cu:200"));
  }
  SECTION("a shuffle among lanes of which one has left") {
    const std::string text = message(run<shuffle_after_exit>);
    REQUIRE_THAT(text, ContainsSubstring("divergent shuffle: kernel 'bad'"));
    REQUIRE_THAT(text, ContainsSubstring("thread (5,0,0) has left"));
  }
  SECTION("a kernel's own check") {
    REQUIRE(message(run<fail_in_last_block>) ==
            "assertion failed: kernel 'bad', block (3,0,0), thread (3,0,0) at test.cu:7");
  }
  // The engine is usable afterwards.
  std::vector<std::uint32_t> sums(8);
  auto* data = sums.data();
  const void* arguments[] = {&data};
  Launch launch = make_launch("block_sum", run<block_sum>, {8, 1, 1}, {64, 1, 1});
  launch.arguments = arguments;
  REQUIRE(engine.launch(launch));
  REQUIRE(sums == std::vector<std::uint32_t>(8, 2016));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need much memory
namespace {

// During its lifetime, the process can get only a few more megabytes of addresses.
class NoMoreMemory {
 public:
  NoMoreMemory() {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const rlimit limit{pages * page + (std::size_t{8} << 20), before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~NoMoreMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("the engine tells of missing memory, and goes on when there is some again") {
  Engine engine(1);
  std::vector<std::uint32_t> sums(4);
  auto* out = sums.data();
  const void* arguments[] = {&out};
  Launch launch = make_launch("block_sum", run<block_sum>, {4, 1, 1}, {1024, 1, 1});
  launch.arguments = arguments;
  {
    const NoMoreMemory while_it_lives;
    const auto result = engine.launch(launch);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == kiln::ErrorCode::kUnavailable);
    CHECK_THAT(result.error().message,
               ContainsSubstring("no memory for the stacks or the shared memory of kernel "
                                 "'block_sum', block (0,0,0), thread ("));
  }
  REQUIRE(engine.launch(launch));
  CHECK(sums == std::vector<std::uint32_t>(4, 1024 * 1023 / 2));
}
#endif

TEST_CASE("an engine ends in a forked child, which has none of its threads") {
  auto engine = std::make_unique<Engine>(4);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    engine.reset();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("the engine refuses launches that no GPU would take") {
  Engine engine(1);
  std::uint32_t sink = 0;
  const void* arguments[] = {&sink};
  const auto refused = [&](Launch launch) {
    launch.arguments = arguments;
    const auto result = engine.launch(launch);
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  REQUIRE(refused(make_launch("k", run<half_at_barrier>, {0, 1, 1}, {1, 1, 1})) ==
          "cannot launch kernel 'k': its grid of 0x1x1 blocks is empty");
  REQUIRE(refused(make_launch("k", run<half_at_barrier>, {1, 1, 1}, {1025, 1, 1})) ==
          "cannot launch kernel 'k': its block of 1025x1x1 threads is not 1 to 1024");
  REQUIRE(refused(make_launch("k", run<half_at_barrier>, {1, 1, 1}, {1, 0, 1})) ==
          "cannot launch kernel 'k': its block of 1x0x1 threads is not 1 to 1024");
  // The product, truncated to 64 bits, is 4.
  REQUIRE(refused(make_launch("k", run<half_at_barrier>, {1, 1, 1}, {769546, 494770, 48448661})) ==
          "cannot launch kernel 'k': its block of 769546x494770x48448661 threads is not 1 to 1024");
  REQUIRE(refused(make_launch("k", run<half_at_barrier>, {1, 65536, 1}, {1, 1, 1})) ==
          "cannot launch kernel 'k': its grid of 1x65536x1 blocks is over 2147483647x65535x65535");
  Launch launch = make_launch("k", run<too_much_shared>, {1, 1, 1}, {1, 1, 1});
  launch.dynamic_shared_bytes = 101;
  REQUIRE_THAT(refused(launch), ContainsSubstring("too much shared memory: kernel 'k'"));
  launch.dynamic_shared_bytes = kSharedMemoryBytes + 1;
  REQUIRE_THAT(refused(launch), ContainsSubstring("65537 bytes of shared memory asked for"));
}
