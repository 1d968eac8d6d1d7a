#include "tests/bench/families.hpp"

#include <algorithm>

#include "base/diagnostic.hpp"
#include "kiln/ops/affine.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/unary.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/map_cases.hpp"

namespace kiln::bench {
namespace {

// What a parameter of an original kernel holds.
enum class Role : unsigned char {
  kCount,        // elements, in 64 bits
  kRank,         // dims of the layout block; 1 where there is none
  kInfo,         // the layout block: dims, then each stride list; null when all is contiguous
  kInput,        // the address of input `index`
  kOutput,       // the address of the output
  kScalar,       // scalar `index`, of the kernel's dtype
  kDim32,        // dim `index`, in 32 bits
  kRowStride32,  // how far apart rows are by stride list `index`, in 32 bits
};
struct Parameter {
  Role role;
  std::size_t index = 0;
};

struct Kernel {
  std::string_view root;
  ops::DType dtype;
};

struct Family {
  std::string_view name;
  std::string_view module;
  bool (*has)(std::string_view root);
  Cost (*cost)(const Kernel& kernel);
  std::vector<double> scalars;  // to measure with, where a case names none
  bool has_views;
  Operands (*operands)(const Kernel& kernel, const BenchCase& subject);
  Result<ops::Launch> (*plan)(const Kernel& kernel, const BenchCase& subject,
                              const Addresses& addresses, ops::Geometry geometry);
  std::vector<Parameter> original;
  // Null: blocks of 1024 threads, one element a thread.
  void (*original_grid)(const BenchCase& subject, ops::Launch& launch) = nullptr;
  // Null: a contiguous case.
  BenchCase (*sized)(std::string kernel, std::size_t count) = nullptr;
};

ops::Layout layout_of(const BenchCase& subject, std::size_t list) {
  if (list >= subject.strides.size()) return {subject.dims};
  return {subject.dims, subject.strides[list]};
}

ops::Scalar scalar_of(const Kernel& kernel, const BenchCase& subject, std::size_t i) {
  return ops::Scalar::from(kernel.dtype, i < subject.scalars.size() ? subject.scalars[i] : 0);
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// --- unary

const ops::UnaryOpInfo* unary_op(std::string_view root) {
  for (const ops::UnaryOpInfo& op : ops::kUnaryOps) {
    if (root.substr(0, 1) == "u" && root.substr(1) == op.name) return &op;
  }
  return nullptr;
}

Cost unary_cost(const Kernel& kernel) {
  static constexpr std::string_view kShort[] = {"uabs",  "uceil",  "ufloor", "uneg",
                                                "urelu", "uround", "usign",  "usqr"};
  if (kernel.root == "ucopy") return Cost::kMove;
  if (kernel.root == "upowf") return Cost::kLong;
  return is_one_of(kernel.root, kShort) ? Cost::kShort : Cost::kFunction;
}

Operands map_operands(const Kernel& kernel, const BenchCase& subject) {
  return {{{kernel.dtype, layout_of(subject, 0)}}, {kernel.dtype, {subject.dims}}};
}

Result<ops::Launch> plan_unary(const Kernel& kernel, const BenchCase& subject,
                               const Addresses& addresses, ops::Geometry geometry) {
  return plan(ops::Unary{unary_op(kernel.root)->op, kernel.dtype, layout_of(subject, 0),
                         addresses.inputs[0], addresses.output, scalar_of(kernel, subject, 0),
                         geometry});
}

// --- copy2d

// A square, or two of them, into the left half of a matrix twice as wide.
BenchCase rows_of_wider(std::string kernel, std::size_t count) {
  std::size_t columns = 1;
  while (columns * columns < count) columns *= 2;
  const std::size_t rows = std::max<std::size_t>(count / columns, 1);
  BenchCase subject = contiguous_case(std::move(kernel), count);
  subject.dims = {rows, columns};
  subject.strides = {{columns, 1}, {2 * columns, 1}};
  return subject;
}

// --- the table

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"affine",
       "affine",
       [](std::string_view root) { return root == "affine"; },
       [](const Kernel&) { return Cost::kShort; },
       {1.7, 0.3},
       true,
       map_operands,
       [](const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
          ops::Geometry geometry) {
         return plan(ops::Affine{kernel.dtype, layout_of(subject, 0), addresses.inputs[0],
                                 addresses.output, scalar_of(kernel, subject, 0),
                                 scalar_of(kernel, subject, 1), geometry});
       },
       {{Role::kCount},
        {Role::kRank},
        {Role::kInfo},
        {Role::kInput},
        {Role::kOutput},
        {Role::kScalar, 0},
        {Role::kScalar, 1}},
       nullptr},

