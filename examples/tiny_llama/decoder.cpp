#include "examples/tiny_llama/decoder.hpp"

#include <cmath>

namespace ops = kiln::ops;
using ops::DType;

// Plans the launches of a step. The first error is kept, and later calls do nothing, so that the
// plan reads like the model.
class Planner {
 public:
  Planner(Decoder& decoder, const gguf::File& file)
      : decoder_(decoder), file_(file), sizes_(decoder.sizes_) {}

  kiln::Result<void> run() {
    Decoder::Memory& memory = decoder_.memory_;
    const std::size_t width = sizes_.width;
    memory.token = buffer(sizeof(std::uint32_t));
    memory.position = buffer(sizeof(std::uint32_t));
    memory.chosen = buffer(sizes_.positions * sizeof(std::uint32_t));
    memory.logits = buffer(sizes_.words * sizeof(float));
    make_tables();

    void* x = floats(width);
    add_embedding(x);
    select(cos_, sizes_.head_size() / 2, cos_row_ = floats(sizes_.head_size() / 2));
    select(sin_, sizes_.head_size() / 2, sin_row_ = floats(sizes_.head_size() / 2));
    select(mask_, sizes_.positions, mask_row_ = floats(sizes_.positions));
    for (std::size_t layer = 0; layer < sizes_.layers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      x = add(x, attention(block, normalized(block + "attn_norm", x)));
      x = add(x, feed_forward(block, normalized(block + "ffn_norm", x)));
    }
    product("output", normalized("output_norm", x), sizes_.words, width, memory.logits.data());
    choose_token();
    return std::move(result_);
  }

 private:
  // --- memory and weights

  kiln::Buffer buffer(std::size_t bytes) { return taken(decoder_.device_.allocate(bytes)); }
  void* kept(kiln::Buffer made) {
    decoder_.memory_.others.push_back(std::move(made));
    return decoder_.memory_.others.back().data();
  }
  void* floats(std::size_t count) { return kept(buffer(count * sizeof(float))); }
  template <typename T>
  T taken(kiln::Result<T> made) {
    if (made) return std::move(*made);
    if (result_) result_ = std::move(made).error();
    return T();
  }

  struct Weights {
    const void* data = nullptr;
    std::uint32_t type = 0;
    ops::BlockFormat format() const { return *gguf::format_of(type); }
  };
  Weights weights(const std::string& name, std::size_t rows, std::size_t columns) {
    const gguf::Tensor* const tensor = taken(file_.tensor(name + ".weight"));
    if (tensor == nullptr) return {};
    if (tensor->rows() != rows || tensor->columns() != columns) {
      result_ = kiln::Error{kiln::ErrorCode::kInvalidInput, "'" + name + "' is not of " +
                                                                std::to_string(rows) + " rows of " +
                                                                std::to_string(columns)};
      return {};
    }
    return {kept(taken(decoder_.device_.upload(taken(file_.data(*tensor))))), tensor->type};
  }

