// The GGUF reader that examples share, and products with the values that it reads.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <fstream>

#include "examples/gguf/file.hpp"
#include "examples/gguf/writer.hpp"
#include "examples/gguf_matvec/multiply.hpp"
#include "kiln/runtime.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

using kiln::ops::BlockFormat;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
std::string number(std::uint64_t value, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}
std::string text(const std::string& value) { return number(value.size(), 8) + value; }
std::string u32_pair(const std::string& key, std::uint32_t value) {
  return text(key) + number(4, 4) + number(value, 4);
}

// A file written byte by byte from the documented format: a pair of each kind, a tensor of two rows
// of 32 values in Q8_0, and one of two values in f32.
std::string whole_file(std::uint32_t alignment = 64) {
  std::string file = "GGUF" + number(3, 4) + number(2, 8) + number(4, 8);
  file += u32_pair("general.alignment", alignment);
  file += text("name") + number(8, 4) + text("tiny");
  file += text("list") + number(9, 4) + number(8, 4) + number(2, 8) + text("a") + text("bc");
  file += text("rate") + number(6, 4) + number(0x3fc00000, 4);
  file += text("w") + number(2, 4) + number(32, 8) + number(2, 8) + number(8, 4) + number(0, 8);
  file += text("norm") + number(1, 4) + number(2, 8) + number(0, 4) + number(128, 8);
  file.resize((file.size() + 63) / 64 * 64);
  const std::string row = number(0x3c00, 2) + std::string(32, '\x02');  // d is 1
  return file + row + row + std::string(60, '\0') + number(0x3f800000, 4) + number(0x40000000, 4);
}

TEST_CASE("a file's pairs and tensors are read") {
  const auto file = gguf::File::parse(bytes_of(whole_file()), "tiny.gguf");
  REQUIRE(file);
  CHECK(std::get<std::string>(file->pairs().at("name")) == "tiny");
  CHECK(std::get<gguf::ArrayOf>(file->pairs().at("list")).elements == 2);
  CHECK(std::get<double>(file->pairs().at("rate")) == 1.5);
  CHECK(*file->size("general.alignment") == 64);
  const auto tensor = file->tensor("w");
  REQUIRE(tensor);
  CHECK(((*tensor)->columns() == 32 && (*tensor)->rows() == 2));
  CHECK(gguf::format_of((*tensor)->type) == BlockFormat::kQ8_0);
  const auto data = file->data(**tensor);
  REQUIRE(data);
  CHECK((data->size() == 68 && (*data)[36] == std::byte{2}));
  const auto norm = file->data(**file->tensor("norm"));
  REQUIRE((norm && norm->size() == 8));
  float second = 0;
  std::memcpy(&second, norm->data() + 4, 4);
  CHECK(second == 2);
}

TEST_CASE("a file that ends anywhere is an error") {
  const std::string whole = whole_file();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    const auto file = gguf::File::parse(bytes_of(whole.substr(0, length)), "x");
    bool is_whole = file.has_value();
    if (file) {
      for (const gguf::Tensor& each : file->tensors()) {
        is_whole = is_whole && file->data(each).has_value();
      }
    }
    CHECK_FALSE(is_whole);
  }
}

std::string error_of(std::string file) {
  const auto parsed = gguf::File::parse(bytes_of(file), "x");
  return parsed ? "" : parsed.error().message;
}
std::string changed(std::size_t at, char value) {
  std::string file = whole_file();
  file[at] = value;
  return file;
}

