#include "emulator/workgroup.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>

#include "emulator/checks.hpp"

namespace kiln::emulator {
namespace {

constexpr u32 kRoundToNearestKeepSubnormals = 0xf0;  // the MODE register
constexpr u64 kTurn = 1 << 16;                       // instructions, without a seed
constexpr u64 kMaxRandomTurn = 64;

// Initial values of registers: NaNs, different for each register and lane.
constexpr u32 scalar_poison(std::size_t reg) { return static_cast<u32>(0x7fb00001 + 3 * reg); }
constexpr u32 vector_poison(std::size_t reg, int lane) {
  return static_cast<u32>(0x7fa00001 + 64 * reg) + static_cast<u32>(lane);
}

enum class Poison : u32 { kPlain = 0, kInverted = ~0u };

// Random numbers for the order of waves (xorshift64).
class Random {
 public:
  explicit Random(u64 seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  u64 below(u64 limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % limit;
  }

 private:
  u64 state_;
};

// The memory for the waves of a workgroup.
struct Storage {
  struct Free {
    void operator()(u32* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  std::unique_ptr<u32[], Free> vector;
  std::vector<u8> lds;
  std::vector<u8> scratch;

  Storage(std::size_t vector_dwords, std::size_t lds_bytes, std::size_t scratch_bytes)
      : vector(new (std::align_val_t{64}) u32[vector_dwords]),
        lds(lds_bytes),
        scratch(scratch_bytes) {}
};

template <int W>
class Runner final : public WorkgroupRunner {
 public:
  explicit Runner(const LaunchPlan& plan)
      : plan_(plan),
        waves_((plan.threads + W - 1) / W),
        storage_(make_storage()),
        order_(waves_.size()),
        thread_ids_(make_thread_ids()) {
    workgroup_.plan = &plan;
    attach(waves_, storage_);
    if (plan.options.checks == Checks::kEverything) {
      checks_.emplace(plan);
      twins_.resize(waves_.size());
      twin_storage_.emplace(make_storage());
      attach(twins_, *twin_storage_);
      for (auto* waves : {&waves_, &twins_}) {
        for (Wave& wave : *waves) wave.observer = &*checks_;
      }
    }
  }

  Counts run(std::array<u32, 3> id) override {
    workgroup_.id = id;
    counts_ = {};
    start(waves_, storage_, Poison::kPlain);
    if (checks_) {
      start(twins_, *twin_storage_, Poison::kInverted);
      checks_->begin_workgroup();
      barriers_.assign(waves_.size(), Barriers{});
    }
    Random random(plan_.options.seed + 97 * u64{id[0]} + 131 * u64{id[1]} + 257 * u64{id[2]});
    std::iota(order_.begin(), order_.end(), 0u);
    while (take_turns(random)) {
    }
    if (checks_) checks_->end_workgroup();
    for (const Wave& wave : waves_) counts_.instructions += wave.instructions;
    return counts_;
  }

 private:
  // The last barrier that a wave reached, the lanes that were inactive at any barrier, and the
  // first barrier with such lanes.
  struct Barriers {
    const Instruction* last = nullptr;
    const Instruction* missed = nullptr;
    u64 missing_lanes = 0;
  };

  Storage make_storage() const {
    return Storage(waves_.size() * plan_.vector_registers * W, plan_.lds_bytes,
                   waves_.size() * plan_.scratch_bytes * W);
  }

  std::vector<std::array<u32, 3>> make_thread_ids() const {
    std::vector<std::array<u32, 3>> ids;
    ids.reserve(plan_.threads);
    for (u32 z = 0; z < plan_.block[2]; ++z) {
      for (u32 y = 0; y < plan_.block[1]; ++y) {
        for (u32 x = 0; x < plan_.block[0]; ++x) ids.push_back({x, y, z});
      }
    }
    return ids;
  }

  void attach(std::vector<Wave>& waves, Storage& storage) {
    for (std::size_t i = 0; i < waves.size(); ++i) {
      Wave& wave = waves[i];
      wave.id = static_cast<u32>(i);
      wave.workgroup = &workgroup_;
      wave.program = plan_.program;
      wave.vector = storage.vector.get() + i * plan_.vector_registers * W;
      wave.lds = storage.lds;
      const std::size_t scratch = std::size_t{plan_.scratch_bytes} * W;
      wave.scratch = std::span(storage.scratch).subspan(i * scratch, scratch);
    }
  }

