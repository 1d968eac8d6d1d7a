#include "emulator/memory_map.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

using namespace kiln;
using namespace kiln::emulator;

TEST_CASE("MemoryMap has no more than the machine, and again what was freed") {
  MemoryMap memory;
  const std::uint64_t all = machine_memory();
  for (const std::uint64_t bytes : {all + 1, std::uint64_t{SIZE_MAX}}) {
    const Result<void*> refused = memory.allocate(bytes);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kDriver);
  }
  const Result<void*> some = memory.allocate(10'000);
  REQUIRE(some);
  CHECK_FALSE(memory.allocate(all - 10'000));
  REQUIRE(memory.free(*some));
  CHECK_FALSE(memory.free(*some));
  CHECK(memory.bytes_after(reinterpret_cast<std::uint64_t>(*some)) == 0);
  CHECK(memory.allocate(10'000));
}
