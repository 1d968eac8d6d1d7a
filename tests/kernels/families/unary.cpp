// u<op>_<T>: out[i] = op(inp[idx(i)]). The operations themselves are in unary_reference.cpp.
#include "kiln/ops/unary.hpp"

#include <memory>

#include "tests/kernels/families/family.hpp"
#include "tests/kernels/families/unary_reference.hpp"
#include "tests/kernels/map_cases.hpp"

namespace kiln::conformance {
namespace {

std::optional<ops::UnaryOp> find_op(std::string_view name) {
  for (const ops::UnaryOpInfo& each : ops::kUnaryOps) {
    if (each.name == name) return each.op;
  }
  return std::nullopt;
}

// Each case takes one parameter, by turns.
std::vector<double> parameters_of(ops::UnaryOp op) {
  if (op == ops::UnaryOp::kElu) return {1, 0.3, -2};
  if (op == ops::UnaryOp::kPowf) return {2.3, 2, -1.5, 0.5, 3, 0, 1};
  return {0};
}

// The reference of a kernel and parameter, which remembers its answers: a value comes up many
// times, and an answer costs hundreds of nanoseconds. A table of slots, each holding what was asked
// last.
class Reference {
 public:
  Reference(ops::UnaryOp op, DType dtype, Bits parameter)
      : op_(op), dtype_(dtype), parameter_(parameter) {}

  Expected operator()(Bits inp) {
    if (op_ == ops::UnaryOp::kCopy) return Expected::exactly(inp);
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[slot_of(inp)];
    if (!slot.is_filled || slot.inp != inp) {
      slot = {inp, true, unary_reference(op_, dtype_, inp, parameter_)};
    }
    return slot.answer;
  }

 private:
  struct Slot {
    Bits inp = 0;
    bool is_filled = false;
    Expected answer = Expected::exactly(0);
  };
  static constexpr std::size_t kSlots = 65536;  // one for every value of a 16-bit type

  std::size_t slot_of(Bits inp) const {
    return size_of(dtype_) <= 2 ? inp : inp * 0x9e3779b97f4a7c15 >> 48;
  }

  ops::UnaryOp op_;
  DType dtype_;
  Bits parameter_;
  std::vector<Slot> slots_;
};

}  // namespace

bool add_unary_cases(std::string_view kernel, std::vector<CaseSpec>& cases) {
  const std::optional<RootAndDType> parts = split_dtype(kernel);
  if (!parts || parts->root.substr(0, 1) != "u") return false;
  const std::optional<ops::UnaryOp> op = find_op(parts->root.substr(1));
  if (!op) return false;
  const DType dtype = parts->dtype;

  std::vector<std::shared_ptr<Reference>> references;
  std::vector<Bits> parameters;
  for (const double parameter : parameters_of(*op)) {
    parameters.push_back(is_float(dtype) ? encode(dtype, parameter) : 0);
    references.push_back(std::make_shared<Reference>(*op, dtype, parameters.back()));
  }
  const auto add = [&](const MapVariant& variant, std::size_t turn, const std::string& suffix) {
    const std::string name = std::string(kernel) + "/" + variant.name + suffix;
    const Bits parameter = parameters[turn];
    const std::shared_ptr<Reference> reference = references[turn];
    cases.push_back({name, variant.grid.work(count_of(variant.view.layout)),
                     [name, variant, op = *op, dtype, parameter, reference](const Seed& seed) {
                       MapKernel map;
                       map.inp_dtype = map.out_dtype = dtype;
                       map.plan = [=](const ops::Layout& layout, const void* inp, void* out,
                                      ops::Geometry geometry) {
                         ops::Unary call;
                         call.op = op;
                         call.dtype = dtype;
                         call.layout = layout;
                         call.inp = inp;
                         call.out = out;
                         call.parameter = ops::Scalar::of_bits(dtype, parameter);
                         call.geometry = geometry;
                         return plan(call);
                       };
                       map.reference = [reference](Bits inp) { return (*reference)(inp); };
                       return map_case(name, variant, map, seed);
                     }});
  };
  std::size_t turn = 0;
  for (const MapVariant& variant : map_variants(size_of(dtype))) {
    if (parameters.size() > 1 &&
        (variant.values == ValueSet::kAll || variant.view.name == "contiguous/n=8193")) {
      // The cases with the most values meet every parameter.
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        add(variant, i, "/parameter=" + std::to_string(i));
      }
    } else {
      add(variant, turn++ % parameters.size(), "");
    }
  }
  return true;
}

}  // namespace kiln::conformance
