#include "large.hpp"

#include <functional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/ops.hpp"
#include "kiln/ops/launcher.hpp"
#include "values.hpp"

namespace kiln::conformance {
namespace {

constexpr std::size_t kRows = 65536, kColumns = 65537;
constexpr std::size_t kCount = kRows * kColumns;  // 2^32 + 2^16
constexpr std::size_t kGuard = 4096;
constexpr std::size_t kWindow = 8192;
// Period of the input. Not a power of two, so that an index that is cut to 32 bits finds another
// value.
constexpr std::size_t kPeriod = 16000057;
constexpr std::uint8_t kUnwritten = 0xa5;

// A launch over kCount bytes, and the expected byte at each place.
struct Trial {
  std::string name;
  std::function<Result<ops::Launch>(const void* inp, void* out)> plan;
  std::function<std::uint8_t(std::size_t)> expected;
};

class Trials {
 public:
  static Result<Trials> open(const Device& device) {
    Trials trials(device);
    Random random(1);
    trials.pattern_.resize(kPeriod);
    for (std::uint8_t& byte : trials.pattern_) byte = static_cast<std::uint8_t>(random.bits());
    KILN_TRY_ASSIGN(trials.inp_, device.allocate(kCount));
    KILN_TRY_ASSIGN(trials.out_, device.allocate(kCount + kGuard));
    auto* const inp = trials.inp_.as<std::uint8_t>();
    KILN_TRY(device.copy_to_device(inp, trials.pattern_.data(), kPeriod));
    for (std::size_t at = kPeriod; at < kCount; at += kPeriod) {
      KILN_TRY(device.copy_on_device(inp + at, inp, std::min(kPeriod, kCount - at)));
    }
    return trials;
  }

  std::uint8_t inp(std::size_t i) const { return pattern_[i % kPeriod]; }

  // Returns the fault, or an empty string.
  Result<std::string> run(const Trial& trial) {
    KILN_TRY(device_.fill(out_.data(), kUnwritten, out_.size()));
    KILN_TRY_ASSIGN(const ops::Launch launch, trial.plan(inp_.data(), out_.data()));
    KILN_TRY(launcher_.run(launch));
    KILN_TRY(device_.synchronize());
    constexpr std::size_t kBorder = std::size_t{1} << 32;
    std::vector<std::uint8_t> window(kWindow);
    for (const std::size_t first :
         {std::size_t{0}, kBorder - kWindow, kBorder, kCount + kGuard - kWindow}) {
      KILN_TRY(device_.copy_to_host(window.data(), out_.as<std::uint8_t>() + first, kWindow));
      for (std::size_t i = 0; i < kWindow; ++i) {
        const std::size_t at = first + i;
        const std::uint8_t expected = at < kCount ? trial.expected(at) : kUnwritten;
        if (window[i] != expected) {
          return "out[" + std::to_string(at) + "]: " + show(DType::kU8, window[i]) + ", expected " +
                 show(DType::kU8, expected);
        }
      }
    }
    return std::string();
  }

 private:
  explicit Trials(const Device& device) : device_(device), launcher_(device) {}

