// softmax_<T>, rmsnorm_<T>, layernorm_<T>: operations on each row.
//
// Contract: softmax is computed in f32 (f64 for f64), the norms in f32 for every type, with one
// rounding to the element type at the end. The bounds add up the roundings of the steps of the
// formula: the sum of a row as in rows.hpp, 2.5 units for an exponential plus the effect of its
// rounded argument, 2 units for a root. The variance must be that of the deviations from the mean:
// the mean square minus the square of the mean cancels, and fails for the rows with a large mean.
// The result is NaN for a row with a NaN, with infinities that meet, or, for softmax, with only
// -infinity.
#include "kiln/ops/norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::conformance {
namespace {

constexpr Real kHalfUnit = 0x1p-24L;  // the norms compute in f32

using Row = std::vector<Real>;

// The row's sum has `parts` that are joined in the end.
std::vector<Expected> softmax_reference(DType dtype, const Row& x, std::uint32_t parts) {
  const Real rounding = rounding_error(dtype);
  const bool approximate = dtype == DType::kF16 || dtype == DType::kBF16;
  const Real exponential = 5 * rounding + (approximate ? 0x1p-16L : 0);
  const Real least = unit_in_last_place(compute_dtype(dtype), 0);
  const Real highest = *std::max_element(x.begin(), x.end(), [](Real a, Real b) {
    return a < b || (std::isnan(a) && !std::isnan(b));
  });
  Real sum = 0, sum_error = 0;
  for (const Real value : x) {
    const Real e = std::exp(value - highest);
    sum += e;
    if (e > 0) sum_error += e * ((highest - value) * rounding + exponential);
  }
  std::vector<Expected> expected;
  for (const Real value : x) {
    const Real e = std::exp(value - highest);
    const Real distance = std::isfinite(value) ? highest - value : 0;
    const Real relative = distance * rounding + exponential + sum_error / sum +
                          (sum_depth(x.size(), parts) + 3) * rounding;
    expected.push_back(Expected::within(dtype, e / sum, {1, relative, 4 * least}));
  }
  return expected;
}

struct Affine {
  Row alpha, beta;  // empty: ones, zeros
  float epsilon;

  Real alpha_of(std::size_t i) const { return alpha.empty() ? 1 : alpha[i]; }
  Real beta_of(std::size_t i) const { return beta.empty() ? 0 : beta[i]; }
};

// `threads` share the row.
std::vector<Expected> rmsnorm_reference(DType dtype, const Row& x, const Affine& affine,
                                        std::uint32_t threads) {
  const auto count = static_cast<Real>(x.size());
  Real squares = 0;
  for (const Real value : x) squares += value * value;
  const Real scale = 1 / std::sqrt(squares / count + static_cast<Real>(affine.epsilon));
  const Real relative = (sum_depth(x.size(), threads) / 2 + 8) * kHalfUnit;
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected.push_back(
        Expected::within(dtype, x[i] * scale * affine.alpha_of(i), {1, relative, 0x1p-140L}));
  }
  return expected;
}

std::vector<Expected> layernorm_reference(DType dtype, const Row& x, const Affine& affine,
                                          std::uint32_t threads) {
  const auto count = static_cast<Real>(x.size());
  const Real depth = sum_depth(x.size(), threads);
  Real sum = 0, magnitude = 0, variance = 0;
  for (const Real value : x) {
    sum += value;
    magnitude += std::fabs(value);
  }
  const Real mean = sum / count;
  for (const Real value : x) variance += (value - mean) * (value - mean) / count;
  const Real mean_error = (depth + 2) * kHalfUnit * magnitude / count;
  const Real denominator = variance + static_cast<Real>(affine.epsilon);
  // Each deviation is off by the error of the mean and by its own rounding.
  const Real spread = std::sqrt(variance);
  const Real deviation_error = mean_error + kHalfUnit * magnitude / count;
  const Real variance_error = (depth + 3) * kHalfUnit * variance + 2 * spread * deviation_error +
                              deviation_error * deviation_error;
  const Real scale = 1 / std::sqrt(denominator);
  std::vector<Expected> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real alpha = affine.alpha_of(i), beta = affine.beta_of(i);
    const Real scaled = (x[i] - mean) * scale * alpha;
    const Real error = (mean_error + 2 * kHalfUnit * std::fabs(x[i])) * scale * std::fabs(alpha) +
                       std::fabs(scaled) * (variance_error / denominator / 2 + 8 * kHalfUnit) +
                       2 * kHalfUnit * (std::fabs(scaled + beta) + std::fabs(beta));
    expected.push_back(Expected::within(dtype, scaled + beta, {1, 0, error + 0x1p-140L}));
  }
  return expected;
}