  void start(std::vector<Wave>& waves, Storage& storage, Poison poison) {
    const u8 fresh = static_cast<u8>(kUninitialisedByte ^ static_cast<u32>(poison));
    std::ranges::fill(storage.lds, fresh);
    std::ranges::fill(storage.scratch, fresh);
    for (Wave& wave : waves) start_wave(wave, static_cast<u32>(poison));
  }

  void start_wave(Wave& wave, u32 inversion) {
    for (std::size_t reg = 0; reg < kScalarRegisters; ++reg)
      wave.scalar[reg] = scalar_poison(reg) ^ inversion;
    // Only the registers of this kernel are initialised, to save time; the others exist for other
    // kernels.
    const bool all = plan_.program->has_accumulators() || plan_.kernel->vector_registers == 0;
    const u32 registers = all ? plan_.vector_registers
                              : std::min(plan_.kernel->vector_registers, plan_.vector_registers);
    for (std::size_t reg = 0; reg < registers; ++reg) {
      for (int lane = 0; lane < W; ++lane) {
        wave.vector[reg * W + static_cast<std::size_t>(lane)] =
            vector_poison(reg, lane) ^ inversion;
      }
    }
    wave.scc = 0;
    wave.pc = *plan_.program->index_of(plan_.kernel->entry);
    wave.mode = kRoundToNearestKeepSubnormals;
    wave.index_mode = 0;
    wave.ended = wave.at_barrier = false;
    wave.instructions = 0;
    set_up_scalars(wave);
    set_up_lanes(wave);
  }

  // COMPUTE_PGM_RSRC2 says which registers follow the user registers.
  void set_up_scalars(Wave& wave) const {
    const u32 rsrc2 = plan_.kernel->descriptor.rsrc2;
    const auto& id = workgroup_.id;
    wave.scalar[kNull] = 0;
    std::ranges::copy(plan_.user_registers, wave.scalar.begin());
    std::size_t next = rsrc2 >> 1 & 31;
    const auto add = [&](bool is_enabled, u32 value) {
      if (is_enabled) wave.scalar[next++] = value;
    };
    add((rsrc2 >> 7 & 1) != 0, id[0]);
    add((rsrc2 >> 8 & 1) != 0, id[1]);
    add((rsrc2 >> 9 & 1) != 0, id[2]);
    add((rsrc2 >> 10 & 1) != 0, 0);
    add((rsrc2 & 1) != 0 && !plan_.device->has_architected_scratch, 0);
    wave.scalar[kTrapTemporaries + 9] = id[0];  // gfx12 has the workgroup id there
    wave.scalar[kTrapTemporaries + 7] = (id[1] & 0xffff) | id[2] << 16;
  }

  void set_up_lanes(Wave& wave) const {
    const u32 extra_ids = plan_.kernel->descriptor.rsrc2 >> 11 & 3;
    u64 active = 0;
    for (int lane = 0; lane < W; ++lane) {
      const u32 thread = wave.id * W + static_cast<u32>(lane);
      if (thread >= plan_.threads) break;
      active |= 1ull << lane;
      const auto& [x, y, z] = thread_ids_[thread];
      u32* registers = wave.vector + lane;
      if (plan_.device->packs_thread_ids) {
        registers[0] = x | y << 10 | z << 20;
        continue;
      }
      registers[0] = x;
      if (extra_ids > 0) registers[W] = y;
      if (extra_ids > 1) registers[2 * W] = z;
    }
    write_exec<W>(wave, active);
    if (W == 32) wave.scalar[kExec + 1] = 0;
  }

  // Runs every wave that can run. Returns false when all waves have ended.
  bool take_turns(Random& random) {
    const bool is_random = plan_.options.seed != 0;
    if (is_random) {
      for (std::size_t i = order_.size(); i > 1; --i)
        std::swap(order_[i - 1], order_[random.below(i)]);
    }
    std::size_t live = 0;
    std::size_t waiting = 0;
    for (const u32 i : order_) {
      Wave& wave = waves_[i];
      if (!wave.ended && !wave.at_barrier)
        run_wave(i, is_random ? 1 + random.below(kMaxRandomTurn) : kTurn);
      live += !wave.ended;
      waiting += !wave.ended && wave.at_barrier;
    }
    if (live == 0) return false;
    if (live == waiting) pass_barrier(live);
    return true;
  }

