#include "tests/bench/families.hpp"

#include <algorithm>
#include <bit>

#include "base/diagnostic.hpp"
#include "tests/bench/family_rows.hpp"
#include "tests/kernels/views.hpp"

namespace kiln::bench {
namespace {

const std::vector<Family>& families() {
  static const std::vector<Family> list = [] {
    std::vector<Family> all;
    for (auto rows :
         {map_families(), memory_families(), row_families(), norm_families(), index_families(),
          window_families(), fused_families(), quantized_families()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return list;
}

struct FamilyKernel {
  const Family* family;
  Kernel kernel;
};
Result<FamilyKernel> find(std::string_view kernel) {
  for (const Kernel& own : ops::kOwnKernels) {
    if (own.name != kernel) continue;
    for (const Family& family : families()) {
      if (family.name == own.family && family.scalars.size() == own.scalars &&
          (family.root.empty() || family.root == own.root)) {
        return FamilyKernel{&family, own};
      }
    }
  }
  return Error{ErrorCode::kInvalidInput,
               "the benchmark does not know how to launch '" + std::string(kernel) + "'",
               {},
               {}};
}

bool has_original(const Family& family) {
  return !family.original.empty() || family.launch_original != nullptr;
}

// Returns the name of the original that does the same.
std::string original_name(const FamilyKernel& found) {
  const std::string name(found.kernel.name);
  const std::string_view root = found.family->original_root;
  return root.empty() ? name : std::string(root) + name.substr(found.kernel.root.size());
}

BenchCase with_scalars(BenchCase subject, const Family& family) {
  if (subject.scalars.empty()) subject.scalars = family.scalars;
  return subject;
}

ops::Argument in_32_bits(std::size_t value) {
  return ops::Argument::of(static_cast<std::uint32_t>(value));
}

ops::Argument argument(const Parameter& parameter, const Kernel& kernel, const BenchCase& subject,
                       const Addresses& addresses, const ops::Launch& launch) {
  const std::size_t i = parameter.index;
  switch (parameter.role) {
    case Role::kCount: return ops::Argument::of(subject.count());
    case Role::kRank: return ops::Argument::of(subject.dims.rank());
    case Role::kInfo: return ops::Argument::null();
    case Role::kInput: return ops::Argument::of(addresses.inputs[i]);
    case Role::kOutput: return ops::Argument::of(addresses.output);
    case Role::kScalar: return ops::Argument::of(scalar_of(kernel, subject, i));
    case Role::kColumns: return ops::Argument::of(subject.dims[subject.dims.rank() - 1]);
    case Role::kColumns32: return in_32_bits(subject.dims[subject.dims.rank() - 1]);
    case Role::kPaddedColumns32: return in_32_bits(std::bit_ceil(subject.dims[subject.dims.rank() - 1]));
    case Role::kProduct32: return in_32_bits(subject.dims[i] * subject.dims[i + 1]);
    case Role::kBlock32: return in_32_bits(launch.block.x);
    case Role::kEpsilon: return ops::Argument::of(1e-5f);
    case Role::kOne: return ops::Argument::of(std::uint64_t{1});
    case Role::kZero32: return in_32_bits(0);
    case Role::kDim32: return in_32_bits(subject.dims[i]);
    case Role::kRowStride32: return in_32_bits(ops::strides_of(layout_of(subject, i))[0]);
  }
  return ops::Argument::null();
}

// Returns the dims, then the strides of each operand. Empty if the original's host passes null.
std::vector<std::size_t> info_block(const Family& family, const BenchCase& subject) {
  bool contiguous = true;
  std::vector<std::size_t> block(subject.dims.begin(), subject.dims.end());
  for (std::size_t list = 0; list < family.views; ++list) {
    const ops::Layout layout = layout_of(subject, list);
    contiguous = contiguous && ops::is_contiguous(layout);
    const ops::Extents strides = ops::strides_of(layout);
    block.insert(block.end(), strides.begin(), strides.end());
  }
  if (contiguous && !family.always_info) block.clear();
  if (family.sums_last) block.insert(block.end(), {subject.dims[subject.dims.rank() - 1], 1});
  return block;
}

// Counts elements with distinct places: a dim of stride 0 repeats them.
std::size_t distinct_elements(const ops::Layout& layout) {
  const ops::Extents strides = ops::strides_of(layout);
  std::size_t product = 1;
  for (std::size_t i = 0; i < layout.dims.rank(); ++i) {
    if (strides[i] != 0) product *= layout.dims[i];
  }
  return product;
}

}  // namespace

ops::Layout layout_of(const BenchCase& subject, std::size_t list) {
  if (list >= subject.strides.size()) return {subject.dims};
  return {subject.dims, subject.strides[list]};
}

ops::Scalar scalar_of(const Kernel& kernel, const BenchCase& subject, std::size_t i) {
  return ops::Scalar::from(kernel.dtype, i < subject.scalars.size() ? subject.scalars[i] : 0);
}

std::size_t Operand::bytes() const { return conformance::extent_of(layout) * size_of(dtype); }
std::size_t Operand::touched() const {
  return (used != kAll ? used : distinct_elements(layout)) * size_of(dtype);
}
std::size_t Operand::unit() const { return blocks.empty() ? size_of(dtype) : block_bytes(blocks); }

std::vector<std::byte> content_of(const Operand& operand, DataKind kind, std::size_t count) {
  if (!operand.blocks.empty()) {
    return blocks_of(operand.blocks, std::max<std::size_t>(1, count / operand.unit()));
  }
  if (operand.below != 0) {
    return numbers_below(operand.below, operand.dtype, count, operand.numbers);
  }
  return values_of(operand.dtype, kind, count);
}

double Operands::min_bytes() const {
  std::size_t bytes = output.touched();
  for (const Operand& input : inputs) bytes += input.touched();
  return static_cast<double>(bytes);
}

bool Operands::is_contiguous() const {
  const auto contiguous = [](const Operand& operand) { return ops::is_contiguous(operand.layout); };
  return contiguous(output) && std::all_of(inputs.begin(), inputs.end(), contiguous);
}

Result<KernelTraits> traits_of(std::string_view name) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(name));
  const Family& family = *found.family;
  return KernelTraits{
      .module = found.kernel.module,
      .family = family.name,
      .dtype = found.kernel.first,
      .cost = found.kernel.cost,
      .bound = family.bound_of != nullptr ? family.bound_of(found.kernel) : family.bound,
      .data_matters = family.data_matters && found.kernel.cost != Cost::kMove,
      .max_count = family.max_count,
      .scalars = family.scalars.size(),
      .is_for_views = family.is_for_views,
      .has_views = family.views != 0,
      .strided = family.strided,
      .shapes = family.shapes,
      .own_shapes = family.shapes_of != nullptr ? family.shapes_of(found.kernel)
                                                : std::vector<ops::Extents>(),
      .has_step_before = family.before != nullptr,
      .is_planned = family.plan != nullptr,
      .has_original = has_original(family),
      .stands_for_original = !family.original_root.empty()};
}

Result<BenchCase> sized_case(std::string_view name, std::size_t count, DataKind kind) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(name));
  BenchCase subject = found.family->sized == nullptr
                          ? contiguous_case(std::string(name), count)
                          : found.family->sized(std::string(name), count);
  subject.kind = kind;
  return subject;
}

