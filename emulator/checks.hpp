// The checks for uninitialised values and for races.
//
// Uninitialised values are found by running every wave twice, in step. The registers, LDS and
// scratch of the second wave, the twin, start with every bit of the poison inverted, and the twin
// reads unwritten global memory inverted. A value that differs between the two depends on an
// uninitialised value. It is reported if it determines an address, a value in global memory, a
// branch, or the set of active lanes. So no instruction needs a rule of its own, and a value that
// is only copied or is masked out is not reported.
//
// Races are found between waves of one workgroup, in LDS and in global memory. A race is two
// accesses to a byte, by different waves, between the same two barriers, where one is a write that
// changes the byte and the two are not both atomic. The order in which the waves happened to run
// does not matter. A plain read is allowed beside atomic updates of other waves if the reading wave
// then does a compare-and-swap of the same bytes: compilers begin the loop for an atomic that the
// hardware lacks with such a read.
#pragma once

#include <unordered_map>
#include <vector>

#include "emulator/dispatch.hpp"
#include "emulator/memory_access.hpp"

namespace kiln::emulator {

class AccessChecks final : public AccessObserver {
 public:
  explicit AccessChecks(const LaunchPlan& plan) : plan_(plan) {}

  void begin_workgroup();
  void pass_barrier();
  void end_workgroup() { raise_suspect(); }
  // Each instruction runs once for the wave, then once for its twin.
  void begin_instruction();
  void begin_twin();

  void on_load(Wave& wave, const Instruction& in, const Location& location, int lane, u8* data,
               u32 bytes) override;
  bool on_store(Wave& wave, const Instruction& in, const Location& location, int lane,
                const u8* data, u32 bytes) override;
  bool replay_atomic(Wave& wave, const Instruction& in, const Location& location, int lane,
                     const u8* operands, u32 operand_bytes, u8* old, u32 bytes) override;
  void on_atomic(Wave& wave, const Instruction& in, const Location& location, int lane,
                 const u8* operands, u32 operand_bytes, const u8* old, u32 bytes,
                 Update kind) override;

 private:
  // An access of the wave, which the access of its twin is compared with.
  struct Entry {
    Space space = Space::kGlobal;
    u64 address = 0;
    u64 unwritten = 0;  // bit i: byte i was never written
    std::array<u8, 16> data{};
    u64 old = 0;  // of an atomic
  };
  // The waves that accessed a byte since the last barrier. Epochs count from 1.
  struct Mark {
    u32 write_epoch = 0;
    u32 read_epoch = 0;
    u32 writers = 0;  // a bit for each wave
    u32 readers = 0;
    bool all_atomic = false;
  };

  // A read beside atomic updates. It is a race unless the reader goes on to a compare-and-swap of
  // the same bytes.
  struct Suspect {
    u32 reader = 0;
    Space space = Space::kGlobal;
    u64 address = 0;
    Fault fault;
  };

  Entry& log(const Location& location);
  const Entry& replay(const Wave& wave, const Instruction& in, const Location& location, int lane);
  Mark& mark_of(const Location& location, u32 byte);
  void check_race(const Wave& wave, const Instruction& in, const Location& location, int lane,
                  Access access, const u8* data, u32 bytes);

  void add_suspect(u32 reader, const Location& location, u32 byte, Fault fault);
  void remove_suspects(u32 reader, const Location& location, u32 bytes);
  void raise_suspect();

  const LaunchPlan& plan_;
  std::vector<Suspect> suspects_;
  bool is_twin_ = false;
  std::vector<Entry> log_;
  std::size_t next_ = 0;
  u32 epoch_ = 1;
  std::vector<Mark> lds_;
  std::unordered_map<u64, Mark> global_;
};

}  // namespace kiln::emulator
