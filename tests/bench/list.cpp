#include "tests/bench/list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tests/bench/families.hpp"

namespace kiln::bench {
namespace {

constexpr std::size_t kUnevenCounts[] = {77, 1001, 50257, 299 * 1283};
constexpr std::size_t kMinForEachKind = 256;  // smaller launches run on one kind of data

struct Shape {
  View view;
  const char* name;
  ops::Extents dims, strides;
};
const Shape kSmallViews[] = {
    {View::kTransposed, "128x32", {128, 32}, {1, 128}},
    {View::kPermuted, "1x17x32x128", {1, 32, 17, 128}, {69632, 128, 4096, 1}},
    {View::kTransposed, "512x512", {512, 512}, {1, 512}},
    {View::kNarrowed, "512x512 of 1024", {512, 512}, {1024, 1}},
    {View::kBroadcast, "rows 512x1024", {512, 1024}, {0, 1}},
    {View::kBroadcast, "columns 512x1024", {512, 1024}, {1, 0}},
    {View::kTransposed, "299x1283", {299, 1283}, {1, 299}},
    {View::kNarrowed, "1000x777 of 1554", {1000, 777}, {1554, 1}},
    {View::kPermuted, "8x224x224x3 channels first", {8, 224, 224, 3}, {150528, 224, 1, 50176}},
    {View::kPermuted, "2x197x12x64", {2, 12, 197, 64}, {151296, 64, 768, 1}},
    {View::kTransposed, "50257x8", {50257, 8}, {1, 50257}},
    {View::kNarrowed, "128x4097 of 8194", {128, 4097}, {8194, 1}},
};
const Shape kLargeViews[] = {
    {View::kTransposed, "8192x8192", {8192, 8192}, {1, 8192}},
    {View::kPermuted, "8x1024x32x128", {8, 32, 1024, 128}, {4194304, 128, 4096, 1}},
    {View::kNarrowed, "32x512x2048 of 4096", {32, 512, 2048}, {2097152, 4096, 1}},
    {View::kBroadcast, "rows 8192x8192", {8192, 8192}, {0, 1}},
    {View::kTransposed, "4096x4096", {4096, 4096}, {1, 4096}},
    {View::kTransposed, "4099x4097", {4099, 4097}, {1, 4099}},
    {View::kNarrowed, "4099x4097 of 8194", {4099, 4097}, {8194, 1}},
};

// The strided operand of the family has this view; the operands before and after it are contiguous.
BenchCase view_case(const std::string& kernel, const Shape& shape) {
  BenchCase subject;
  subject.kernel = kernel;
  subject.dims = shape.dims;
  subject.strides.assign(traits_of(kernel)->strided, ops::strides_of({shape.dims}));
  subject.strides.push_back(shape.strides);
  subject.view = shape.view;
  subject.shape = std::string(name(shape.view)) + " " + shape.name;
  return subject;
}

bool only_moves(const KernelTraits& traits) { return traits.cost == Cost::kMove; }

// Returns the rank of a kernel as a representative; lower is preferred. First come the kernels that
// language models run most, then the names that sort first.
std::size_t rank_of(const std::string& kernel) {
  static constexpr std::string_view kPreferred[] = {"ugelu_f", "ugelu_",  "uneg_f",  "uneg_",
                                                    "upowf_f", "a_u32_f", "s_u32_f", "r_u32_f",
                                                    "_f32",    "_f16"};
  for (std::size_t i = 0; i < std::size(kPreferred); ++i) {
    if (kernel.find(kPreferred[i]) != std::string::npos) return i;
  }
  return std::size(kPreferred);
}

// Returns one kernel for each family, cost, number of scalars and size of its widest elements other
// than ids.
std::vector<std::string> representatives(const std::vector<std::string>& kernels) {
  std::map<std::tuple<std::string_view, Cost, std::size_t, std::size_t>, std::string> chosen;
  for (const std::string& kernel : kernels) {
    const auto traits = traits_of(kernel);
    const auto subject = sized_case(kernel, 4096);
    if (!traits || !subject) continue;
    const auto operands = operands_of(*subject);
    std::size_t size = size_of(operands->output.dtype);
    for (const Operand& input : operands->inputs) {
      if (input.below == 0) size = std::max(size, size_of(input.dtype));
    }
    std::string& current = chosen[{traits->family, traits->cost, traits->scalars, size}];
    if (current.empty() || rank_of(kernel) < rank_of(current)) current = kernel;
  }
  std::vector<std::string> list;
  for (const auto& [group, kernel] : chosen) list.push_back(kernel);
  return list;
}

class List {
 public:
  void add(BenchCase subject) {
    if (names_.insert(subject.name()).second) cases_.push_back(std::move(subject));
  }
  // Omits views that would write an element more than once, and views that the kernel does not
  // accept.
  template <std::size_t N>
  void add_views(const std::string& kernel, const Shape (&shapes)[N]) {
    for (const Shape& shape : shapes) {
      BenchCase subject = view_case(kernel, shape);
      const auto operands = operands_of(subject);
      if (!operands || (shape.view == View::kBroadcast && operands->inputs.empty())) continue;
      const Addresses nowhere{std::vector<const void*>(operands->inputs.size()), nullptr};
      if (!plan_ours(subject, nowhere, ops::Geometry::kOwn)) continue;
      add(std::move(subject));
    }
  }
  void add_shapes(const std::string& kernel, const std::vector<ops::Extents>& shapes) {
    for (const ops::Extents& dims : shapes) {
      BenchCase subject = contiguous_case(kernel, 1);
      subject.dims = dims;
      subject.shape = dims_name(dims);
      add(std::move(subject));
    }
  }
  void add_sized(const std::string& kernel, std::size_t count, DataKind kind = DataKind::kUniform) {
    if (auto subject = sized_case(kernel, count, kind)) add(std::move(*subject));
  }
  // Sorts cases that share dtype and kind together, because the inputs are rewritten for each dtype
  // and kind.
  std::vector<BenchCase> sorted() && {
    std::stable_sort(cases_.begin(), cases_.end(), [](const BenchCase& a, const BenchCase& b) {
      const auto key = [](const BenchCase& subject) {
        const auto traits = traits_of(subject.kernel);
        return std::tuple(traits ? traits->dtype : ops::DType::kU8, subject.kind);
      };
      return key(a) < key(b);
    });
    return std::move(cases_);
  }