  // Angles of the rotary embedding by position, and a mask of the visible positions: 0, or far
  // below it.
  void make_tables() {
    const std::size_t half = sizes_.head_size() / 2, positions = sizes_.positions;
    std::vector<float> cos, sin, mask;
    for (std::size_t position = 0; position < positions; ++position) {
      for (std::size_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position) *
                             std::pow(10000, -static_cast<double>(i) / static_cast<double>(half));
        cos.push_back(static_cast<float>(std::cos(angle)));
        sin.push_back(static_cast<float>(std::sin(angle)));
      }
      for (std::size_t i = 0; i < positions; ++i) mask.push_back(i <= position ? 0.0F : -1e30F);
    }
    cos_ = kept(taken(decoder_.device_.upload(cos)));
    sin_ = kept(taken(decoder_.device_.upload(sin)));
    mask_ = kept(taken(decoder_.device_.upload(mask)));
  }

  // --- launches

  template <typename Call>
  void launch(const Call& call) {
    if (!result_) return;
    auto planned = plan(call, ops::Gpu::of(decoder_.device_.info()));
    if (!planned) {
      result_ = std::move(planned).error();
    } else {
      add_step(std::move(*planned));
    }
  }
  void add_step(const ops::Launch& one) { decoder_.step_.push_back(one); }
  void add_step(const ops::LaunchSequence& several) {
    for (const ops::Launch& each : several.launches) add_step(each);
  }

  void add_embedding(void* x) {
    const Weights table = weights("token_embd", sizes_.words, sizes_.width);
    if (table.data == nullptr) return;
    ops::GetRows rows;
    rows.format = table.format();
    rows.count = 1;
    rows.columns = sizes_.width;
    rows.table = table.data;
    rows.ids = decoder_.memory_.token.data();
    rows.out = x;
    launch(rows);
  }
  // Selects the row of a table for the current position.
  void select(const void* table, std::size_t columns, void* out) {
    ops::IndexSelect row;
    row.dims = {sizes_.positions, columns};
    row.ids_layout = {{1}};
    row.ids = decoder_.memory_.position.data();
    row.inp = table;
    row.out = out;
    launch(row);
  }
  const void* normalized(const std::string& name, const void* x) {
    void* const out = floats(sizes_.width);
    ops::RmsNorm norm;
    norm.rows = 1;
    norm.columns = sizes_.width;
    norm.src = x;
    norm.alpha = weights(name, 1, sizes_.width).data;
    norm.dst = out;
    launch(norm);
    return out;
  }
  // out = x times a matrix; with a gate, silu(x times the gate) times that.
  void product(const std::string& name, const void* x, std::size_t rows, std::size_t columns,
               void* out, const std::string& gate = "") {
    const Weights matrix = weights(name, rows, columns);
    if (matrix.data == nullptr) return;
    ops::QuantizedMatmul call;
    call.format = matrix.format();
    call.rows = rows;
    call.columns = columns;
    call.weights = matrix.data;
    if (!gate.empty()) {
      const Weights beside = weights(gate, rows, columns);
      if (beside.data != nullptr && beside.type != matrix.type) {
        result_ = kiln::Error{kiln::ErrorCode::kInvalidInput,
                              "'" + gate + "' is of another format than '" + name + "'"};
      }
      call.gate = beside.data;
    }
    call.x = x;
    call.out = out;
    launch(call);
  }
  void* product(const std::string& name, const void* x, std::size_t rows, std::size_t columns,
                const std::string& gate = "") {
    void* const out = floats(rows);
    product(name, x, rows, columns, out, gate);
    return out;
  }
  void* binary(ops::BinaryOp op, const void* lhs, const ops::Layout& lhs_layout, const void* rhs,
               const ops::Layout& rhs_layout, std::size_t count) {
    void* const out = floats(count);
    launch(ops::Binary{op, DType::kF32, lhs_layout, rhs_layout, lhs, rhs, out});
    return out;
  }
  void* add(const void* lhs, const void* rhs) {
    const ops::Layout all{{sizes_.width}};
    return binary(ops::BinaryOp::kAdd, lhs, all, rhs, all, sizes_.width);
  }
  void* sum(const void* src, const ops::Extents& dims, std::size_t over, std::size_t count) {
    void* const out = floats(count);
    ops::Reduce reduce;
    reduce.layout = {dims};
    reduce.over = {over};
    reduce.src = src;
    reduce.dst = out;
    launch(reduce);
    return out;
  }

  // --- the model

  const void* rotated(const void* src) {
    void* const out = floats(sizes_.width);
    ops::Rope rope;
    rope.heads = sizes_.heads;
    rope.head_size = sizes_.head_size();
    rope.src = src;
    rope.cos = cos_row_;
    rope.sin = sin_row_;
    rope.dst = out;
    launch(rope);
    return out;
  }
  // Adds a row in its position's place, which holds zeros before.
  void* cached(const void* row) {
    decoder_.memory_.caches.push_back(buffer(sizes_.positions * sizes_.width * sizeof(float)));
    ops::IndexAdd add;
    add.dims = {1, sizes_.width};
    add.size = sizes_.positions;
    add.ids = decoder_.memory_.position.data();
    add.inp = row;
    add.out = decoder_.memory_.caches.back().data();
    launch(add);
    return add.out;
  }

  const void* attention(const std::string& block, const void* x) {
    const std::size_t width = sizes_.width, heads = sizes_.heads, positions = sizes_.positions;
    const std::size_t head = sizes_.head_size();
    const void* const query = rotated(product(block + "attn_q", x, width, width));
    const void* const key = rotated(product(block + "attn_k", x, width, width));
    const void* const keys = cached(key);
    const void* const values = cached(product(block + "attn_v", x, width, width));

    // For each head and position: a part of a cache row, beside the query's part or the weight.
    const ops::Extents parts = {heads, positions, head};
    const ops::Layout of_cache{parts, {head, width, 1}};
    const void* const products = binary(ops::BinaryOp::kMultiply, keys, of_cache, query,
                                        {parts, {head, 0, 1}}, positions * width);
    const void* const dots = sum(products, parts, 2, heads * positions);

    const std::size_t scores = heads * positions;
    void* const scaled = floats(scores);
    ops::Affine scale;
    scale.layout = {{scores}};
    scale.inp = dots;
    scale.out = scaled;
    scale.mul = ops::Scalar::from(DType::kF32, 1 / std::sqrt(static_cast<double>(head)));
    scale.add = ops::Scalar::from(DType::kF32, 0);
    launch(scale);
    const ops::Extents rows = {heads, positions};
    const void* const masked =
        binary(ops::BinaryOp::kAdd, scaled, {rows}, mask_row_, {rows, {0, 1}}, scores);
    void* const weights_of_positions = floats(scores);
    ops::Softmax softmax;
    softmax.rows = heads;
    softmax.columns = positions;
    softmax.src = masked;
    softmax.dst = weights_of_positions;
    launch(softmax);

    const void* const weighted =
        binary(ops::BinaryOp::kMultiply, values, of_cache, weights_of_positions,
               {parts, {positions, 1, 0}}, positions * width);
    const void* const mixed = sum(weighted, parts, 1, width);
    return product(block + "attn_output", mixed, width, width);
  }

  const void* feed_forward(const std::string& block, const void* x) {
    const std::size_t width = sizes_.width, hidden = sizes_.hidden;
    const void* const opened = product(block + "ffn_up", x, hidden, width, block + "ffn_gate");
    return product(block + "ffn_down", opened, width, hidden);
  }

  // The best token replaces the one that was read, and the position advances.
  void choose_token() {
    const Decoder::Memory& memory = decoder_.memory_;
    ops::Reduce best;
    best.op = ops::ReduceOp::kArgMax;
    best.layout = {{sizes_.words}};
    best.over = {0};
    best.src = memory.logits.data();
    best.dst = memory.token.data();
    launch(best);
    ops::IndexAdd note;
    note.dtype = DType::kU32;
    note.dims = {1, 1};
    note.size = sizes_.positions;
    note.ids = memory.position.data();
    note.inp = memory.token.data();
    note.out = memory.chosen.data();
    launch(note);
    ops::Affine next;
    next.dtype = DType::kU32;
    next.layout = {{1}};
    next.out = memory.position.data();
    next.mul = ops::Scalar::from(DType::kU32, 1);
    next.add = ops::Scalar::from(DType::kU32, 1);
    launch(next);
  }

  Decoder& decoder_;
  const gguf::File& file_;
  const Sizes& sizes_;
  const void *cos_ = nullptr, *sin_ = nullptr, *mask_ = nullptr;
  void *cos_row_ = nullptr, *sin_row_ = nullptr, *mask_row_ = nullptr;
  kiln::Result<void> result_;
};