TEST_CASE("errors say what is wrong with a file") {
  CHECK(error_of("") == "'x' ends at byte 0, in its header");
  CHECK(error_of(changed(0, 'X')) == "'x' is no GGUF file: it begins with 'XGUF'");
  CHECK(error_of(changed(4, 2)) == "'x' is of GGUF version 2, not 3");
  CHECK(error_of(whole_file().substr(0, 30)) == "'x' ends at byte 30, in pair 0");
  CHECK(error_of(whole_file(12)) == "'x' has an alignment that is no multiple of 8");
  const std::size_t pair = 24 + 8 + 17;  // the type of the first value
  CHECK(error_of(changed(pair, 13)) ==
        "'x' has a value of type 13, which does not exist, in pair 0");
  const std::size_t tensor = whole_file().find(text("w")) + 9;
  CHECK(error_of(changed(tensor, 5)) == "'x' has a tensor 'w' of 5 dims; there are up to 4");
  CHECK(error_of(changed(tensor + 11, '\x80')) == "'x' has a tensor 'w' of more values than 2^63");
  CHECK(error_of(changed(tensor + 24, 8)) ==
        "'x' has a tensor 'w' at byte 8, which is no multiple of the alignment, 64");
  CHECK(gguf::File::read("no such file").error().message == "cannot read 'no such file'");

  const auto file = gguf::File::parse(bytes_of(whole_file()), "x");
  const auto missing = file->tensor("v");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "'x' has no tensor 'v'");
  CHECK(missing.error().notes[0].text == "it has w norm");
  CHECK(file->size("depth").error().message == "'x' says no 'depth'");
  CHECK(file->size("name").error().message == "'x' says a 'name' that is no size");

  const auto data_error = [](const std::string& bytes) {
    const auto parsed = gguf::File::parse(bytes_of(bytes), "x");
    return parsed->data(parsed->tensors()[0]).error().message;
  };
  CHECK(data_error(changed(tensor + 20, 99)) ==
        "'x' has tensor 'w' in type 99, which this program does not read");
  CHECK(data_error(changed(tensor + 4, 33)) ==
        "'x' has rows of 33 values in tensor 'w', which are no whole blocks of Q8_0");
  CHECK(data_error(changed(tensor + 12, 9)) ==
        "'x' ends before tensor 'w': that is 306 bytes from byte 0 of the data, which has 136");
}

std::vector<float> waves(std::size_t count, float step, float height) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = height * std::sin(step * static_cast<float>(i));
  }
  return values;
}

TEST_CASE("tensors of a file are multiplied within the bound on every device") {
  constexpr std::size_t kRows = 7, kColumns = 768;
  const std::vector<float> values = waves(kRows * kColumns, 0.37F, 0.05F);
  const std::vector<float> x = waves(kColumns, 0.11F, 3);
  // The permitted difference of a value from its quant, relative to the largest value.
  const std::pair<BlockFormat, double> formats[] = {{BlockFormat::kQ4_0, 0.13},
                                                    {BlockFormat::kQ8_0, 0.005},
                                                    {BlockFormat::kQ4_K, 0.1},
                                                    {BlockFormat::kQ6_K, 0.025}};
  gguf::Writer writer;
  for (const auto& [format, share] : formats) {
    const kiln::ops::BlockFormatInfo& info = kiln::ops::info(format);
    writer.add_tensor(std::string(info.name), {kColumns, kRows}, info.gguf_type,
                      gguf::quantize(format, values));
  }
  const kiln::testing::ScratchFolder folder;
  const std::string path = folder / "weights.gguf";
  REQUIRE(gguf::write_file(path, writer.bytes()));
  const auto file = gguf::File::read(path);
  REQUIRE(file);
  const auto runtime = kiln::Runtime::open();
  REQUIRE(runtime);
  const auto host = runtime->device("host");
  REQUIRE(host);
  for (const auto& [format, share] : formats) {
    const kiln::ops::BlockFormatInfo& info = kiln::ops::info(format);
    INFO(info.name);
    const auto tensor = file->tensor(info.name);
    REQUIRE(tensor);
    const auto blocks = file->data(**tensor);
    REQUIRE(blocks);
    const QuantizedMatrix matrix{format, kRows, kColumns, *blocks};
    const auto weights = dequantize(*host, matrix);
    REQUIRE(weights);
    double farthest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      farthest = std::max(farthest, std::fabs(double{values[i]} - double{(*weights)[i]}));
    }
    CHECK(farthest <= share * 0.05);
    const Reference reference = multiply_plainly(*weights, kRows, x);
    for (const char* id : {"host", "emulated:gfx1100"}) {
      INFO(id);
      const auto device = runtime->device(id);
      if (!device) continue;  // this build lacks the device
      const auto product = multiply(*device, matrix, x);
      REQUIRE(product);
      CHECK(share_of_bound(*product, reference) <= 1);
    }
  }
}

TEST_CASE("a wrong product is beyond the bound") {
  const std::vector<float> weights = waves(64, 0.5F, 1), x = waves(32, 0.7F, 1);
  const Reference reference = multiply_plainly(weights, 2, x);
  const auto first = static_cast<float>(reference.values[0]);
  const auto second = static_cast<float>(reference.values[1]);
  CHECK(share_of_bound({first, second}, reference) < 0.01);
  CHECK(share_of_bound({first, second + 1}, reference) > 1);
  CHECK(share_of_bound({first, NAN}, reference) > 1);
  CHECK(share_of_bound({first}, reference) > 1);
}

}  // namespace