      {"unary",
       "unary",
       [](std::string_view root) {
         const ops::UnaryOpInfo* op = unary_op(root);
         return op != nullptr && !op->has_parameter;
       },
       unary_cost,
       {},
       true,
       map_operands,
       plan_unary,
       {{Role::kCount}, {Role::kRank}, {Role::kInfo}, {Role::kInput}, {Role::kOutput}},
       nullptr},

      {"unary with a parameter",
       "unary",
       [](std::string_view root) {
         const ops::UnaryOpInfo* op = unary_op(root);
         return op != nullptr && op->has_parameter;
       },
       unary_cost,
       {2.3},
       true,
       map_operands,
       plan_unary,
       {{Role::kCount},
        {Role::kRank},
        {Role::kInfo},
        {Role::kScalar},
        {Role::kInput},
        {Role::kOutput}},
       nullptr},

      {"fill",
       "fill",
       [](std::string_view root) { return root == "fill"; },
       [](const Kernel&) { return Cost::kMove; },
       {1.5},
       false,
       [](const Kernel& kernel, const BenchCase& subject) {
         return Operands{{}, {kernel.dtype, {subject.dims}}};
       },
       [](const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
          ops::Geometry geometry) {
         return plan(
             ops::Fill{scalar_of(kernel, subject, 0), subject.count(), addresses.output, geometry});
       },
       {{Role::kOutput}, {Role::kScalar}, {Role::kCount}},
       nullptr},

      {"const_set",
       "fill",
       [](std::string_view root) { return root == "const_set"; },
       [](const Kernel&) { return Cost::kMove; },
       {1.5},
       true,
       [](const Kernel& kernel, const BenchCase& subject) {
         return Operands{{}, {kernel.dtype, layout_of(subject, 0)}};
       },
       [](const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
          ops::Geometry geometry) {
         return plan(ops::ConstSet{scalar_of(kernel, subject, 0), layout_of(subject, 0),
                                   addresses.output, geometry});
       },
       {{Role::kCount}, {Role::kRank}, {Role::kInfo}, {Role::kScalar}, {Role::kOutput}},
       nullptr},

      // Dims are rows and columns; the first stride list is the input's, the second the output's.
      {"copy2d",
       "fill",
       [](std::string_view root) { return root == "copy2d"; },
       [](const Kernel&) { return Cost::kMove; },
       {},
       false,
       [](const Kernel& kernel, const BenchCase& subject) {
         return Operands{{{kernel.dtype, layout_of(subject, 0)}},
                         {kernel.dtype, layout_of(subject, 1)}};
       },
       [](const Kernel& kernel, const BenchCase& subject, const Addresses& addresses,
          ops::Geometry geometry) {
         const auto part = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
         return plan(ops::Copy2d{kernel.dtype, part(subject.dims[0]), part(subject.dims[1]),
                                 part(ops::strides_of(layout_of(subject, 0))[0]),
                                 part(ops::strides_of(layout_of(subject, 1))[0]),
                                 addresses.inputs[0], addresses.output, geometry});
       },
       {{Role::kInput},
        {Role::kOutput},
        {Role::kDim32, 0},
        {Role::kDim32, 1},
        {Role::kRowStride32, 0},
        {Role::kRowStride32, 1}},
       nullptr,
       rows_of_wider},
  };
  return list;
}

struct Found {
  const Family* family;
  Kernel kernel;
};
Result<Found> find(std::string_view kernel) {
  if (const auto parts = conformance::split_dtype(kernel)) {
    for (const Family& family : families()) {
      if (family.has(parts->root)) return Found{&family, {parts->root, parts->dtype}};
    }
  }
  return Error{ErrorCode::kInvalidInput,
               "the benchmark does not know how to launch '" + std::string(kernel) + "'",
               {},
               {}};
}

