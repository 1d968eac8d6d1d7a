#include "tests/bench/recorded.hpp"

#include <nlohmann/json.hpp>

#include "base/diagnostic.hpp"
#include "kiln/ops/affine.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/unary.hpp"
#include "tests/bench/recorded_data.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/map_cases.hpp"

namespace kiln::bench {
namespace {

using nlohmann::json;

ops::Extents extents(const json& list) {
  const auto values = list.get<std::vector<std::size_t>>();
  return ops::Extents(values.data(), values.size());
}

RecordedCase read_case(const json& entry) {
  RecordedCase recorded;
  recorded.name = entry.at("case");
  recorded.kernel = entry.at("kernel");
  if (entry.contains("dims")) {
    recorded.layout.dims = extents(entry.at("dims"));
    if (entry.contains("strides")) recorded.layout.strides = extents(entry.at("strides"));
  } else {
    recorded.layout.dims = {entry.at("rows"), entry.at("columns")};
    recorded.inp_stride = entry.at("inp_stride");
    recorded.out_stride = entry.at("out_stride");
  }
  if (entry.contains("scalars")) recorded.scalars = entry.at("scalars").get<std::vector<double>>();
  recorded.min_bytes = entry.at("min_bytes");
  recorded.original_us = entry.at("original_us");
  if (!entry.at("torch_us").is_null()) recorded.torch_us = entry.at("torch_us").get<double>();
  return recorded;
}

Error unknown_kernel(const RecordedCase& recorded) {
  return Error{ErrorCode::kInvalidInput,
               "the benchmark does not know how to launch '" + recorded.kernel + "'",
               {},
               {}};
}

ops::Scalar scalar(const RecordedCase& recorded, ops::DType dtype, std::size_t i) {
  return ops::Scalar::from(dtype, i < recorded.scalars.size() ? recorded.scalars[i] : 0);
}

}  // namespace

Result<Recording> recording() { return parse_recording(kRecordedData); }

Result<Recording> parse_recording(std::string_view text) {
  try {
    const json data = json::parse(text);
    Recording recording{data.at("gpu"), data.at("original"), data.at("torch"), data.at("how"), {}};
    for (const json& entry : data.at("cases")) recording.cases.push_back(read_case(entry));
    return recording;
  } catch (const json::exception& exception) {
    return Error{ErrorCode::kInvalidInput, exception.what(), {"h200_reference.json", 0, 0}, {}};
  }
}

Result<Operands> operands_of(const RecordedCase& recorded) {
  const auto parts = conformance::split_dtype(recorded.kernel);
  if (!parts) return unknown_kernel(recorded);
  const std::size_t width = size_of(parts->dtype);
  const std::size_t count = conformance::count_of(recorded.layout);
  if (parts->root == "copy2d") {
    const std::size_t rows = recorded.layout.dims[0];
    return Operands{parts->dtype, rows * recorded.inp_stride * width,
                    rows * recorded.out_stride * width, false};
  }
  const std::size_t extent = conformance::extent_of(recorded.layout) * width;
  const bool contiguous = ops::is_contiguous(recorded.layout);
  if (parts->root == "fill" || parts->root == "const_set") {
    return Operands{parts->dtype, 0, extent, contiguous};
  }
  return Operands{parts->dtype, extent, count * width, contiguous};
}

Result<ops::Launch> plan(const RecordedCase& recorded, const void* inp, void* out,
                         ops::Geometry geometry) {
  const auto parts = conformance::split_dtype(recorded.kernel);
  if (!parts) return unknown_kernel(recorded);
  const ops::DType dtype = parts->dtype;
  if (parts->root == "affine") {
    return plan(ops::Affine{dtype, recorded.layout, inp, out, scalar(recorded, dtype, 0),
                            scalar(recorded, dtype, 1), geometry});
  }
  if (parts->root == "const_set") {
    return plan(ops::ConstSet{scalar(recorded, dtype, 0), recorded.layout, out, geometry});
  }
  if (parts->root == "copy2d") {
    return plan(ops::Copy2d{dtype, static_cast<std::uint32_t>(recorded.layout.dims[0]),
                            static_cast<std::uint32_t>(recorded.layout.dims[1]),
                            recorded.inp_stride, recorded.out_stride, inp, out, geometry});
  }
  for (const ops::UnaryOpInfo& op : ops::kUnaryOps) {
    if (parts->root.substr(0, 1) == "u" && parts->root.substr(1) == op.name) {
      return plan(ops::Unary{op.op, dtype, recorded.layout, inp, out, scalar(recorded, dtype, 0),
                             geometry});
    }
  }
  return unknown_kernel(recorded);
}

}  // namespace kiln::bench
