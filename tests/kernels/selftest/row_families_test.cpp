// The references of the row operations: correct models in plain f32 pass them, and models with a
// fault are caught.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

using Floats = std::vector<float>;

// Adds like 32 threads: each adds every 32nd term, and the sums are added in pairs.
float sum_of_lanes(const Floats& terms) {
  Floats lanes(32, 0.0f);
  for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 32] += terms[i];
  for (std::size_t half = 16; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

float rounded(DType dtype, float value) {
  return static_cast<float>(decode(dtype, encode(dtype, static_cast<Real>(value))));
}

// Applies `row` to each contiguous row of the first operand and stores the results in the last
// operand.
using RowModel = std::function<Floats(const Floats& row, const std::vector<Piece>& operands)>;
bool passes(const std::string& name, std::size_t columns, const RowModel& row) {
  const PreparedCase subject = build("reduce", name);
  const Verdict verdict = run_model(subject, [&](const std::vector<Piece>& operands) {
    const Piece &src = operands.front(), &dst = operands.back();
    std::size_t written = 0;
    for (std::size_t first = 0; first < src.count(); first += columns) {
      Floats values;
      for (std::size_t i = 0; i < columns; ++i) values.push_back(src.number(first + i));
      for (const float value : row(values, operands)) {
        if (is_float(dst.operand.dtype)) {
          dst.write_number(written++, static_cast<Real>(value));
        } else {
          dst.write(written++, static_cast<Bits>(value));
        }
      }
    }
  });
  return verdict.complaints.empty();
}

TEST_CASE("sums in f32 pass; one that rounds to f16 at each step, or misses a term, is caught") {
  for (const char* const name :
       {"fast_sum_f16/rows/24x1000/over=1/reference", "fast_sum_bf16/rows/24x1000/over=1/reference",
        "fast_sum_f32/rows/24x1000/over=1/reference"}) {
    INFO(name);
    const DType dtype = build("reduce", name).subject.operands[0].dtype;
    CHECK(passes(name, 1000,
                 [](const Floats& row, const auto&) { return Floats{sum_of_lanes(row)}; }));
    CHECK_FALSE(passes(name, 1000, [](Floats row, const auto&) {
      row.back() = 0;
      return Floats{sum_of_lanes(row)};
    }));
    if (dtype == DType::kF32) continue;
    CHECK_FALSE(passes(name, 1000, [dtype](const Floats& row, const auto&) {
      float sum = 0;
      for (const float term : row) sum = rounded(dtype, sum + term);
      return Floats{sum};
    }));
  }
}

TEST_CASE("fast_min and fast_max keep a NaN in f16 and bf16 and ignore it in f32") {
  const auto model = [](bool keeps_nan) {
    return [keeps_nan](const Floats& row, const auto&) {
      float least = std::numeric_limits<float>::infinity();
      for (const float value : row) {
        least =
            keeps_nan && (std::isnan(value) || std::isnan(least)) ? NAN : std::fmin(least, value);
      }
      return Floats{least};
    };
  };
  CHECK(passes("fast_min_f32/rows/24x33/over=1/own", 33, model(false)));
  CHECK_FALSE(passes("fast_min_f32/rows/24x33/over=1/own", 33, model(true)));
  CHECK(passes("fast_min_bf16/rows/24x33/over=1/own", 33, model(true)));
  CHECK_FALSE(passes("fast_min_bf16/rows/24x33/over=1/own", 33, model(false)));
}

TEST_CASE("fast_argmax takes the first of equal elements and skips NaN") {
  enum class Fault { kNone, kLastOfEqual, kKeepsFirstNan };
  const auto model = [](Fault fault) {
    return [fault](const Floats& row, const auto&) {
      std::size_t best = 0;
      bool found = fault == Fault::kKeepsFirstNan;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (std::isnan(row[i])) continue;
        const bool better =
            !found || row[i] > row[best] || (fault == Fault::kLastOfEqual && row[i] == row[best]);
        if (better) best = i, found = true;
      }
      return Floats{static_cast<float>(best)};
    };
  };
  const std::string name = "fast_argmax_f16/rows/24x33/over=1/own";
  CHECK(passes(name, 33, model(Fault::kNone)));
  CHECK_FALSE(passes(name, 33, model(Fault::kLastOfEqual)));
  CHECK_FALSE(passes(name, 33, model(Fault::kKeepsFirstNan)));
  // For rows of one element the index is 0, also for a NaN.
  const PreparedCase subject = build("reduce", "fast_argmax_f16/rows/24x1/over=1/own");
  for (const Expected& each : subject.placed.back().expected) CHECK(each.example() == 0);
}

