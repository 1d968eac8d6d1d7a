#include "tests/bench/shapes.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "tests/bench/families.hpp"

namespace kiln::bench {
namespace {

constexpr std::size_t kMaxDims = 8;
constexpr std::size_t kMaxElements = std::size_t{1} << 40;

Error bad_input(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
}

// Parses "77" or "2^20". The size must be at least 1 and at most kMaxElements.
std::optional<std::size_t> parse_size(std::string_view text) {
  const bool is_power = text.substr(0, 2) == "2^";
  std::optional<std::size_t> size = parse_integer<std::size_t>(is_power ? text.substr(2) : text);
  if (size && is_power) size = *size <= 40 ? std::size_t{1} << *size : 0;
  if (!size || *size == 0 || *size > kMaxElements) return std::nullopt;
  return size;
}

// Returns the row-major strides of `dims` after swapping dims `a` and `b` in memory.
ops::Extents strides_with_swapped(ops::Extents dims, std::size_t a, std::size_t b) {
  std::swap(dims[a], dims[b]);
  ops::Extents strides = ops::strides_of({dims});
  std::swap(strides[a], strides[b]);
  return strides;
}

// Returns nothing if there are too few dims for the view.
std::optional<ops::Extents> strides_of_view(const ops::Extents& dims, View view) {
  const std::size_t rank = dims.rank();
  switch (view) {
    case View::kContiguous: return ops::strides_of({dims});
    case View::kTransposed:
      if (rank < 2) return std::nullopt;
      return strides_with_swapped(dims, rank - 1, rank - 2);
    case View::kPermuted:
      if (rank < 3) return std::nullopt;
      return strides_with_swapped(dims, rank - 2, rank - 3);
    case View::kNarrowed: {
      ops::Extents stored = dims;
      stored[rank - 1] *= 2;
      return ops::strides_of({stored});
    }
    case View::kBroadcast: {
      if (rank < 2) return std::nullopt;
      ops::Extents strides = ops::strides_of({dims});
      for (std::size_t i = 0; i + 1 < rank; ++i) strides[i] = 0;
      return strides;
    }
  }
  return std::nullopt;
}

// True if the family accepts dims of this rank. A family with a fixed rank uses it in the cases of
// its list.
bool takes_rank(const std::string& kernel, const KernelTraits& traits, std::size_t rank) {
  if (traits.has_views) return true;
  const auto usual = sized_case(kernel, 4096);
  return usual && usual->dims.rank() == rank;
}

}  // namespace

Result<ops::Extents> parse_dims(std::string_view text) {
  const auto bad = [&] {
    return bad_input("bad shape '" + std::string(text) + "', expected 1 to " +
                     std::to_string(kMaxDims) +
                     " sizes and at most 2^40 elements, like 1000x77 or 2^20");
  };
  std::size_t dims[kMaxDims], rank = 0, elements = 1;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find('x');
    const std::optional<std::size_t> size = parse_size(rest.substr(0, end));
    if (!size || rank == kMaxDims || *size > kMaxElements / elements) return bad();
    elements *= *size;
    dims[rank++] = *size;
    if (end == std::string_view::npos) return ops::Extents(dims, rank);
    rest.remove_prefix(end + 1);
  }
}

Result<Windows> parse_windows(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() == 4) {
    const auto channels = parse_size(parts[0]), size = parse_size(parts[1]);
    const auto stride = parse_size(parts[2]);
    const auto padding = parts[3] == "0" ? std::size_t{0} : parse_size(parts[3]);
    if (channels && size && stride && padding) return Windows{*channels, *size, *stride, *padding};
  }
  return bad_input("bad windows '" + std::string(text) +
                   "', expected output channels, size, stride and padding, like 64,3,1,1");
}

Result<View> parse_view(std::string_view text) {
  for (const View view :
       {View::kContiguous, View::kTransposed, View::kPermuted, View::kNarrowed, View::kBroadcast}) {
    if (text == name(view)) return view;
  }
  return bad_input("bad view '" + std::string(text) +
                   "', expected contiguous, transposed, permuted, narrowed or broadcast");
}

Result<DataKind> parse_kind(std::string_view text) {
  for (const DataKind kind : kDataKinds) {
    if (text == name(kind)) return kind;
  }
  return bad_input("bad kind of data '" + std::string(text) +
                   "', expected uniform, normal, negative or special");
}

std::vector<BenchCase> cases_of_shape(const std::vector<std::string>& kernels,
                                      const ops::Extents& dims, View view, DataKind kind) {
  const std::optional<ops::Extents> strides = strides_of_view(dims, view);
  if (!strides) return {};
  const std::string shape =
      (view == View::kContiguous ? "" : std::string(name(view)) + " ") + dims_name(dims);
  std::vector<BenchCase> cases;
  for (const std::string& kernel : kernels) {
    const auto traits = traits_of(kernel);
    if (!traits || !takes_rank(kernel, *traits, dims.rank())) continue;
    BenchCase subject = contiguous_case(kernel, 1, kind);
    subject.dims = dims;
    subject.shape = shape;
    subject.view = view;
    if (view != View::kContiguous) {
      if (!traits->has_views) continue;
      subject.strides.assign(traits->strided, ops::strides_of({dims}));
      subject.strides.push_back(*strides);
    }
    const auto operands = operands_of(subject);
    // A repeated element of the output would be written more than once.
    if (!operands || (view == View::kBroadcast && operands->inputs.empty())) continue;
    cases.push_back(std::move(subject));
  }
  return cases;
}

}  // namespace kiln::bench
