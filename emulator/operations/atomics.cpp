// Atomic updates of global memory, by global, flat and buffer instructions.
#include "emulator/operations/addresses.hpp"
#include "emulator/operations/rows.hpp"
#include "emulator/operations/update_formulas.hpp"

namespace kiln::emulator {
namespace {

// Operands: [destination,] address, data, base. A buffer instruction has data, address, descriptor,
// offset; its data is also the destination. A compare-and-swap has two values: first the new one,
// then the one to compare with.
template <int W, Form kForm, typename T, bool kTwoValues, typename F>
void atomic(Wave& wave, const Instruction& in) {
  constexpr std::size_t kRegisters = sizeof(T) / 4;
  constexpr bool kIsBuffer = kForm == Form::kBuffer;
  const std::size_t first = in.destination_count;
  const AddressOperands at{in.operands[kIsBuffer ? 1 : first],
                           in.operands[kIsBuffer ? 2 : first + 2], in.operands[3]};
  const u32* data = vector_register<W>(wave, in, in.operands[kIsBuffer ? 0 : first + 1]);
  const auto value_at = [&](std::size_t reg, int lane) -> T {
    const u32* low = data + reg * W + lane;
    if constexpr (kRegisters == 2) {
      return combine(low[0], low[W]);
    } else {
      return low[0];
    }
  };
  const u64 active = read_exec<W>(wave);
  T old[W];
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    bool outside = false;
    const Location location = location_of<W, kForm>(wave, in, at, lane, sizeof(T), outside);
    const T second = kTwoValues ? value_at(kRegisters, lane) : T{0};
    old[lane] = update < kTwoValues
                    ? Update::kCompareAndSwap
                    : Update::kPlain > (wave, in, location, lane, value_at(0, lane), second, F{});
  }
  if (in.destination_count == 0 && !(kIsBuffer && in.returns_old)) return;
  u32* destination = vector_register<W>(wave, in, in.operands[0]);
  for (int lane = 0; lane < W; ++lane) {
    if (!has_lane<W>(active, lane)) continue;
    destination[lane] = static_cast<u32>(old[lane]);
    if constexpr (kRegisters == 2) destination[lane + W] = high_half(old[lane]);
  }
}

template <Form kForm>
class Rows {
 public:
  Rows(Operations& rows, std::string form) : rows_(rows), prefix_(std::move(form) + "_atomic_") {}

  template <typename T, typename F>
  void add(const char* name, F) {
    add_row<T, false>(name, [](T old, T value, T) { return F{}(old, value); });
  }
  template <typename T>
  void add_compare_and_swap(const char* name) {
    add_row<T, true>(name,
                     [](T old, T value, T compared) { return old == compared ? value : old; });
  }

 private:
  template <typename T, bool kTwoValues, typename F>
  void add_row(const char* name, F) {
    rows_.push_back(
        {prefix_ + name, atomic<32, kForm, T, kTwoValues, F>, atomic<64, kForm, T, kTwoValues, F>});
  }

  Operations& rows_;
  std::string prefix_;
};

template <Form kForm>
void add_atomics(Operations& operations, const char* form) {
  Rows<kForm> rows(operations, form);
  rows.template add<u32>("swap_b32", [](u32, u32 a) { return a; });
  rows.template add_compare_and_swap<u32>("cmpswap_b32");
  rows.template add<u32>("add_u32", [](u32 old, u32 a) { return old + a; });
  rows.template add<u32>("sub_u32", [](u32 old, u32 a) { return old - a; });
  rows.template add<u32>("min_i32", [](u32 old, u32 a) { return signed_minimum(old, a); });
  rows.template add<u32>("min_u32", [](u32 old, u32 a) { return old < a ? old : a; });
  rows.template add<u32>("max_i32", [](u32 old, u32 a) { return signed_maximum(old, a); });
  rows.template add<u32>("max_u32", [](u32 old, u32 a) { return old > a ? old : a; });
  rows.template add<u32>("and_b32", [](u32 old, u32 a) { return old & a; });
  rows.template add<u32>("or_b32", [](u32 old, u32 a) { return old | a; });
  rows.template add<u32>("xor_b32", [](u32 old, u32 a) { return old ^ a; });
  rows.template add<u32>("inc_u32", [](u32 old, u32 a) { return increment(old, a); });
  rows.template add<u32>("dec_u32", [](u32 old, u32 a) { return decrement(old, a); });
  rows.template add<u32>("add_f32", [](u32 old, u32 a) { return add_floats(old, a); });
  rows.template add<u32>("min_f32", [](u32 old, u32 a) { return minimum_of_floats(old, a); });
  rows.template add<u32>("max_f32", [](u32 old, u32 a) { return maximum_of_floats(old, a); });
  rows.template add<u32>("pk_add_f16", [](u32 old, u32 a) { return add_half_pairs(old, a); });
  rows.template add<u32>("pk_add_bf16", [](u32 old, u32 a) { return add_bfloat_pairs(old, a); });
  rows.template add<u64>("swap_b64", [](u64, u64 a) { return a; });
  rows.template add_compare_and_swap<u64>("cmpswap_b64");
  rows.template add<u64>("add_u64", [](u64 old, u64 a) { return old + a; });
  rows.template add<u64>("sub_u64", [](u64 old, u64 a) { return old - a; });
  rows.template add<u64>("min_i64", [](u64 old, u64 a) { return signed_minimum(old, a); });
  rows.template add<u64>("min_u64", [](u64 old, u64 a) { return old < a ? old : a; });
  rows.template add<u64>("max_i64", [](u64 old, u64 a) { return signed_maximum(old, a); });
  rows.template add<u64>("max_u64", [](u64 old, u64 a) { return old > a ? old : a; });
  rows.template add<u64>("and_b64", [](u64 old, u64 a) { return old & a; });
  rows.template add<u64>("or_b64", [](u64 old, u64 a) { return old | a; });
  rows.template add<u64>("xor_b64", [](u64 old, u64 a) { return old ^ a; });
  rows.template add<u64>("inc_u64", [](u64 old, u64 a) { return increment(old, a); });
  rows.template add<u64>("dec_u64", [](u64 old, u64 a) { return decrement(old, a); });
  rows.template add<u64>("add_f64", [](u64 old, u64 a) { return add_doubles(old, a); });
  rows.template add<u64>("min_f64", [](u64 old, u64 a) { return minimum_of_doubles(old, a); });
  rows.template add<u64>("max_f64", [](u64 old, u64 a) { return maximum_of_doubles(old, a); });
}

}  // namespace

Operations atomic_operations() {
  Operations rows;
  add_atomics<Form::kGlobal>(rows, "global");
  add_atomics<Form::kFlat>(rows, "flat");
  add_atomics<Form::kBuffer>(rows, "buffer");
  return rows;
}

}  // namespace kiln::emulator
