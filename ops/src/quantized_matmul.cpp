#include "kiln/ops/quantized_matmul.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/diagnostic.hpp"
#include "kernels/tuning/half_products.hpp"
#include "kernels/tuning/quantized.hpp"
#include "kernels/tuning/workspace.hpp"
#include "quantized_plan.hpp"

namespace kiln::ops {
namespace {

// True for formats with fused kernels, whose names are kiln's own. is_of_abi() is true for those
// formats that also have the reference's kernels for many vectors.
bool is_fused(BlockFormat format) { return kFusedVector.has(format); }
bool is_of_abi(BlockFormat format) {
  switch (format) {
#define KILN_ROW(format, ...) case BlockFormat::k##format:
    KILN_EACH_MUL_MAT(KILN_ROW)
#undef KILN_ROW
    return true;
    default: return false;
  }
}

// An operand: an address of the caller's, or an offset from the beginning of the workspace.
struct Place {
  const void* address = nullptr;
  std::size_t offset = 0;  // 0: `address` is used

  void* writable() const { return const_cast<void*>(address); }
  Place behind(std::size_t bytes) const {
    if (offset != 0) return {nullptr, offset + bytes};
    return {static_cast<const std::byte*>(address) + bytes, 0};
  }
};

// Describes the product with one matrix of the call.
template <typename Call>
Call product_of(const QuantizedMatmul& call, const void* weights) {
  Call product;
  product.format = call.format;
  product.rows = call.rows;
  product.columns = call.columns;
  product.weights = weights;
  return product;
}

// A string literal: `what` with the name of a dtype of results.
#define KILN_AS(dtype, what)                   \
  ((dtype) == DType::kF16    ? what " as f16"  \
   : (dtype) == DType::kBF16 ? what " as bf16" \
                             : what " as f32")

class Planner {
 public:
  Planner(const QuantizedMatmul& call, const Gpu& gpu) : call_(call), gpu_(gpu) {}

  Result<LaunchSequence> run() {
    KILN_TRY(check());
    constexpr std::size_t kUsual = 5;
    made_.launches.reserve(kUsual);
    if (call_.experts != 0) {
      if (!is_fused(call_.format)) {
        KILN_TRY(tasks_of_abi());
      } else if (tasks() < tuning::kSortedTasksOfExpert * call_.experts) {
        KILN_TRY(vectors_of_tasks());
      } else {
        KILN_TRY(sorted_tasks());
      }
    } else if (is_fused(call_.format) && call_.vectors <= max_alone()) {
      KILN_TRY(vectors_of_tasks());
    } else {
      KILN_TRY(products());
    }
    for (Launch& launch : made_.launches) {
      if (!launch.workspace_parts.empty()) launch.workspace_bytes = end_;
    }
    return std::move(made_);
  }

 private:
  // Returns an error unless all sizes that are computed from the call can be counted.
  Result<void> check() const {
    KILN_TRY(element_count({{call_.vectors, call_.slots}}));
    KILN_TRY(parameter("vectors", tasks()));
    KILN_TRY(parameter("experts", call_.experts));
    KILN_TRY(element_count({{std::max<std::size_t>(call_.experts, 1), call_.rows, call_.columns}}));
    KILN_TRY(element_count({{tasks(), call_.columns}}));
    KILN_TRY(element_count({{tasks(), call_.rows}}));
    if (call_.experts != 0 || has_kernels(call_.format, call_.vectors)) return {};
    const bool takes_one = has_kernels(call_.format, 1);
    return refused("no kernel multiplies blocks of " + format_name(call_.format) +
                   (takes_one ? " with more than one vector" : ""))
        .hint("use QuantizedMultiplier, which has a matrix library");
  }
  std::size_t tasks() const {
    return call_.experts == 0 ? call_.vectors : call_.vectors * call_.slots;
  }
  std::size_t tasks_of_vector() const {
    return call_.experts != 0 && call_.inputs == MoeInputs::kOfBatch ? call_.slots : 1;
  }
  std::size_t activations() const { return tasks() / tasks_of_vector(); }
  bool is_pair() const { return call_.gate != nullptr; }
  Place out() const { return {call_.out, 0}; }

  // Largest number of vectors that each read the matrix separately. Beyond it, other kernels are
  // faster.
  std::size_t max_alone() const {
    return is_of_abi(call_.format) ? 1 : tuning::kSortedTasksOfExpert;
  }

  Place reserve(std::size_t bytes) {
    const Place place{nullptr, end_};
    end_ += (bytes + 255) / 256 * 256;
    return place;
  }
  Place f32_results() { return reserve(tasks() * call_.rows * sizeof(float)); }

  // Adds a launch. `places` lists the arguments that may be in the workspace.
  using Arguments = std::initializer_list<std::pair<std::size_t, Place>>;
  Result<void> add(Result<Launch> planned, Arguments places, std::string_view purpose) {
    if (!planned) return std::move(planned).error();
    for (const auto& [argument, place] : places) {
      if (place.offset != 0) planned->workspace_parts.push_back({argument, place.offset});
    }
    planned->purpose = purpose;
    made_.launches.push_back(*planned);
    return {};
  }