  void pass_barrier(std::size_t live) {
    if (checks_ && live != waves_.size()) {
      const auto ended = std::ranges::find_if(waves_, &Wave::ended);
      const auto waiting = std::ranges::find_if(waves_, &Wave::at_barrier);
      raise(*waiting, *barriers_[waiting->id].last, FaultKind::kDivergentBarrier,
            "wave " + std::to_string(waiting->id) + " waits at a barrier that wave " +
                std::to_string(ended->id) + " never came to: it has ended");
    }
    for (auto* waves : {&waves_, &twins_}) {
      for (Wave& wave : *waves) wave.at_barrier = false;
    }
    if (checks_) checks_->pass_barrier();
  }

  void run_wave(u32 i, u64 turn) {
    Wave& wave = waves_[i];
    if (checks_) {
      run_checked(wave, twins_[i], turn);
    } else if (plan_.options.count_classes) {
      run_counted(wave, turn);
    } else {
      run_fast(wave, turn);
    }
    u64 total = 0;
    for (const Wave& each : waves_) total += each.instructions;
    if (total > plan_.options.instruction_limit) {
      raise(wave, plan_.program->instructions()[wave.pc], FaultKind::kEndless,
            "the workgroup has run " + std::to_string(total) + " instructions; the limit is " +
                std::to_string(plan_.options.instruction_limit));
    }
  }

  static void step(Wave& wave, const Instruction& in) {
    wave.pc = in.next;
    if (wave.index_mode != 0 && in.is_vector) [[unlikely]] {
      run_indexed(wave, in);
    } else {
      in.run(wave, in);
    }
  }

  void run_fast(Wave& wave, u64 turn) {
    const Instruction* code = plan_.program->instructions().data();
    u64 done = 0;
    while (!wave.ended && !wave.at_barrier && done < turn) {
      step(wave, code[wave.pc]);
      ++done;
    }
    wave.instructions += done;
  }

  void run_counted(Wave& wave, u64 turn) {
    const Instruction* code = plan_.program->instructions().data();
    u64 done = 0;
    while (!wave.ended && !wave.at_barrier && done < turn) {
      const Instruction& in = code[wave.pc];
      ++counts_.by_class[static_cast<std::size_t>(in.kind)];
      if (is_by_lane(in.kind)) {
        counts_.lanes += W;
        counts_.active_lanes += count_bits(read_exec<W>(wave));
      }
      step(wave, in);
      ++done;
    }
    wave.instructions += done;
  }

  static bool is_by_lane(InstructionClass kind) {
    switch (kind) {
      case InstructionClass::kVectorFloat:
      case InstructionClass::kVectorInteger:
      case InstructionClass::kMatrix:
      case InstructionClass::kLoad:
      case InstructionClass::kStore:
      case InstructionClass::kAtomic:
      case InstructionClass::kLds: return true;
      default: return false;
    }
  }

  void run_checked(Wave& wave, Wave& twin, u64 turn) {
    const Instruction* code = plan_.program->instructions().data();
    for (u64 done = 0; done < turn && !wave.ended && !wave.at_barrier; ++done) {
      const Instruction& in = code[wave.pc];
      check_missed_barrier(wave, in);
      step_both(wave, twin, in);
      if (read_exec<W>(wave) != read_exec<W>(twin)) {
        const int lane = std::countr_zero(read_exec<W>(wave) ^ read_exec<W>(twin));
        raise(wave, in, FaultKind::kUninitialised,
              "which lanes are active depends on an uninitialised value", lane);
      }
      if (wave.pc != twin.pc) {
        raise(wave, in, FaultKind::kUninitialised, "the branch depends on an uninitialised value");
      }
      ++wave.instructions;
      if (wave.ended) check_missed_barrier(wave, in);
      if (wave.at_barrier) {
        twin.at_barrier = true;
        Barriers& barriers = barriers_[wave.id];
        const u64 missing = initial_lanes(wave) & ~read_exec<W>(wave);
        if (barriers.missing_lanes == 0 && missing != 0) barriers.missed = &in;
        barriers.missing_lanes |= missing;
        barriers.last = &in;
      }
    }
  }