 private:
  std::vector<BenchCase> cases_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<BenchCase> full_list(const std::vector<std::string>& kernels) {
  List list;
  for (const std::string& kernel : kernels) {
    list.add_sized(kernel, 4096);
    list.add_sized(kernel, std::size_t{1} << 22);
    list.add_shapes(kernel, traits_of(kernel)->own_shapes);
  }
  for (const std::string& kernel : representatives(kernels)) {
    const KernelTraits traits = *traits_of(kernel);
    if (traits.is_for_views) continue;
    for (std::size_t count = 1; count <= traits.max_count; count *= 4) {
      list.add_sized(kernel, count);
    }
    for (const std::size_t count : kUnevenCounts) list.add_sized(kernel, count);
    for (std::size_t count = kMinForEachKind; traits.data_matters && count <= traits.max_count;
         count *= 16) {
      for (const DataKind kind : kDataKinds) list.add_sized(kernel, count, kind);
    }
    list.add_shapes(kernel, traits.shapes);
    if (!traits.has_views) continue;
    list.add_views(kernel, kSmallViews);
    if (only_moves(traits) || size_of(traits.dtype) == 4) list.add_views(kernel, kLargeViews);
  }
  return std::move(list).sorted();
}

std::vector<BenchCase> quick_list(const std::vector<std::string>& kernels) {
  const auto built = [&](std::initializer_list<const char*> names) {
    std::vector<std::string> found;
    for (const char* each : names) {
      if (std::find(kernels.begin(), kernels.end(), each) != kernels.end()) found.push_back(each);
    }
    return found;
  };
  List list;
  for (const std::string& kernel :
       built({"affine_f32", "uneg_f32",  "ucopy_u8",      "ucopy_f16",     "ucopy_f32",
              "ucopy_i64",  "ugelu_f32", "ugelu_f16",     "ugelu_bf16",    "usilu_bf16",
              "upowf_f32",  "uexp_f32",  "const_set_f32", "const_set_f16", "copy2d_f32",
              "copy2d_f16", "copy2d_u8", "cast_f32_bf16", "cast_bf16_f32", "cast_f32_u8",
              "badd_f32",   "badd_bf16", "lt_f32",        "where_u8_f32"})) {
    for (const unsigned shift : {0, 12, 17, 20, 24, 27}) {
      list.add_sized(kernel, std::size_t{1} << shift);
    }
  }
  for (const std::string& kernel :
       built({"ucopy_u8", "ucopy_f16", "ucopy_f32", "ucopy_i64", "badd_f32", "cast_f32_bf16"})) {
    list.add_views(kernel, kSmallViews);
    list.add_views(kernel, kLargeViews);
  }
  for (const std::string& kernel : built({"ugelu_f32", "const_set_f32", "where_u8_f32"})) {
    list.add(view_case(kernel, kSmallViews[0]));
    list.add(view_case(kernel, kLargeViews[0]));
  }
  for (const std::string& kernel :
       built({"softmax_f32", "softmax_bf16", "fast_sum_f32", "fast_sum_bf16", "fast_argmax_f32"})) {
    list.add_shapes(kernel, traits_of(kernel)->shapes);
  }
  for (const std::string& kernel :
       built({"dequantize_block_q4_0_f32", "mul_mat_vec_q4_K_q8_1_cuda1",
              "mul_mat_vec_q6_K_q8_1_cuda8", "mul_mat_q8_0"})) {
    list.add_shapes(kernel, traits_of(kernel)->own_shapes);
  }
  for (const std::string& kernel : built({"upowf_f32", "ugelu_f32", "usilu_bf16"})) {
    list.add_sized(kernel, std::size_t{1} << 27, DataKind::kNormal);
    list.add_sized(kernel, std::size_t{1} << 27, DataKind::kSpecial);
  }
  return std::move(list).sorted();
}

}  // namespace kiln::bench