  Device device_;
  ops::Launcher launcher_;
  std::vector<std::uint8_t> pattern_;
  Buffer inp_, out_;
};

std::vector<Trial> all_trials(const Trials& trials) {
  const auto byte = [](unsigned value) { return ops::Scalar::of_bits(DType::kU8, value); };
  const auto copy = [](const ops::Layout& layout, ops::Rearranged rearranged) {
    return [=](const void* inp, void* out) {
      ops::Unary call;
      call.dtype = DType::kU8;
      call.layout = layout;
      call.inp = inp;
      call.out = out;
      call.rearranged = rearranged;
      return plan(call);
    };
  };
  const auto by_ucopy = ops::Rearranged::kNever, by_own = ops::Rearranged::kAlways;
  // Uses the bytes of the input as ids; id 255 names no place.
  const auto by_ids = [](auto call, const void* inp, void* out) {
    call.ids_dtype = call.dtype = DType::kU8;
    call.ids = call.inp = inp;
    call.out = out;
    return call;
  };
  constexpr std::uint8_t kNoPlace = 255;
  const ops::Layout turned{{kColumns, kRows}, {1, kColumns}}, repeated{{kRows, kColumns}, {0, 1}};
  const ops::Layout chunks{{kColumns, kRows}, {0, 1}};
  const auto from_turned = [&](std::size_t i) {
    return trials.inp(i % kRows * kColumns + i / kRows);
  };
  const auto from_repeated = [&](std::size_t i) { return trials.inp(i % kColumns); };
  return {
      {"is_u8_u8 of 256 rows",
       [=](const void* inp, void* out) {
         ops::IndexSelect call = by_ids(ops::IndexSelect{}, inp, out);
         call.dims = {256, kColumns};
         call.ids_layout = {{kRows}};
         return plan(call);
       },
       [&](std::size_t i) {
         const std::uint8_t id = trials.inp(i / kColumns);
         return id == kNoPlace ? std::uint8_t{0} : trials.inp(id * kColumns + i % kColumns);
       }},
      {"gather_u8_u8 along rows",
       [=](const void* inp, void* out) {
         ops::Gather call = by_ids(ops::Gather{}, inp, out);
         call.dims = {kRows, kColumns};
         call.dim = 1;
         call.count = kColumns;
         return plan(call);
       },
       [&](std::size_t i) {
         const std::uint8_t id = trials.inp(i);
         return id == kNoPlace ? std::uint8_t{0} : trials.inp(i - i % kColumns + id);
       }},
      {"s_u8_u8 along rows",
       [=](const void* inp, void* out) {
         ops::Scatter call = by_ids(ops::Scatter{}, inp, out);
         call.dims = {kRows, kColumns};
         call.dim = 1;
         call.size = kColumns;
         return plan(call);
       },
       [&](std::size_t i) {
         // The id is also the value that is stored: a place holds its own number if any id names
         // it.
         const std::size_t row = i - i % kColumns, place = i % kColumns;
         if (place >= kNoPlace) return kUnwritten;
         for (std::size_t j = 0; j < kColumns; ++j) {
           if (trials.inp(row + j) == place) return static_cast<std::uint8_t>(place);
         }
         return kUnwritten;
       }},
      {"ucopy_u8 contiguous", copy({{kCount}}, by_ucopy),
       [&](std::size_t i) { return trials.inp(i); }},
      {"ucopy_u8 transposed", copy(turned, by_ucopy), from_turned},
      {"transpose_u8", copy(turned, by_own), from_turned},
      {"ucopy_u8 broadcast", copy(repeated, by_ucopy), from_repeated},
      {"ucopy_u8 broadcast by chunks", copy(chunks, by_ucopy),
       [&](std::size_t i) { return trials.inp(i % kRows); }},
      {"slice_u8 broadcast", copy(repeated, by_own), from_repeated},
      {"affine_u8 contiguous",
       [=](const void* inp, void* out) {
         ops::Affine call;
         call.dtype = DType::kU8;
         call.layout = {{kCount}};
         call.inp = inp;
         call.out = out;
         call.mul = byte(3);
         call.add = byte(7);
         return plan(call);
       },
       [&](std::size_t i) { return static_cast<std::uint8_t>(trials.inp(i) * 3 + 7); }},
      {"fill_u8",
       [=](const void*, void* out) {
         ops::Fill call;
         call.value = byte(0x5c);
         call.count = kCount;
         call.buffer = out;
         return plan(call);
       },
       [](std::size_t) { return std::uint8_t{0x5c}; }},
      {"const_set_u8 transposed",
       [=](const void*, void* out) {
         ops::ConstSet call;
         call.value = byte(0x3e);
         call.layout = {{kColumns, kRows}, {1, kColumns}};
         call.out = out;
         return plan(call);
       },
       [](std::size_t) { return std::uint8_t{0x3e}; }},
      {"col2im1d_u8 with a thread for each element",
       [=](const void* inp, void* out) -> Result<ops::Launch> {
         ops::Col2Im1d call;
         call.dtype = DType::kU8;
         call.batch = call.window = 1;
         call.length = kRows;
         call.channels = kColumns;
         call.src = inp;
         call.dst = out;
         KILN_TRY_ASSIGN(ops::Launch launch, plan(call));
         const std::size_t threads = launch.block.count();
         launch.grid = {static_cast<std::uint32_t>((kCount + threads - 1) / threads)};
         return launch;
       },
       from_turned},
  };
}

}  // namespace

Result<std::size_t> run_large(const Device& device, std::ostream& out) {
  KILN_TRY_ASSIGN(Trials trials, Trials::open(device));
  std::size_t failed = 0, run = 0;
  for (const Trial& trial : all_trials(trials)) {
    KILN_TRY_ASSIGN(const std::string complaint, trials.run(trial));
    ++run;
    if (complaint.empty()) continue;
    ++failed;
    out << "FAILED " << trial.name << ", " << kCount << " elements\n    " << complaint << '\n';
  }
  out << "over " << kCount << " elements: " << run << " launches, "
      << (failed == 0 ? std::string("all right") : std::to_string(failed) + " FAILED") << '\n';
  return failed;
}

}  // namespace kiln::conformance
