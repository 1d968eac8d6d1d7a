// The references of module indexing: a correct model in plain C++ passes them, and models with a
// plausible fault are caught. Also the launches.
#include "kiln/ops/indexing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <map>

#include "tests/kernels/selftest/fake_device.hpp"

namespace kiln::conformance {
namespace {

enum class Fault { kNone, kTakesTheGreatest, kClamps, kFirstStays, kRoundsOnce };

// Ids of unsigned types along the middle of three dims.
struct Shape {
  std::size_t size, count, right;
};

// Returns the target of element `i`, in elements of the dim's operand; nothing if its id names no
// place.
std::optional<std::size_t> target(const Piece& ids, const Shape& shape, std::size_t i,
                                  Fault fault) {
  const bool has_own = ids.count() != shape.count;
  const std::size_t l = i / shape.right / shape.count, j = i / shape.right % shape.count;
  Bits id = ids.read(has_own ? i : j);
  const Bits greatest = size_of(ids.operand.dtype) == 1 ? 0xff : 0xffffffff;
  if (fault == Fault::kClamps && id != greatest) id = std::min<Bits>(id, shape.size - 1);
  if (id >= shape.size || (id == greatest && fault != Fault::kTakesTheGreatest)) return {};
  return (l * shape.size + id) * shape.right + i % shape.right;
}

bool passes(const std::string& name, const Shape& shape, Fault fault) {
  const std::string root = name.substr(0, name.find('_'));
  const Verdict verdict =
      run_model(build("indexing", name), [&](const std::vector<Piece>& operands) {
        const Piece &ids = operands[0], &inp = operands[1], &out = operands[2];
        const bool reads = root == "is" || root == "gather";
        std::map<std::size_t, float> sums;
        for (std::size_t i = 0; i < (reads ? out : inp).count(); ++i) {
          const auto place = target(ids, shape, i, fault);
          if (reads) {
            out.write(i, place ? inp.read(*place) : 0);
          } else if (place && root == "s") {
            const bool is_first = sums.emplace(*place, 0.0f).second;
            if (is_first || fault != Fault::kFirstStays) out.write(*place, inp.read(i));
          } else if (place && fault == Fault::kRoundsOnce) {
            const float sum = sums.emplace(*place, out.number(*place)).first->second;
            out.write_number(*place, static_cast<Real>(sums[*place] = sum + inp.number(i)));
          } else if (place) {
            out.write_number(*place, static_cast<Real>(out.number(*place) + inp.number(i)));
          }
        }
      });
  return verdict.complaints.empty();
}

TEST_CASE("reads and writes by ids pass; those that take ids of no place are caught") {
  for (const char* const root : {"is", "gather", "ia", "s", "sa"}) {
    const std::string name = std::string(root) + "_u8_f16/40x300x2/along=1/33-ids/mixed/grid=5x100";
    INFO(name);
    const Shape shape{300, 33, 2};
    CHECK(passes(name, shape, Fault::kNone));
    CHECK_FALSE(passes(name, shape, Fault::kTakesTheGreatest));
    const std::string clamped =
        std::string(root) + "_u32_f32/3x11x48/along=1/37-ids/mixed/reference";
    CHECK(passes(clamped, {11, 37, 48}, Fault::kNone));
    CHECK_FALSE(passes(clamped, {11, 37, 48}, Fault::kClamps));
  }
}

TEST_CASE("the last of equal ids stays, and sums round at each step") {
  const Shape shape{9, 21, 64};
  CHECK(passes("s_u32_f32/9x64/along=0/21-ids/one/own", shape, Fault::kNone));
  CHECK_FALSE(passes("s_u32_f32/9x64/along=0/21-ids/one/own", shape, Fault::kFirstStays));
  for (const char* const name :
       {"ia_u32_f16/9x64/along=0/21-ids/one/own", "sa_u8_bf16/9x64/along=0/21-ids/one/own"}) {
    INFO(name);
    CHECK(passes(name, shape, Fault::kNone));
    CHECK_FALSE(passes(name, shape, Fault::kRoundsOnce));
  }
}

std::string message(const Result<ops::Launch>& launch) {
  return launch ? "no error" : launch.error().message;
}
template <typename T>
T argument(const ops::Launch& launch, std::size_t i) {
  T value{};
  REQUIRE(launch.arguments.at(i).size() == sizeof value);
  std::memcpy(&value, launch.arguments[i].data(), sizeof value);
  return value;
}

TEST_CASE("plan of a read by ids counts what lies before and behind the dim") {
  ops::IndexSelect call;
  call.ids_dtype = DType::kI64;
  call.dtype = DType::kBF16;
  call.dims = {2, 9, 8, 4};
  call.dim = 1;
  call.ids_layout = {{5}, {3}};
  call.geometry = ops::Geometry::kReference;
  const auto launch = plan(call);
  REQUIRE(launch);
  CHECK(to_string(*launch) == "indexing.is_i64_bf16<<<1, 1024>>>");
  CHECK(launch->layout == std::vector<std::size_t>{5, 3});
  CHECK(argument<std::size_t>(*launch, 0) == 320);
  CHECK(argument<std::size_t>(*launch, 6) == 2);
  CHECK(argument<std::size_t>(*launch, 7) == 9);
  CHECK(argument<std::size_t>(*launch, 8) == 5);
  CHECK(argument<std::size_t>(*launch, 9) == 32);
  call.dim = 4;
  CHECK(message(plan(call)) == "ids are along dim 4 of shape [2, 9, 8, 4], which has 4 dims");
  call.ids_dtype = DType::kI16;
  CHECK(message(plan(call)) == "no kernel of 'is' takes 'bf16' by ids of 'i16'");
}

TEST_CASE(
    "plan of a write by ids has a thread for each place, and more where the device has room") {
  ops::IndexAdd call;
  call.dims = {16384, 4096};
  call.dim = 0;
  call.size = 128256;
  call.geometry = ops::Geometry::kReference;
  REQUIRE(plan(call));
  CHECK(to_string(*plan(call)) == "indexing.ia_u32_f32<<<4, 1024>>>");
  call.geometry = ops::Geometry::kOwn;
  // 1024 chunks of four elements, 256 times.
  CHECK(to_string(*plan(call)) == "indexing.ia_u32_f32<<<2048, 128>>>");
  ops::Scatter scatter;
  scatter.op = ops::ScatterOp::kAdd;
  scatter.dims = {8192, 4096};
  scatter.dim = 0;
  scatter.size = 128256;
  CHECK(to_string(*plan(scatter)) == "indexing.sa_u32_f32<<<256, 128>>>");
  scatter.op = ops::ScatterOp::kAssign;
  scatter.dims = {65536, 1024};
  scatter.dim = 1;
  CHECK(to_string(*plan(scatter)) == "indexing.s_u32_f32<<<2048, 128>>>");
  scatter.dtype = DType::kF8E4M3;
  CHECK(message(plan(scatter)) == "no kernel of 's' takes 'f8e4m3' by ids of 'u32'");
}

}  // namespace
}  // namespace kiln::conformance