BenchCase with_scalars(BenchCase subject, const Family& family) {
  if (subject.scalars.empty()) subject.scalars = family.scalars;
  return subject;
}

ops::Argument argument(const Parameter& parameter, const Kernel& kernel, const BenchCase& subject,
                       const Addresses& addresses) {
  switch (parameter.role) {
    case Role::kCount: return ops::Argument::of(subject.count());
    case Role::kRank: return ops::Argument::of(subject.dims.rank());
    case Role::kInfo: return ops::Argument::null();
    case Role::kInput: return ops::Argument::of(addresses.inputs[parameter.index]);
    case Role::kOutput: return ops::Argument::of(addresses.output);
    case Role::kScalar: return ops::Argument::of(scalar_of(kernel, subject, parameter.index));
    case Role::kDim32:
      return ops::Argument::of(static_cast<std::uint32_t>(subject.dims[parameter.index]));
    case Role::kRowStride32:
      return ops::Argument::of(
          static_cast<std::uint32_t>(ops::strides_of(layout_of(subject, parameter.index))[0]));
  }
  return ops::Argument::null();
}

// Of elements that have a place of their own: a dim of stride 0 repeats them.
std::size_t distinct_elements(const ops::Layout& layout) {
  const ops::Extents strides = ops::strides_of(layout);
  std::size_t product = 1;
  for (std::size_t i = 0; i < layout.dims.rank(); ++i) {
    if (strides[i] != 0) product *= layout.dims[i];
  }
  return product;
}

}  // namespace

std::string_view name(Cost cost) {
  static constexpr std::string_view kNames[] = {"move", "short", "function", "long"};
  return kNames[static_cast<std::size_t>(cost)];
}

std::size_t Operand::bytes() const { return conformance::extent_of(layout) * size_of(dtype); }
std::size_t Operand::touched() const { return distinct_elements(layout) * size_of(dtype); }

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
  KILN_TRY_ASSIGN(const Found found, find(name));
  return KernelTraits{found.family->module, found.family->name, found.kernel.dtype,
                      found.family->cost(found.kernel), found.family->has_views};
}

Result<BenchCase> sized_case(std::string_view name, std::size_t count, DataKind kind) {
  KILN_TRY_ASSIGN(const Found found, find(name));
  BenchCase subject = found.family->sized == nullptr
                          ? contiguous_case(std::string(name), count)
                          : found.family->sized(std::string(name), count);
  subject.kind = kind;
  return subject;
}

Result<Operands> operands_of(const BenchCase& subject) {
  KILN_TRY_ASSIGN(const Found found, find(subject.kernel));
  return found.family->operands(found.kernel, subject);
}

Result<ops::Launch> plan_ours(const BenchCase& given, const Addresses& addresses,
                              ops::Geometry geometry) {
  KILN_TRY_ASSIGN(const Found found, find(given.kernel));
  const BenchCase subject = with_scalars(given, *found.family);
  return found.family->plan(found.kernel, subject, addresses, geometry);
}

Result<ops::Launch> plan_original(const BenchCase& given, const Addresses& addresses) {
  KILN_TRY_ASSIGN(const Found found, find(given.kernel));
  const Family& family = *found.family;
  const BenchCase subject = with_scalars(given, family);
  ops::Launch launch;
  launch.module = family.module;
  launch.kernel = subject.kernel;
  if (family.original_grid != nullptr) {
    family.original_grid(subject, launch);
  } else {
    launch.block = {1024, 1, 1};
    launch.grid = {static_cast<std::uint32_t>((subject.count() + 1023) / 1024), 1, 1};
  }
  for (std::size_t i = 0; i < family.original.size(); ++i) {
    launch.arguments.push_back(argument(family.original[i], found.kernel, subject, addresses));
    if (family.original[i].role != Role::kInfo) continue;
    bool contiguous = true;
    for (std::size_t list = 0; list < subject.strides.size(); ++list) {
      contiguous = contiguous && ops::is_contiguous(layout_of(subject, list));
    }
    if (contiguous) continue;
    launch.layout_argument = i;
    launch.layout.assign(subject.dims.begin(), subject.dims.end());
    for (const ops::Extents& strides : subject.strides) {
      launch.layout.insert(launch.layout.end(), strides.begin(), strides.end());
    }
  }
  return launch;
}

}  // namespace kiln::bench