  // A lane that missed a barrier must neither become active again nor have ended without it.
  void check_missed_barrier(const Wave& wave, const Instruction& in) const {
    const Barriers& barriers = barriers_[wave.id];
    if (barriers.missing_lanes == 0) return;
    const u64 back = is_by_lane(in.kind) ? barriers.missing_lanes & read_exec<W>(wave) : 0;
    if (back == 0 && !wave.ended) return;
    const int lane = std::countr_zero(back != 0 ? back : barriers.missing_lanes);
    raise(wave, *barriers.missed, FaultKind::kDivergentBarrier,
          "lane " + std::to_string(lane) + (back != 0 ? " went past" : " never came to") +
              " a barrier at which other lanes of its wave waited",
          lane);
  }

  u64 initial_lanes(const Wave& wave) const {
    const u32 lanes = std::min<u32>(W, plan_.threads - wave.id * W);
    return lanes == 64 ? ~0ull : (1ull << lanes) - 1;
  }

  void step_both(Wave& wave, Wave& twin, const Instruction& in) {
    const auto attempt = [&](Wave& which) -> std::optional<Fault> {
      try {
        step(which, in);
      } catch (Fault& fault) {
        return std::move(fault);
      }
      return std::nullopt;
    };
    checks_->begin_instruction();
    std::optional<Fault> first = attempt(wave);
    if (first && !is_about_address(first->kind)) throw std::move(*first);
    checks_->begin_twin();
    const std::optional<Fault> second = attempt(twin);
    if (!first && !second) return;
    const bool same = first && second && first->message == second->message;
    if (same) throw std::move(*first);
    if (second && second->kind == FaultKind::kUninitialised && !first) throw *second;
    const int lane = first ? first->lane : second->lane;
    raise(wave, in, FaultKind::kUninitialised, "the address depends on an uninitialised value",
          lane);
  }

  static bool is_about_address(FaultKind kind) {
    return kind == FaultKind::kOutOfBounds || kind == FaultKind::kUseAfterFree ||
           kind == FaultKind::kReadOnly || kind == FaultKind::kLdsOverrun ||
           kind == FaultKind::kScratchOverrun || kind == FaultKind::kMisaligned;
  }

  // gfx9: adds M0 to the registers that the mode selects.
  static void run_indexed(Wave& wave, const Instruction& in) {
    constexpr u32 kDestination = 3;
    Instruction indexed = in;
    const u32 index = wave.scalar[kM0] & 255;
    for (std::size_t i = 0; i < in.operand_count; ++i) {
      Operand& operand = indexed.operands[i];
      const u32 bit =
          i < in.destination_count ? kDestination : static_cast<u32>(i - in.destination_count);
      if (!operand.is_vector() || (i >= in.destination_count && bit >= kDestination) ||
          (wave.index_mode >> bit & 1) == 0)
        continue;
      if (operand.reg + index >= wave.workgroup->plan->vector_registers) {
        raise(wave, in, FaultKind::kUnsupported,
              "v" + std::to_string(operand.reg + index) +
                  ", indexed by m0, is outside the registers");
      }
      operand.reg = static_cast<u16>(operand.reg + index);
    }
    in.run(wave, indexed);
  }

  const LaunchPlan& plan_;
  Workgroup workgroup_;
  std::vector<Wave> waves_;
  Storage storage_;
  std::vector<u32> order_;
  const std::vector<std::array<u32, 3>> thread_ids_;
  Counts counts_;
  std::optional<AccessChecks> checks_;
  std::vector<Wave> twins_;
  std::optional<Storage> twin_storage_;
  std::vector<Barriers> barriers_;
};

}  // namespace

std::unique_ptr<WorkgroupRunner> make_workgroup_runner(const LaunchPlan& plan) {
  if (plan.program->wave_width() == 64) return std::make_unique<Runner<64>>(plan);
  return std::make_unique<Runner<32>>(plan);
}

}  // namespace kiln::emulator