Result<Operands> operands_of(const BenchCase& subject) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(subject.kernel));
  return found.family->operands(found.kernel, subject);
}

Result<ops::Launch> plan_ours(const BenchCase& requested, const Addresses& addresses,
                              ops::Geometry geometry) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(requested.kernel));
  const BenchCase subject = with_scalars(requested, *found.family);
  if (found.family->plan == nullptr) {
    return Error{ErrorCode::kUnavailable,
                 "our helpers plan no launch of '" + requested.kernel + "' for the benchmark",
                 {},
                 {}};
  }
  return found.family->plan(found.kernel, subject, addresses, geometry);
}

Result<std::optional<ops::Launch>> plan_first(const BenchCase& subject,
                                              const Addresses& addresses) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(subject.kernel));
  if (found.family->first == nullptr) return std::optional<ops::Launch>();
  return found.family->first(subject, addresses);
}

Result<std::optional<ops::Launch>> plan_before(const BenchCase& subject,
                                               const Addresses& addresses) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(subject.kernel));
  if (found.family->before == nullptr) return std::optional<ops::Launch>();
  KILN_TRY_ASSIGN(ops::Launch launch, found.family->before(found.kernel, subject, addresses));
  return std::optional<ops::Launch>(std::move(launch));
}

Result<bool> is_chosen(const BenchCase& subject, const Addresses& addresses) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(subject.kernel));
  if (!found.family->is_choice) return true;
  BenchCase by_helpers = subject;
  by_helpers.kernel = original_name(found);
  KILN_TRY_ASSIGN(const ops::Launch launch,
                  plan_ours(by_helpers, addresses, ops::Geometry::kOwn));
  return launch.kernel == subject.kernel;
}

Result<ops::Launch> plan_original(const BenchCase& requested, const Addresses& addresses) {
  KILN_TRY_ASSIGN(const FamilyKernel found, find(requested.kernel));
  const Family& family = *found.family;
  if (!has_original(family)) {
    return Error{
        ErrorCode::kUnavailable, "'" + requested.kernel + "' is a name of our own", {}, {}};
  }
  const BenchCase subject = with_scalars(requested, family);
  ops::Launch launch;
  launch.module = found.kernel.module;
  launch.kernel = original_name(found);
  launch.block = {1024, 1, 1};
  launch.grid = {static_cast<std::uint32_t>((subject.count() + 1023) / 1024), 1, 1};
  if (family.launch_original != nullptr) {
    family.launch_original(subject, addresses, launch);
    return launch;
  }
  if (family.original_grid != nullptr) family.original_grid(subject, launch);
  for (const Parameter& parameter : family.original) {
    if (parameter.role == Role::kInfo) {
      const std::vector<std::size_t> block = info_block(family, subject);
      launch.layout.assign(block.begin(), block.end());
      launch.layout_argument = launch.arguments.size();
    }
    launch.arguments.push_back(argument(parameter, found.kernel, subject, addresses, launch));
  }
  return launch;
}

}  // namespace kiln::bench
