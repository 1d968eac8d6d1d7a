#include "examples/gguf/file.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

namespace gguf {
namespace {

constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kMaxDims = 4;
constexpr int kMaxNested = 8;  // nesting of arrays

enum Type : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kFloat64
};

// The rest of a file, read from the front. Once something is missing, everything after it is, too.
class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (has(sizeof value)) {
      std::memcpy(&value, bytes_.data() + at_, sizeof value);  // little-endian hosts
      at_ += sizeof value;
    }
    return value;
  }
  std::string text() {
    const auto length = number<std::uint64_t>();
    if (!has(length)) return {};
    std::string value(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return value;
  }
  Value value(std::uint32_t type, int depth = 0) {
    switch (type) {
      case kU8: return std::uint64_t{number<std::uint8_t>()};
      case kI8: return std::int64_t{number<std::int8_t>()};
      case kU16: return std::uint64_t{number<std::uint16_t>()};
      case kI16: return std::int64_t{number<std::int16_t>()};
      case kU32: return std::uint64_t{number<std::uint32_t>()};
      case kI32: return std::int64_t{number<std::int32_t>()};
      case kFloat32: return double{number<float>()};
      case kBool: return number<std::uint8_t>() != 0;
      case kString: return text();
      case kArray: return array(depth);
      case kU64: return number<std::uint64_t>();
      case kI64: return number<std::int64_t>();
      case kFloat64: return number<double>();
      default: break;
    }
    if (unknown_.empty() && !ended_) unknown_ = "has a value of type " + std::to_string(type);
    return ArrayOf{};
  }

  std::size_t at() const { return at_; }
  bool is_good() const { return !ended_ && unknown_.empty(); }
  // Describes what is wrong, and what was being read.
  std::string problem(const std::string& what) const {
    if (!unknown_.empty()) return unknown_ + ", which does not exist, in " + what;
    return "ends at byte " + std::to_string(bytes_.size()) + ", in " + what;
  }

 private:
  bool has(std::uint64_t count) {
    ended_ = ended_ || count > bytes_.size() - at_;
    return !ended_;
  }
  Value array(int depth) {
    const auto type = number<std::uint32_t>();
    const ArrayOf array{number<std::uint64_t>()};
    if (depth == kMaxNested) unknown_ = "has arrays in more arrays than any file";
    for (std::uint64_t i = 0; i < array.elements && is_good(); ++i) value(type, depth + 1);
    return array;
  }

  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::string unknown_;
};

std::string printable(std::string text) {
  for (char& each : text) {
    if (each < ' ' || each > '~') each = '?';
  }
  return text;
}

// Returns the product, or nothing if it does not fit into 63 bits.
std::optional<std::uint64_t> product(const std::vector<std::uint64_t>& dims) {
  std::uint64_t all = 1;
  for (const std::uint64_t dim : dims) {
    if (dim != 0 && all > (std::uint64_t{1} << 63) / dim) return std::nullopt;
    all *= dim;
  }
  return all;
}

}  // namespace

std::size_t Tensor::columns() const { return dims.empty() ? 1 : dims[0]; }
std::size_t Tensor::rows() const {
  std::size_t all = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) all *= dims[i];
  return all;
}

std::optional<kiln::ops::BlockFormat> format_of(std::uint32_t type) {
  for (const kiln::ops::BlockFormatInfo& each : kiln::ops::kBlockFormats) {
    if (each.gguf_type == type) return each.format;
  }
  return std::nullopt;
}

kiln::Error File::wrong(std::string message) const {
  return {kiln::ErrorCode::kInvalidInput, "'" + name_ + "' " + std::move(message)};
}

kiln::Result<File> File::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return kiln::Error{kiln::ErrorCode::kNotFound, "cannot read '" + path + "'"};
  const std::vector<char> text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return parse(std::move(bytes), path);
}