enum class Kind { kSoftmax, kRmsNorm, kLayerNorm };

struct NormCase {
  std::size_t rows, columns;
  bool has_alpha = true, has_beta = true;
  std::size_t misalignment = 0;
  // For the norms: the reference launch, or this number of threads instead of the helper's, with y
  // rows in a block.
  ops::Geometry geometry = ops::Geometry::kOwn;
  std::uint32_t block_x = 0, block_y = 1;
  // Parts of a row for softmax_long and norm_long; 0 if the plan of softmax chooses the kernel.
  std::uint32_t parts = 1;
  std::uint32_t multiprocessors = 0;  // to plan for; 0: the default's
};

// Parts of a single block that are whole lines, that have fewer elements than a line, and that are
// not whole 16-byte pieces.
std::vector<NormCase> long_cases(Breadth breadth) {
  std::vector<NormCase> list;
  const auto add = [&](std::size_t rows, std::size_t columns, std::uint32_t parts,
                       std::size_t misalignment = 0) {
    list.push_back({rows, columns, true, true, misalignment});
    list.back().parts = parts;
  };
  add(12, 4096, 4);
  add(12, 1001, 8, 1);
  add(1, 129, 2);
  add(24, 300, 3);
  if (breadth == Breadth::kHandful) return list;
  add(3, 10007, 2, 3);
  add(1, 50001, 300);
  add(2, 32768, 16);
  return list;
}

// Row counts that are staged: blocks of 32 and 64 rows, the last of them with fewer.
std::vector<NormCase> staged_cases(Breadth breadth) {
  std::vector<NormCase> list;
  for (const std::size_t columns : {1, 3, 7}) list.push_back({2813, columns});
  list.push_back({6900, 17});
  list.push_back({2021, 5, true, true, 1});
  list.push_back({1001, 2});  // few elements, for slow devices
  if (breadth != Breadth::kHandful) {
    list.push_back({20000, 3});
    list.push_back({13300, 33});
  }
  for (NormCase& choice : list) choice.parts = 0;
  return list;
}

std::vector<NormCase> norm_cases(Kind kind, Breadth breadth) {
  std::vector<NormCase> list;
  for (const std::size_t columns : {1, 7, 33, 1000, 1025}) list.push_back({24, columns});
  list.push_back({3, 34});
  list.push_back({3, 4099, true, true, 1});
  list.push_back({12, 65, true, true, 3});
  list.push_back({601, 3});  // blocks of many rows; the last one has fewer
  if (kind != Kind::kSoftmax) {
    list.push_back({12, 65, false, true});
    const auto add = [&](std::size_t rows, std::size_t columns, ops::Geometry geometry,
                         std::uint32_t x = 0, std::uint32_t y = 1) {
      list.push_back({rows, columns, true, true, 0, geometry, x, y});
    };
    for (const std::size_t columns : {65, 1000, 1025, 4096}) {
      add(12, columns, ops::Geometry::kReference);
    }
    // Teams of a part of a wave, of one wave, of several waves, of a size that is not a power of
    // two, and of one thread.
    add(12, 64, ops::Geometry::kOwn, 4, 4);
    add(12, 100, ops::Geometry::kOwn, 32, 6);
    add(12, 100, ops::Geometry::kOwn, 128, 2);
    add(12, 256, ops::Geometry::kOwn, 12, 3);
    add(12, 65, ops::Geometry::kOwn, 100);
    add(12, 64, ops::Geometry::kOwn, 1);
    add(12, 2050, ops::Geometry::kOwn, 32);
    if (kind == Kind::kLayerNorm) list.push_back({12, 65, true, false});
    if (kind == Kind::kLayerNorm) list.push_back({12, 65, false, false});
  }
  if (breadth == Breadth::kHandful) return list;
  for (const std::size_t columns :
       {2, 3, 16, 31, 32, 34, 63, 64, 127, 128, 129, 255, 256, 257, 512, 1023, 1024, 2047, 2048}) {
    list.push_back({24, columns});
  }
  for (const std::size_t columns : {1, 2, 8, 40, 132}) list.push_back({1013, columns});
  list.push_back({1000, 17});
  list.push_back({2100, 17});
  list.push_back({600, 64});
  list.push_back({528, 200});
  list.push_back({2, 32768});
  list.push_back({1, 50001});
  // More rows than are resident on a large GPU.
  if (kind == Kind::kSoftmax) list.push_back({17000, 128});
  return list;
}

