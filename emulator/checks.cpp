#include "emulator/checks.hpp"

#include <algorithm>
#include <bit>

namespace kiln::emulator {
namespace {

[[noreturn]] void raise_uninitialised(const Wave& wave, const Instruction& in,
                                      const std::string& subject, int lane) {
  raise(wave, in, FaultKind::kUninitialised, subject + " depends on an uninitialised value", lane);
}

std::string describe(const Location& location, u32 byte) {
  return location.space == Space::kLds
             ? "byte " + std::to_string(location.address + byte) + " of LDS"
             : "global memory at " + hex(location.address + byte);
}

}  // namespace

void AccessChecks::begin_workgroup() {
  epoch_ = 1;
  suspects_.clear();
  lds_.assign(plan_.lds_bytes, Mark{});
  global_.clear();
}

void AccessChecks::pass_barrier() {
  raise_suspect();
  ++epoch_;
}

void AccessChecks::add_suspect(u32 reader, const Location& location, u32 byte, Fault fault) {
  const u64 address = location.address + byte;
  const bool is_known = std::ranges::any_of(suspects_, [&](const Suspect& entry) {
    return entry.reader == reader && entry.space == location.space && entry.address == address;
  });
  if (!is_known) suspects_.push_back({reader, location.space, address, std::move(fault)});
}

void AccessChecks::remove_suspects(u32 reader, const Location& location, u32 bytes) {
  for (u32 i = 0; i < bytes; ++i) mark_of(location, i).readers &= ~(1u << reader);
  std::erase_if(suspects_, [&](const Suspect& entry) {
    return entry.reader == reader && entry.space == location.space &&
           entry.address >= location.address && entry.address < location.address + bytes;
  });
}

void AccessChecks::raise_suspect() {
  if (!suspects_.empty()) throw suspects_.front().fault;
}

void AccessChecks::begin_instruction() {
  is_twin_ = false;
  log_.clear();
}
void AccessChecks::begin_twin() {
  is_twin_ = true;
  next_ = 0;
}

AccessChecks::Entry& AccessChecks::log(const Location& location) {
  Entry& entry = log_.emplace_back();
  entry.space = location.space;
  entry.address = location.address + location.scratch_base;
  return entry;
}

const AccessChecks::Entry& AccessChecks::replay(const Wave& wave, const Instruction& in,
                                                const Location& location, int lane) {
  const bool same = next_ < log_.size() && log_[next_].space == location.space &&
                    log_[next_].address == location.address + location.scratch_base;
  if (!same) raise_uninitialised(wave, in, "the address", lane);
  return log_[next_++];
}

AccessChecks::Mark& AccessChecks::mark_of(const Location& location, u32 byte) {
  return location.space == Space::kLds ? lds_[location.address + byte]
                                       : global_[location.address + byte];
}

void AccessChecks::check_race(const Wave& wave, const Instruction& in, const Location& location,
                              int lane, Access access, const u8* data, u32 bytes) {
  if (location.space == Space::kScratch || lane < 0) return;
  const u32 self = 1u << wave.id;
  const auto race = [&](u32 waves, const char* before, const char* now, u32 byte) {
    return fault_at(wave, in, FaultKind::kRace,
                    "wave " + std::to_string(wave.id) + " " + now + " " + describe(location, byte) +
                        ", which wave " + std::to_string(std::countr_zero(waves)) + " " + before +
                        ", with no barrier between the two",
                    lane);
  };
  const u8* present = location.space == Space::kLds ? wave.lds.data() + location.address
                                                    : reinterpret_cast<const u8*>(location.address);
  for (u32 i = 0; i < bytes; ++i) {
    Mark& mark = mark_of(location, i);
    if (mark.write_epoch != epoch_) mark.writers = 0;
    if (mark.read_epoch != epoch_) mark.readers = 0;
    const u32 other_writers = mark.writers & ~self;
    const u32 other_readers = mark.readers & ~self;
    if (access == Access::kRead) {
      if (other_writers != 0) {
        Fault fault = race(other_writers, "wrote", "reads", i);
        if (!mark.all_atomic) throw fault;
        add_suspect(wave.id, location, i, std::move(fault));
      }
      mark.read_epoch = epoch_;
      mark.readers |= self;
      continue;
    }
    const bool is_atomic = access == Access::kAtomic;
    const bool changes = is_atomic || present[i] != data[i];
    if (other_writers != 0 && changes && !(is_atomic && mark.all_atomic))
      throw race(other_writers, "wrote", "writes", i);
    if (other_readers != 0 && changes) {
      if (!is_atomic) throw race(other_readers, "read", "writes", i);
      for (u32 rest = other_readers; rest != 0; rest &= rest - 1) {
        add_suspect(static_cast<u32>(std::countr_zero(rest)), location, i,
                    race(rest, "read", "writes", i));
      }
    }
    mark.all_atomic = is_atomic && (mark.writers == 0 || mark.all_atomic);
    mark.write_epoch = epoch_;
    mark.writers |= self;
  }
}

void AccessChecks::on_load(Wave& wave, const Instruction& in, const Location& location, int lane,
                           u8* data, u32 bytes) {
  if (!is_twin_) {
    check_race(wave, in, location, lane, Access::kRead, nullptr, bytes);
    Entry& entry = log(location);
    if (location.space == Space::kGlobal) {
      entry.unwritten = plan_.memory->unwritten(location.address, bytes);
    }
    return;
  }
  const Entry& entry = replay(wave, in, location, lane);
  for (u32 i = 0; i < bytes && i < 64; ++i) {
    if ((entry.unwritten >> i & 1) != 0) data[i] = static_cast<u8>(~data[i]);
  }
}

bool AccessChecks::on_store(Wave& wave, const Instruction& in, const Location& location, int lane,
                            const u8* data, u32 bytes) {
  if (!is_twin_) {
    check_race(wave, in, location, lane, Access::kWrite, data, bytes);
    std::copy_n(data, bytes, log(location).data.begin());
    if (location.space == Space::kGlobal) plan_.memory->mark_written(location.address, bytes);
    return true;
  }
  const Entry& entry = replay(wave, in, location, lane);
  if (location.space != Space::kGlobal) return true;
  if (!std::equal(data, data + bytes, entry.data.begin()))
    raise_uninitialised(wave, in, "the value that is stored", lane);
  return false;
}

bool AccessChecks::replay_atomic(Wave& wave, const Instruction& in, const Location& location,
                                 int lane, const u8* operands, u32 operand_bytes, u8* old,
                                 u32 bytes) {
  if (!is_twin_) return false;
  const Entry& entry = replay(wave, in, location, lane);
  if (!std::equal(operands, operands + operand_bytes, entry.data.begin())) {
    raise_uninitialised(wave, in, "the value of an atomic update", lane);
  }
  for (u32 i = 0; i < bytes; ++i) {
    const u8 byte = static_cast<u8>(entry.old >> (8 * i));
    old[i] = static_cast<u8>((entry.unwritten >> i & 1) != 0 ? ~byte : byte);
  }
  return true;
}

void AccessChecks::on_atomic(Wave& wave, const Instruction& in, const Location& location, int lane,
                             const u8* operands, u32 operand_bytes, const u8* old, u32 bytes,
                             Update kind) {
  if (is_twin_) {
    replay(wave, in, location, lane);
    return;
  }
  check_race(wave, in, location, lane, Access::kAtomic, nullptr, bytes);
  if (kind == Update::kCompareAndSwap) remove_suspects(wave.id, location, bytes);
  Entry& entry = log(location);
  std::copy_n(operands, operand_bytes, entry.data.begin());
  for (u32 i = 0; i < bytes; ++i) entry.old |= u64{old[i]} << (8 * i);
  if (location.space != Space::kGlobal) return;
  entry.unwritten = plan_.memory->unwritten(location.address, bytes);
  plan_.memory->mark_written(location.address, bytes);
}

}  // namespace kiln::emulator