kiln::Result<Decoder> Decoder::make(const kiln::Device& device, const kiln::Stream& stream,
                                    const gguf::File& file) {
  Decoder decoder(device, stream);
  const auto sizes = sizes_of(file);
  if (!sizes) return sizes.error();
  decoder.sizes_ = *sizes;
  if (auto planned = Planner(decoder, file).run(); !planned) return std::move(planned).error();
  return decoder;
}

kiln::Result<void> Decoder::start(std::uint32_t token) const {
  const kiln::Buffer* const cleared[] = {&memory_.position, &memory_.chosen};
  for (const kiln::Buffer* each : cleared) {
    if (auto done = device_.fill(each->data(), 0, each->size(), *stream_); !done) return done;
  }
  for (const kiln::Buffer& each : memory_.caches) {
    if (auto done = device_.fill(each.data(), 0, each.size(), *stream_); !done) return done;
  }
  return set_token(token);
}

kiln::Result<void> Decoder::set_token(std::uint32_t token) const {
  if (auto done = stream_->synchronize(); !done) return done;
  return device_.copy_to_device(memory_.token.data(), &token, sizeof token);
}

kiln::Result<void> Decoder::prepare() const {
  for (const ops::Launch& each : step_) {
    if (auto done = launcher_.prepare(each); !done) return done;
  }
  return {};
}

kiln::Result<void> Decoder::step() const {
  for (const ops::Launch& each : step_) {
    if (auto done = launcher_.run(each); !done) return done;
  }
  return {};
}

kiln::Result<std::vector<float>> Decoder::logits() const {
  if (auto done = stream_->synchronize(); !done) return std::move(done).error();
  return device_.download<float>(memory_.logits);
}

kiln::Result<std::uint32_t> Decoder::token() const {
  if (auto done = stream_->synchronize(); !done) return std::move(done).error();
  const auto one = device_.download<std::uint32_t>(memory_.token);
  if (!one) return one.error();
  return one->front();
}

kiln::Result<std::vector<std::uint32_t>> Decoder::chosen() const {
  if (auto done = stream_->synchronize(); !done) return std::move(done).error();
  return device_.download<std::uint32_t>(memory_.chosen);
}
