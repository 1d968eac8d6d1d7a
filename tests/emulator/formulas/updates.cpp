#include "tests/emulator/formulas/updates.hpp"

#include <algorithm>

namespace kiln::formulas {
namespace {

template <typename T>
void add_integers(std::vector<Update>& rows) {
  constexpr Kind kind{T::kKind.bits, Kind::kUnsigned};
  using S = I<T::kKind.bits>;
  const std::string bits = std::to_string(kind.bits);
  const auto add = [&](const char* name, const char* letter, u64 (*of)(u64, u64)) {
    rows.push_back({name, letter + bits, kind, of});
  };
  add("add", "u",
      [](u64 old, u64 data) { return T::encode(T::decode(old) + T::decode(data), false); });
  add("sub", "u",
      [](u64 old, u64 data) { return T::encode(T::decode(old) - T::decode(data), false); });
  add("rsub", "u",
      [](u64 old, u64 data) { return T::encode(T::decode(data) - T::decode(old), false); });
  // Count up to the data and wrap to 0, or down to 0 and wrap to the data.
  add("inc", "u", [](u64 old, u64 data) { return old < data ? old + 1 : 0; });
  add("dec", "u", [](u64 old, u64 data) { return old == 0 || old > data ? data : old - 1; });
  add("min", "i", [](u64 old, u64 data) {
    return S::encode(std::min(S::decode(old), S::decode(data)), false);
  });
  add("max", "i", [](u64 old, u64 data) {
    return S::encode(std::max(S::decode(old), S::decode(data)), false);
  });
  add("min", "u", [](u64 old, u64 data) { return std::min(old, data); });
  add("max", "u", [](u64 old, u64 data) { return std::max(old, data); });
  add("and", "b", [](u64 old, u64 data) { return old + data - (old | data); });
  add("or", "b", [](u64 old, u64 data) { return old + data - (old & data); });
  add("xor", "b", [](u64 old, u64 data) { return (old | data) - (old & data); });
  add("swap", "b", [](u64, u64 data) { return data; });
}

// A signalling NaN is the result, a quiet one is ignored; -0 < +0.
u64 chosen(const Format& format, u64 old, u64 data, bool greater) {
  if (format.is_signalling(old) || format.is_signalling(data)) return format.nan();
  if (format.is_nan(old)) return data;
  if (format.is_nan(data)) return old;
  const Real a = real_of(old, format);
  const Real b = real_of(data, format);
  if (a == b) return greater ? old & data : old | data;
  return (a > b) == greater ? old : data;
}

template <int kBits>
void add_floats(std::vector<Update>& rows) {
  static constexpr Kind kind = F<kBits>::kKind;
  const std::string type = "f" + std::to_string(kBits);
  rows.push_back({"add", type, kind, [](u64 old, u64 data) {
                    return round_to(sum(real_of(old, kind.format()), real_of(data, kind.format())),
                                    kind.format());
                  }});
  rows.push_back({"min", type, kind,
                  [](u64 old, u64 data) { return chosen(kind.format(), old, data, false); }});
  rows.push_back({"max", type, kind,
                  [](u64 old, u64 data) { return chosen(kind.format(), old, data, true); }});
}

u64 pair_sum(const Format& format, u64 old, u64 data) {
  u64 result = 0;
  for (const int shift : {16, 0}) {
    const Real a = real_of(old >> shift & 0xffff, format);
    const Real b = real_of(data >> shift & 0xffff, format);
    result = result << 16 | round_to(sum(a, b), format);
  }
  return result;
}

}  // namespace

std::vector<Update> updates() {
  std::vector<Update> rows;
  add_integers<U<32>>(rows);
  add_integers<U<64>>(rows);
  add_floats<32>(rows);
  add_floats<64>(rows);
  rows.push_back({"pk_add", "f16", U<32>::kKind,
                  [](u64 old, u64 data) { return pair_sum(kHalf, old, data); }, &kHalf});
  rows.push_back({"pk_add", "bf16", U<32>::kKind,
                  [](u64 old, u64 data) { return pair_sum(kBfloat, old, data); }, &kBfloat});
  return rows;
}

bool is_same_update(const Update& update, u64 got, u64 expected) {
  if (update.pair_of == nullptr) return is_same(update.kind, got, expected);
  const Format& format = *update.pair_of;
  for (const int shift : {0, 16}) {
    const u64 a = got >> shift & 0xffff;
    const u64 b = expected >> shift & 0xffff;
    if (a != b && !(format.is_nan(a) && format.is_nan(b))) return false;
  }
  return true;
}

}  // namespace kiln::formulas