std::string name_of(std::string_view kernel, const NormCase& choice) {
  std::string name = std::string(kernel) + "/rows/" + std::to_string(choice.rows) + "x" +
                     std::to_string(choice.columns);
  if (!choice.has_alpha) name += "/no-alpha";
  if (!choice.has_beta) name += "/no-beta";
  if (choice.parts > 1) name += "/parts=" + std::to_string(choice.parts);
  if (choice.misalignment != 0) name += "/offset=" + std::to_string(choice.misalignment);
  if (choice.geometry == ops::Geometry::kReference) name += "/reference";
  if (choice.multiprocessors != 0) name += "/own-of-" + std::to_string(choice.multiprocessors);
  if (choice.block_x != 0) {
    name += "/block=" + std::to_string(choice.block_x) + "x" + std::to_string(choice.block_y);
  }
  return name;
}

Result<ops::Launch> plan_norm(Kind kind, DType dtype, const NormCase& choice, float epsilon,
                              const void* src, void* dst, const void* alpha, const void* beta) {
  const ops::Gpu gpu = gpu_of(choice.multiprocessors);
  const auto fill = [&](auto call) {
    call.dtype = dtype;
    call.rows = choice.rows;
    call.columns = choice.columns;
    call.src = src;
    call.dst = dst;
    call.geometry = choice.geometry;
    call.parts = choice.parts;
    return call;
  };
  if (kind == Kind::kSoftmax) {
    return plan(fill(ops::Softmax{}), gpu);
  }
  Result<ops::Launch> launch = Error{};
  if (kind == Kind::kRmsNorm) {
    ops::RmsNorm call = fill(ops::RmsNorm{});
    call.alpha = alpha;
    call.epsilon = epsilon;
    launch = plan(call, gpu);
  } else {
    ops::LayerNorm call = fill(ops::LayerNorm{});
    call.alpha = alpha;
    call.beta = beta;
    call.epsilon = epsilon;
    launch = plan(call, gpu);
  }
  if (launch && choice.block_x != 0) {
    launch->grid.x = static_cast<std::uint32_t>(choice.rows) / choice.block_y;
    launch->block = {choice.block_x, choice.block_y, 1};
    // The second to last parameter is the block size along x.
    launch->arguments[launch->arguments.size() - 2] =
        ops::Argument::of(static_cast<std::int32_t>(choice.block_x));
  }
  return launch;
}

NormCase random_norm_case(Kind kind, Draw& draw) {
  const ops::Extents dims = draw.dims(2, 2);
  NormCase choice{dims[0], dims[1]};
  choice.misalignment = draw.misalignment();
  if (draw.one_in(3)) {
    choice.geometry = ops::Geometry::kReference;
  } else {
    choice.multiprocessors = draw.multiprocessors();
  }
  if (kind == Kind::kSoftmax) return choice;
  choice.has_alpha = !draw.one_in(3);
  choice.has_beta = kind == Kind::kRmsNorm || !draw.one_in(3);
  if (choice.geometry == ops::Geometry::kReference && draw.one_in(2)) {
    choice.block_x = draw.threads(1024);
    const auto most = static_cast<std::uint32_t>(draw.size(1024 / choice.block_x));
    for (std::uint32_t y = 1; y <= most; ++y) {
      if (choice.rows % y == 0) choice.block_y = y;  // blocks of whole rows
    }
  }
  return choice;
}