  Result<Place> quantized(std::size_t rows, Place order = {}) {
    const Place made = reserve(q8_1_bytes(rows, call_.columns));
    const bool is_ordered = order.offset != 0;
    QuantizeRows call;
    call.dtype = call_.x_dtype;
    call.columns = call_.columns;
    if (is_ordered) call.each = tasks_of_vector();
    for (std::size_t first = 0; first < rows; first += kMaxAlongY) {
      call.rows = std::min<std::size_t>(rows - first, kMaxAlongY);
      const std::size_t before = is_ordered ? 0 : first * call_.columns * size_of(call_.x_dtype);
      call.x = static_cast<const std::byte*>(call_.x) + before;
      const Place ids = is_ordered ? order.behind(first * sizeof(std::uint32_t)) : order;
      const Place out = made.behind(q8_1_bytes(first, call_.columns));
      KILN_TRY(add(plan(call, gpu_), {{1, ids}, {2, out}},
                   is_ordered ? "activations in the order of their experts, as Q8_1"
                              : "activations as Q8_1"));
    }
    return made;
  }

  template <typename Call>
  Call product_of(const void* weights) const {
    return ops::product_of<Call>(call_, weights);
  }
  // The purpose of a launch that makes the results.
  std::string_view results() const {
    return is_pair() ? KILN_AS(call_.out_dtype, "silu(gate) * product")
                     : KILN_AS(call_.out_dtype, "product");
  }

  // Returns the call for a few tasks or one vector.
  template <typename Call>
  Call task_call() const {
    Call call = product_of<Call>(call_.weights);
    call.gate = call_.gate;
    call.dst_dtype = call_.out_dtype;
    call.dst = call_.out;
    call.tasks = tasks();
    call.tasks_of_vector = tasks_of_vector();
    call.experts = call_.experts == 0 ? nullptr : call_.ids;
    return call;
  }
  Result<void> vectors_of_tasks() {
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(call_.x) % (4 * size_of(call_.x_dtype)) == 0;
    const std::size_t rows = call_.rows * (is_pair() ? 2 : 1) * tasks();
    if (is_aligned && tuning::prefers_floats(rows, call_.columns)) {
      auto call = task_call<FusedFloatVector>();
      call.x_dtype = call_.x_dtype;
      call.x = call_.x;
      return add(plan(call, gpu_), {}, results());
    }
    KILN_TRY_ASSIGN(const Place q8_1, quantized(activations()));
    return add(plan(task_call<FusedVector>(), gpu_), {{2, q8_1}}, results());
  }

  // Tasks sorted by expert, in tiles.
  Result<void> sorted_tasks() {
    const bool are_halves = goes_by_halves(call_, gpu_);
    RankExperts rank;
    rank.tasks = tasks();
    rank.experts = call_.experts;
    rank.ids = call_.ids;
    if (are_halves) rank.tile = kHalfExpertTile;
    const std::size_t count = expert_tiles(rank.tasks, rank.experts, rank.tile);
    const Place order = reserve(rank.tasks * sizeof(std::uint32_t));
    const Place tiles = reserve(count * kExpertTileBytes);
    const Place places = are_halves ? reserve(rank.tasks * sizeof(std::uint32_t)) : Place();
    KILN_TRY(add(plan(rank, gpu_), {{1, order}, {2, tiles}, {3, places}}, "tasks by expert"));
    if (are_halves) return half_matrices(order, tiles, places);
    KILN_TRY_ASSIGN(const Place q8_1, quantized(rank.tasks, order));
    return fused_matrices(q8_1, order, tiles);
  }
  // Returns the call for all tasks and one matrix of each expert.
  template <typename Call>
  Call matrix_call(const void* weights, Place dst, DType dtype) const {
    Call call = product_of<Call>(weights);
    call.vectors = tasks();
    call.experts = call_.experts;
    call.dst_dtype = dtype;
    call.dst = dst.writable();
    return call;
  }
  Result<void> fused_matrices(Place q8_1, Place order = {}, Place tiles = {}) {
    return with_gates(
        [&](const void* weights, Place gates, Place dst, DType dtype, std::string_view purpose) {
          return add(plan(matrix_call<FusedMatrix>(weights, dst, dtype), gpu_),
                     {{1, gates}, {2, q8_1}, {3, order}, {4, tiles}, {5, dst}}, purpose);
        });
  }