TEST_CASE("softmax in f32 passes; without the maximum, or with exponentials in f16, it is caught") {
  const auto model = [](DType stored, bool less_maximum) {
    return [=](const Floats& row, const auto&) {
      float highest = -std::numeric_limits<float>::infinity();
      for (const float value : row) highest = std::fmax(highest, value);
      if (!less_maximum) highest = 0;
      Floats result;
      for (const float value : row) result.push_back(rounded(stored, std::exp(value - highest)));
      const float sum = sum_of_lanes(result);
      for (float& value : result) value /= sum;
      return result;
    };
  };
  for (const std::size_t columns : {33, 1000}) {
    const std::string shape = "/rows/24x" + std::to_string(columns);
    CHECK(passes("softmax_f32" + shape, columns, model(DType::kF32, true)));
    CHECK(passes("softmax_f16" + shape, columns, model(DType::kF32, true)));
    CHECK(passes("softmax_bf16" + shape, columns, model(DType::kF32, true)));
    CHECK_FALSE(passes("softmax_f32" + shape, columns, model(DType::kF32, false)));
    CHECK_FALSE(passes("softmax_f16" + shape, columns, model(DType::kF16, true)));
  }
}

// Returns the epsilon of a norm's case: its last parameter.
float epsilon_of(const std::string& name) {
  const PreparedCase subject = build("reduce", name);
  const auto launch =
      subject.subject.launch(std::vector<void*>(subject.subject.operands.size(), nullptr));
  REQUIRE(launch);
  float epsilon = 0;
  std::memcpy(&epsilon, launch->arguments.back().data(), sizeof epsilon);
  return epsilon;
}

TEST_CASE("rmsnorm in f32 passes; one that rounds the scaled value to f16 first is caught") {
  for (const char* const type : {"f32", "f16", "bf16", "f64"}) {
    const std::string name = std::string("rmsnorm_") + type + "/rows/24x1000";
    const float epsilon = epsilon_of(name);
    const auto model = [epsilon](DType stored, float added) {
      return [=](const Floats& row, const std::vector<Piece>& operands) {
        Floats squares, result;
        for (const float value : row) squares.push_back(value * value);
        const float scale =
            1 / std::sqrt(sum_of_lanes(squares) / static_cast<float>(row.size()) + epsilon + added);
        for (std::size_t i = 0; i < row.size(); ++i) {
          result.push_back(rounded(stored, row[i] * scale) * operands[1].number(i));
        }
        return result;
      };
    };
    INFO(name);
    CHECK(passes(name, 1000, model(DType::kF32, 0)));
    CHECK_FALSE(passes(name, 1000, model(DType::kF16, 0)));
    CHECK_FALSE(passes(name, 1000, model(DType::kF32, 1e-3f)));
  }
}

TEST_CASE("layernorm by deviations passes; a variance that cancels is caught") {
  for (const char* const type : {"f32", "f16", "bf16"}) {
    const std::string name = std::string("layernorm_") + type + "/rows/24x1000";
    const float epsilon = epsilon_of(name);
    const auto model = [epsilon](bool by_squares) {
      return [=](const Floats& row, const std::vector<Piece>& operands) {
        const auto count = static_cast<float>(row.size());
        const float mean = sum_of_lanes(row) / count;
        Floats terms, result;
        for (const float value : row) {
          terms.push_back(by_squares ? value * value : (value - mean) * (value - mean));
        }
        const float variance = sum_of_lanes(terms) / count - (by_squares ? mean * mean : 0);
        const float scale = 1 / std::sqrt(variance + epsilon);
        for (std::size_t i = 0; i < row.size(); ++i) {
          result.push_back((row[i] - mean) * scale * operands[1].number(i) + operands[2].number(i));
        }
        return result;
      };
    };
    INFO(name);
    CHECK(passes(name, 1000, model(false)));
    CHECK_FALSE(passes(name, 1000, model(true)));
  }
}

TEST_CASE(
    "rope in f32 passes; with products rounded to f16, or another batch's table, it is caught") {
  enum class Fault { kNone, kRoundsProducts, kFirstTable };
  const auto passes_rope = [](const std::string& name, DType stored, Fault fault) {
    // Batches of 2 heads of 5 tokens of 10 elements; the elements of a pair are half a row apart.
    const Verdict verdict =
        run_model(build("reduce", name), [&](const std::vector<Piece>& operands) {
          for (std::size_t pair = 0; pair < operands[0].count() / 2; ++pair) {
            const std::size_t row = pair / 5, i = pair % 5, batch = row / 10, token = row % 5;
            const std::size_t table = fault == Fault::kFirstTable ? 0 : batch;
            const std::size_t p = row * 10 + i, q = p + 5, entry = (table * 5 + token) * 5 + i;
            const float a = operands[0].number(p), b = operands[0].number(q);
            const float c = operands[1].number(entry), s = operands[2].number(entry);
            const DType product = fault == Fault::kRoundsProducts ? stored : DType::kF32;
            const auto times = [product](float x, float y) { return rounded(product, x * y); };
            operands[3].write_number(p, static_cast<Real>(times(a, c) - times(b, s)));
            operands[3].write_number(q, static_cast<Real>(times(a, s) + times(b, c)));
          }
        });
    return verdict.complaints.empty();
  };
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32}) {
    const std::string name =
        "rope_" + std::string(ops::name(dtype)) + "/heads/3x2x5x10/per-batch/own";
    INFO(name);
    CHECK(passes_rope(name, dtype, Fault::kNone));
    CHECK_FALSE(passes_rope(name, dtype, Fault::kFirstTable));
    if (dtype != DType::kF32) CHECK_FALSE(passes_rope(name, dtype, Fault::kRoundsProducts));
  }
}

}  // namespace
}  // namespace kiln::conformance