enum class Way { kBlock, kLong, kStaged };

// Draws a case for which the plan chooses the kernel; none if there is none among many.
std::vector<NormCase> random_norm_cases(std::string_view kernel, Kind kind, Way way, DType dtype,
                                        Draw& draw) {
  for (std::size_t i = 0; i < kMaxDraws; ++i) {
    NormCase choice = random_norm_case(kind, draw);
    if (way != Way::kBlock) {
      choice.geometry = ops::Geometry::kOwn;
      choice.block_x = 0;
      choice.parts = way == Way::kStaged ? 0 : static_cast<std::uint32_t>(draw.size(64));
    }
    const auto launch = plan_norm(kind, dtype, choice, 0, nullptr, nullptr, nullptr, nullptr);
    if (launch && launch->kernel.text() == kernel) return {choice};
  }
  return {};
}

Row numbers(DType dtype, const std::vector<std::byte>& content, std::size_t first,
            std::size_t count) {
  Row row;
  for (std::size_t i = first; i < first + count; ++i) {
    row.push_back(decode(dtype, load(dtype, &content[i * size_of(dtype)])));
  }
  return row;
}

Case build(std::string name, Kind kind, DType dtype, const NormCase& choice, const Seed& seed) {
  Random random(seed.own);
  const float epsilon = random.below(2) == 0 ? 1e-5f : 1e-2f;
  Case made;
  made.name = std::move(name);
  // Each case starts with another kind of rows.
  auto source = std::make_shared<std::vector<std::byte>>(
      rows_of(dtype, choice.rows, choice.columns, random, random.below(kRowKinds)));
  made.operands.push_back(input("src", dtype, *source, choice.misalignment));
  const auto table = [&](const char* operand, bool present) -> std::vector<std::byte> {
    if (kind == Kind::kSoftmax || !present) return {};
    std::vector<std::byte> content = rows_of(dtype, 1, choice.columns, random, 2);
    made.operands.push_back(input(operand, dtype, content, choice.misalignment));
    return content;
  };
  const std::vector<std::byte> alpha = table("alpha", choice.has_alpha);
  const std::vector<std::byte> beta = table("beta", kind == Kind::kLayerNorm && choice.has_beta);
  const bool is_staged = made.name.starts_with("softmax_staged");
  Operand dst;
  dst.name = "dst";
  dst.dtype = dtype;
  dst.content = poison(source->size(), random);
  dst.misalignment = choice.misalignment;
  dst.expected = [=] {
    const auto count = [&](const std::vector<std::byte>& content) {
      return content.size() / size_of(dtype);
    };
    const Affine affine{numbers(dtype, alpha, 0, count(alpha)),
                        numbers(dtype, beta, 0, count(beta)), epsilon};
    const std::uint32_t threads = choice.block_x == 0 ? 32 : choice.block_x;
    const std::uint32_t parts = is_staged ? 4 : 32;
    std::vector<Expected> all;
    for (std::size_t r = 0; r < choice.rows; ++r) {
      const Row row = numbers(dtype, *source, r * choice.columns, choice.columns);
      const std::vector<Expected> expected =
          kind == Kind::kSoftmax   ? softmax_reference(dtype, row, parts)
          : kind == Kind::kRmsNorm ? rmsnorm_reference(dtype, row, affine, threads)
                                   : layernorm_reference(dtype, row, affine, threads);
      all.insert(all.end(), expected.begin(), expected.end());
    }
    return all;
  };
  made.operands.push_back(std::move(dst));
  const std::size_t alpha_at = alpha.empty() ? 0 : 1;
  const std::size_t beta_at = beta.empty() ? 0 : alpha_at + 1;
  made.plan = [=](const std::vector<void*>& addresses) {
    const auto at = [&](std::size_t operand) -> const void* {
      return operand == 0 ? nullptr : addresses[operand];
    };
    return plan_norm(kind, dtype, choice, epsilon, addresses[0], addresses.back(), at(alpha_at),
                     at(beta_at));
  };
  return made;
}