kiln::Result<File> File::parse(std::vector<std::byte> bytes, std::string name) {
  File file;
  file.name_ = std::move(name);
  file.bytes_ = std::move(bytes);
  Reader reader(file.bytes_);

  char magic[5] = {};
  const auto number = reader.number<std::uint32_t>();
  std::memcpy(magic, &number, 4);
  if (reader.is_good() && std::string_view(magic, 4) != "GGUF") {
    return file.wrong("is no GGUF file: it begins with '" + printable(std::string(magic, 4)) + "'");
  }
  const auto version = reader.number<std::uint32_t>();
  if (reader.is_good() && version != kVersion) {
    return file.wrong("is of GGUF version " + std::to_string(version) + ", not " +
                      std::to_string(kVersion));
  }
  const auto tensors = reader.number<std::uint64_t>();
  const auto pairs = reader.number<std::uint64_t>();
  if (!reader.is_good()) return file.wrong(reader.problem("its header"));

  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::string key = reader.text();
    file.pairs_[key] = reader.value(reader.number<std::uint32_t>());
    if (!reader.is_good()) return file.wrong(reader.problem("pair " + std::to_string(i)));
  }
  for (std::uint64_t i = 0; i < tensors; ++i) {
    Tensor tensor;
    tensor.name = reader.text();
    const auto dims = reader.number<std::uint32_t>();
    if (reader.is_good() && dims > kMaxDims) {
      return file.wrong("has a tensor '" + printable(tensor.name) + "' of " + std::to_string(dims) +
                        " dims; there are up to " + std::to_string(kMaxDims));
    }
    for (std::uint32_t dim = 0; dim < dims && dim < kMaxDims; ++dim) {
      tensor.dims.push_back(reader.number<std::uint64_t>());
    }
    tensor.type = reader.number<std::uint32_t>();
    tensor.offset = reader.number<std::uint64_t>();
    if (!reader.is_good()) return file.wrong(reader.problem("tensor " + std::to_string(i)));
    if (!product(tensor.dims)) {
      return file.wrong("has a tensor '" + printable(tensor.name) + "' of more values than 2^63");
    }
    file.tensors_.push_back(std::move(tensor));
  }

  std::uint64_t alignment = 32;
  if (const auto found = file.pairs_.find("general.alignment"); found != file.pairs_.end()) {
    const auto* const given = std::get_if<std::uint64_t>(&found->second);
    if (given == nullptr || *given == 0 || *given % 8 != 0 || *given > 1U << 20) {
      return file.wrong("has an alignment that is no multiple of 8");
    }
    alignment = *given;
  }
  file.data_begin_ = (reader.at() + alignment - 1) / alignment * alignment;
  for (const Tensor& tensor : file.tensors_) {
    if (tensor.offset % alignment == 0) continue;
    return file.wrong("has a tensor '" + printable(tensor.name) + "' at byte " +
                      std::to_string(tensor.offset) + ", which is no multiple of the alignment, " +
                      std::to_string(alignment));
  }
  return file;
}

kiln::Result<std::size_t> File::size(const std::string& key) const {
  const auto found = pairs_.find(key);
  if (found == pairs_.end()) return wrong("says no '" + key + "'");
  const auto* const value = std::get_if<std::uint64_t>(&found->second);
  if (value == nullptr || *value == 0) return wrong("says a '" + key + "' that is no size");
  return static_cast<std::size_t>(*value);
}

kiln::Result<const Tensor*> File::tensor(std::string_view name) const {
  std::string names;
  for (const Tensor& each : tensors_) {
    if (each.name == name) return &each;
    names += (names.empty() ? "" : " ") + printable(each.name);
  }
  return wrong("has no tensor '" + std::string(name) + "'").note("it has " + names);
}

kiln::Result<std::vector<std::byte>> File::data(const Tensor& tensor) const {
  const std::string name = "tensor '" + printable(tensor.name) + "'";
  const std::uint64_t values = *product(tensor.dims);
  std::uint64_t bytes = 0;
  if (const auto format = format_of(tensor.type)) {
    const kiln::ops::BlockFormatInfo& info = kiln::ops::info(*format);
    if (tensor.columns() % info.values != 0) {
      return wrong("has rows of " + std::to_string(tensor.columns()) + " values in " + name +
                   ", which are no whole blocks of " + std::string(info.name));
    }
    bytes = values / info.values * info.bytes;
  } else if (tensor.type == kF32) {
    bytes = values * sizeof(float);
  } else {
    std::string known = "f32 (0)";
    for (const kiln::ops::BlockFormatInfo& each : kiln::ops::kBlockFormats) {
      known += " " + std::string(each.name) + " (" + std::to_string(each.gguf_type) + ")";
    }
    return wrong("has " + name + " in type " + std::to_string(tensor.type) +
                 ", which this program does not read")
        .note("it reads " + known);
  }
  const std::uint64_t room = bytes_.size() < data_begin_ ? 0 : bytes_.size() - data_begin_;
  if (values >> 60 != 0 || tensor.offset > room || bytes > room - tensor.offset) {
    return wrong("ends before " + name + ": that is " + std::to_string(bytes) +
                 " bytes from byte " + std::to_string(tensor.offset) + " of the data, which has " +
                 std::to_string(room));
  }
  const std::byte* const begin = bytes_.data() + data_begin_ + tensor.offset;
  return std::vector<std::byte>(begin, begin + bytes);
}

}  // namespace gguf
