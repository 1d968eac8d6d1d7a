// Multiplies a tensor of a GGUF file by a vector, on every device of this machine and on the
// devices named:
//
//   gguf_matvec FILE TENSOR [DEVICE...]
//   gguf_matvec [DEVICE...]               uses a generated file and all of its tensors
//
// The vector is made up. Each result is compared with a plain product in f64, within the error
// bound of 8-bit activations. Exit status: 0 if all results were right, else 1.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/gguf/file.hpp"
#include "examples/gguf/writer.hpp"
#include "examples/gguf_matvec/multiply.hpp"
#include "kiln/runtime.hpp"

namespace {

using kiln::ops::BlockFormat;

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "gguf_matvec: error: %s\n", error.message.c_str());
  for (const kiln::Note& note : error.notes) std::fprintf(stderr, "  %s\n", note.text.c_str());
  return 1;
}

gguf::File sample() {
  constexpr std::size_t kRows = 48, kColumns = 512;
  std::vector<float> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.05F * std::sin(0.37F * static_cast<float>(i));
  }
  gguf::Writer writer;
  writer.add_text("general.architecture", "sample");
  for (const BlockFormat format :
       {BlockFormat::kQ4_0, BlockFormat::kQ8_0, BlockFormat::kQ4_K, BlockFormat::kQ6_K}) {
    const kiln::ops::BlockFormatInfo& info = kiln::ops::info(format);
    writer.add_tensor("weights." + std::string(info.name), {kColumns, kRows}, info.gguf_type,
                      gguf::quantize(format, values));
  }
  return *gguf::File::parse(writer.bytes(), "sample");
}

// Returns true if the product is right on each device that has kernels for it.
kiln::Result<bool> check(const kiln::Runtime& runtime, const std::vector<std::string>& ids,
                         const gguf::File& file, const gguf::Tensor& tensor) {
  const auto format = gguf::format_of(tensor.type);
  auto blocks = file.data(tensor);
  if (!blocks) return blocks.error();
  if (!format) {
    return kiln::Error{kiln::ErrorCode::kInvalidInput, "'" + tensor.name + "' is not quantized"};
  }
  const QuantizedMatrix matrix{*format, tensor.rows(), tensor.columns(), std::move(*blocks)};
  std::vector<float> x(matrix.columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(0.11F * static_cast<float>(i));

  std::printf("%s: %zu rows of %zu values in %s\n", tensor.name.c_str(), matrix.rows,
              matrix.columns, std::string(kiln::ops::info(*format).name).c_str());
  const auto host = runtime.device("host");
  if (!host) return host.error();
  const auto weights = dequantize(*host, matrix);
  if (!weights) return weights.error();
  const Reference reference = multiply_plainly(*weights, matrix.rows, x);
  bool all_right = true;
  for (const std::string& id : ids) {
    const auto device = runtime.device(id);
    if (!device) return device.error();
    const auto product = multiply(*device, matrix, x);
    if (!product && product.error().code == kiln::ErrorCode::kNoImage) {
      std::printf("  %-18s %s\n", id.c_str(), product.error().text().c_str());
      continue;
    }
    if (!product) return product.error();
    const double share = share_of_bound(*product, reference);
    all_right = all_right && share <= 1;
    std::printf("  %-18s %s: %g %g %g ..., at most %.1f%% of the bound from the plain product\n",
                id.c_str(), share <= 1 ? "right" : "WRONG", double{(*product)[0]},
                double{product->size() > 1 ? (*product)[1] : 0},
                double{product->size() > 2 ? (*product)[2] : 0}, 100 * share);
  }
  return all_right;
}

bool is_device(const std::string& text) {
  for (const char* each : {"host", "cuda", "hip", "emulated"}) {
    if (text.rfind(each, 0) == 0) return true;
  }
  return false;
}

int run(int argc, char** argv) {
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  std::vector<std::string> ids;
  for (const kiln::DeviceInfo& info : runtime->devices()) ids.push_back(info.id);
  const bool has_file = argc > 1 && !is_device(argv[1]);
  if (has_file && argc < 3) return std::puts("usage: gguf_matvec [FILE TENSOR] [DEVICE...]"), 2;
  for (int i = has_file ? 3 : 1; i < argc; ++i) ids.emplace_back(argv[i]);

  const auto file = has_file ? gguf::File::read(argv[1]) : sample();
  if (!file) return fail(file.error());
  std::vector<gguf::Tensor> tensors = file->tensors();
  if (has_file) {
    const auto found = file->tensor(argv[2]);
    if (!found) return fail(found.error());
    tensors = {**found};
  }
  bool all_right = true;
  for (const gguf::Tensor& tensor : tensors) {
    const auto right = check(*runtime, ids, *file, tensor);
    if (!right) return fail(right.error());
    all_right = all_right && *right;
  }
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
