#include "tests/bench/cases.hpp"

#include <bit>

namespace kiln::bench {

std::string_view name(DataKind kind) {
  static constexpr std::string_view kNames[] = {"uniform", "normal", "negative", "special"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(View view) {
  static constexpr std::string_view kNames[] = {"contiguous", "transposed", "permuted", "narrowed",
                                                "broadcast"};
  return kNames[static_cast<std::size_t>(view)];
}

std::size_t BenchCase::count() const {
  std::size_t product = 1;
  for (const std::size_t& dim : dims) product *= dim;
  return product;
}

std::string BenchCase::name() const {
  std::string text = kernel + " " + shape;
  if (kind != DataKind::kUniform) text += " " + std::string(bench::name(kind));
  return text;
}

std::string count_name(std::size_t count) {
  if (count < 1024 || !std::has_single_bit(count)) return std::to_string(count);
  return "2^" + std::to_string(std::countr_zero(count));
}

std::string dims_name(const ops::Extents& dims) {
  std::string joined;
  for (const std::size_t& dim : dims) joined += (joined.empty() ? "" : "x") + std::to_string(dim);
  return joined;
}

BenchCase contiguous_case(std::string kernel, std::size_t count, DataKind kind) {
  BenchCase subject;
  subject.kernel = std::move(kernel);
  subject.dims = {count};
  subject.kind = kind;
  subject.shape = count_name(count);
  return subject;
}

}  // namespace kiln::bench