// Cases for both norms.
void add_long_norm_cases(std::string_view kernel, DType dtype, const Wanted& wanted,
                         std::vector<CaseSpec>& cases) {
  std::vector<NormCase> list = long_cases(wanted.breadth);
  list.push_back({2, 2000, false, false});
  list.back().parts = 3;
  for (const Kind kind : {Kind::kRmsNorm, Kind::kLayerNorm}) {
    if (wanted.draw != nullptr) {
      list = random_norm_cases(kernel, kind, Way::kLong, dtype, *wanted.draw);
    }
    for (const NormCase& choice : list) {
      const std::string name =
          name_of(kernel, choice) + (kind == Kind::kRmsNorm ? "/rmsnorm" : "/layernorm");
      cases.push_back({name, choice.rows * choice.columns,
                       [=](const Seed& seed) { return build(name, kind, dtype, choice, seed); }});
    }
  }
}

}  // namespace

bool add_norm_cases(std::string_view kernel, const Wanted& wanted, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts) return false;
  const Way way = parts->root == "softmax_long"     ? Way::kLong
                  : parts->root == "softmax_staged" ? Way::kStaged
                                                    : Way::kBlock;
  if (parts->root == "norm_long" && is_float(parts->dtype)) {
    add_long_norm_cases(kernel, parts->dtype, wanted, cases);
    return true;
  }
  const std::optional<Kind> kind = way != Way::kBlock || parts->root == "softmax"
                                       ? std::optional(Kind::kSoftmax)
                                   : parts->root == "rmsnorm"   ? std::optional(Kind::kRmsNorm)
                                   : parts->root == "layernorm" ? std::optional(Kind::kLayerNorm)
                                                                : std::nullopt;
  if (!kind || !is_float(parts->dtype)) return false;
  const DType dtype = parts->dtype;
  const std::vector<NormCase> choices =
      wanted.draw != nullptr ? random_norm_cases(kernel, *kind, way, dtype, *wanted.draw)
      : way == Way::kLong    ? long_cases(wanted.breadth)
      : way == Way::kStaged  ? staged_cases(wanted.breadth)
                             : norm_cases(*kind, wanted.breadth);
  for (const NormCase& choice : choices) {
    const std::string name = name_of(kernel, choice);
    const std::size_t of_row = way == Way::kStaged ? 1 : 32;  // least number of threads for a row
    cases.push_back(
        {name, choice.rows * std::max(choice.columns, of_row),
         [=, kind = *kind](const Seed& seed) { return build(name, kind, dtype, choice, seed); }});
  }
  return true;
}

Contracts norm_contracts() {
  return {
      {"softmax", "exp(x - max x) / Σ exp(x - max x)", kFloatsIn,
       "1, and what the steps round: the sum as fast_sum's, an exponential 2.5 (f16, bf16: 2^-16)",
       "a row with a NaN or +inf, or of -inf alone: NaN",
       "Mended: the original keeps exponentials in f16 and bf16."},
      {"softmax_long", "as softmax, several blocks to a row", kFloatsIn,
       "as softmax, and the join of the parts", "as softmax",
       "A name of our own. The same bits in each run."},
      {"softmax_staged", "as softmax, many short rows", kFloatsIn, "as softmax, the sum with t = 4",
       "as softmax", "A name of our own."},
      {"rmsnorm", "x α / sqrt(mean x² + ε)", "f32",
       "1, and half of fast_sum's and 8 half units for the mean and the root", "",
       "Zhang and Sennrich 2019, arXiv 1910.07467. Kept: f32 for f64, too; α may be null."},
      {"layernorm", "(x - mean) α / sqrt(variance + ε) + β", "f32",
       "1, and what the mean, the variance and the root round", "",
       "Ba, Kiros and Hinton 2016, arXiv 1607.06450. Kept: f32 for f64, too; α and β may be null. "
       "Mended: the variance is that of the deviations; mean x² - mean² cancels."},
      {"norm_long", "as rmsnorm, or as layernorm, several blocks to a row", "f32",
       "as theirs, and the join of the parts", "", "A name of our own. The same bits in each run."},
  };
}

}  // namespace kiln::conformance