  // Many vectors or tasks, as f16.
  Result<void> half_matrices(Place order = {}, Place tiles = {}, Place places = {}) {
    const std::size_t rows =
        call_.experts == 0 ? call_.vectors : half_task_rows(tasks(), call_.experts);
    const Place x = reserve(half_chunk_bytes(rows, call_.columns));
    const Place scales = reserve(rows * sizeof(float));
    HalfRows halves;
    halves.dtype = call_.x_dtype;
    halves.rows = activations();
    halves.columns = call_.columns;
    halves.x = call_.x;
    halves.in_chunks = true;
    halves.each = tasks_of_vector();
    KILN_TRY(add(plan(halves, gpu_), {{1, x}, {2, scales}, {3, places}},
                 call_.experts == 0 ? "activations as f16"
                                    : "activations in the order of their experts, as f16"));
    return with_gates(
        [&](const void* weights, Place gates, Place dst, DType dtype, std::string_view purpose) {
          return add(plan(matrix_call<HalfMatrix>(weights, dst, dtype), gpu_),
                     {{1, gates}, {2, x}, {3, scales}, {4, order}, {5, tiles}, {6, dst}}, purpose);
        });
  }
  // Calls product(weights, gates, dst, dtype, purpose) for each matrix. The last call gets the
  // gates.
  template <typename Product>
  Result<void> with_gates(Product product) {
    Place gates;
    if (is_pair()) {
      gates = f32_results();
      KILN_TRY(product(call_.gate, Place(), gates, DType::kF32, "gates"));
    }
    return product(call_.weights, gates, out(), call_.out_dtype, results());
  }

  // One matrix and any number of vectors.
  Result<void> products() {
    if (goes_by_halves(call_, gpu_)) return half_matrices();
    KILN_TRY_ASSIGN(const Place q8_1, quantized(call_.vectors));
    const bool has_vectors = is_of_abi(call_.format) || call_.vectors == 1;
    const bool has_bytes = info(call_.format).bytes > info(call_.format).values;
    const bool are_held =
        holds_vectors(call_.format, gpu_, call_.weights, call_.rows, call_.columns, kMaxVectors);
    const std::size_t few = tuning::few_vectors(call_.rows, has_bytes, are_held);
    const bool is_few = call_.vectors <= few && has_vectors;
    const bool is_plain = !is_pair() && call_.out_dtype == DType::kF32;
    if (is_fused(call_.format) && !is_few && !(is_plain && is_of_abi(call_.format))) {
      return fused_matrices(q8_1);
    }
    return joined([&](const void* weights, Place dst, std::string_view purpose) {
      if (is_few) return few_products(weights, q8_1, dst, purpose);
      return abi_product<MulMat>(weights, q8_1, dst, purpose, call_.vectors);
    });
  }
  template <typename Call>
  Result<void> abi_product(const void* weights, Place q8_1, Place dst, std::string_view purpose,
                           std::size_t vectors) {
    auto call = product_of<Call>(weights);
    call.vectors = vectors;
    call.dst = dst.writable();
    return add(plan(call, gpu_), {{1, q8_1}, {2, dst}}, purpose);
  }
  // Uses launches of as many vectors as the kernels take.
  Result<void> few_products(const void* weights, Place q8_1, Place dst, std::string_view purpose) {
    for (std::size_t first = 0; first < call_.vectors; first += kMaxVectors) {
      const std::size_t count = std::min(call_.vectors - first, kMaxVectors);
      KILN_TRY(abi_product<MulMatVec>(weights, q8_1.behind(q8_1_bytes(first, call_.columns)),
                                      dst.behind(first * call_.rows * sizeof(float)), purpose,
                                      count));
    }
    return {};
  }

  Result<void> tasks_of_abi() {
    KILN_TRY_ASSIGN(const Place q8_1, quantized(activations()));
    return joined([&](const void* weights, Place dst, std::string_view purpose) {
      auto call = product_of<IndexedMoe>(weights);
      call.batches = call_.vectors;
      call.slots = call_.slots;
      call.inputs = call_.inputs;
      call.experts = call_.ids;
      call.dst = dst.writable();
      return add(plan(call, gpu_), {{1, q8_1}, {3, dst}}, purpose);
    });
  }

  // Computes products in f32, and then joins or converts them if more is asked for.
  template <typename Product>
  Result<void> joined(Product product) {
    const bool is_plain = !is_pair() && call_.out_dtype == DType::kF32;
    if (is_plain) return product(call_.weights, out(), "product as f32");
    Place gates;
    if (is_pair()) {
      gates = f32_results();
      KILN_TRY(product(call_.gate, gates, "gates"));
    }
    const Place values = f32_results();
    KILN_TRY(product(call_.weights, values, "product as f32"));
    JoinProducts join;
    join.columns = tasks() * call_.rows;
    join.dst_dtype = call_.out_dtype;
    join.dst = call_.out;
    return add(plan(join, gpu_), {{0, gates}, {1, values}}, results());
  }

  const QuantizedMatmul& call_;
  const Gpu& gpu_;
  LaunchSequence made_;
  std::size_t end_ = tuning::kWorkspaceCounters;
};
#undef KILN_AS

}  // namespace

bool goes_by_halves(const QuantizedMatmul& call, const Gpu& gpu) {
  auto product = product_of<HalfMatrix>(call, call.weights);
  product.experts = call.experts;
  product.vectors = call.experts == 0 ? call.vectors : call.vectors * call.slots;
  if (!has_background_copies(gpu) || !is_fused(call.format)) return false;
  return tuning::prefers_halves(call.rows, row_bytes(call.format, call.columns), call.columns,
                                product.vectors, call.experts, has_warp_groups(gpu)) &&
         plan(product, gpu);
}

Result<LaunchSequence> plan(const QuantizedMatmul& call, const Gpu& gpu) {
  return Planner(call, gpu).run();
}

}  // namespace kiln::ops
