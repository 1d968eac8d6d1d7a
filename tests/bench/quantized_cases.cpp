#include "tests/bench/quantized_cases.hpp"

#include <algorithm>
#include <cctype>

namespace kiln::bench {
namespace {

std::string plain(std::string_view text) {
  std::string letters;
  for (const char each : text) {
    if (each != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  }
  return letters;
}

BenchCase matrix(std::string kernel, std::size_t rows, std::size_t columns) {
  BenchCase subject = contiguous_case(std::move(kernel), rows * columns);
  subject.dims = {rows, columns};
  return subject;
}

}  // namespace

ops::BlockFormat format_of(const Kernel& kernel) {
  const std::string root = plain(kernel.root);
  ops::BlockFormat found = ops::BlockFormat::kQ4_0;
  for (const ops::BlockFormatInfo& each : ops::kBlockFormats) {
    if (root.find(plain(each.name)) != std::string::npos) found = each.format;
  }
  return found;
}

Operand blocks(ops::BlockFormat format, std::size_t values, std::size_t used) {
  const ops::BlockFormatInfo& of = ops::info(format);
  Operand operand;
  operand.dtype = ops::DType::kU8;
  operand.layout = {{values / of.values * of.bytes}};
  if (used != Operand::kAll) operand.used = used / of.values * of.bytes;
  operand.blocks = of.name;
  return operand;
}
Operand activations(std::size_t rows, std::size_t columns) {
  Operand operand;
  operand.dtype = ops::DType::kU8;
  operand.layout = {{ops::q8_1_bytes(rows, columns)}};
  operand.blocks = "Q8_1";
  return operand;
}
Operand floats(ops::DType dtype, std::size_t count) { return {dtype, {{count}}}; }
Operand only_before(std::size_t count) {
  Operand operand = floats(ops::DType::kF32, count);
  operand.used = 0;
  return operand;
}
Operand ids_below(std::size_t count, std::size_t places, Numbers numbers) {
  Operand operand{ops::DType::kU32, {{count}}, places};
  operand.numbers = numbers;
  return operand;
}

BenchCase matrix_case(std::string kernel, std::size_t count) {
  const std::size_t columns = std::clamp<std::size_t>(count / 2 / 256 * 256, 256, 4096);
  return matrix(std::move(kernel), std::max<std::size_t>(count / columns, 2), columns);
}
BenchCase tiles_case(std::string kernel, std::size_t count) {
  constexpr std::size_t kVectors = 64;
  const std::size_t columns = std::clamp<std::size_t>(count / 128 / 256 * 256, 256, 4096);
  const std::size_t rows = std::max<std::size_t>(count / columns / 128, 1) * 128;
  BenchCase subject = matrix(std::move(kernel), rows, columns);
  subject.dims = {rows, columns, kVectors};
  subject.shape += " x64";
  return subject;
}

}  // namespace kiln::bench
