#include "tools/stages/parse_kernel_argument.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"

namespace kiln::tools {
namespace {

struct TypeRow {
  std::string_view name;
  ElementType type;
  std::size_t size;
  int exponent_bits;  // 0: an integer
  bool is_signed;
};
constexpr TypeRow kTypes[] = {
    {"i8", ElementType::kI8, 1, 0, true},   {"u8", ElementType::kU8, 1, 0, false},
    {"i16", ElementType::kI16, 2, 0, true}, {"u16", ElementType::kU16, 2, 0, false},
    {"i32", ElementType::kI32, 4, 0, true}, {"u32", ElementType::kU32, 4, 0, false},
    {"i64", ElementType::kI64, 8, 0, true}, {"u64", ElementType::kU64, 8, 0, false},
    {"f16", ElementType::kF16, 2, 5, true}, {"bf16", ElementType::kBf16, 2, 8, true},
    {"f32", ElementType::kF32, 4, 8, true}, {"f64", ElementType::kF64, 8, 11, true},
};
const TypeRow& row_of(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

const TypeRow* find_type(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Error argument_error(std::string_view text, const std::string& why) {
  return Error{ErrorCode::kInvalidInput, "argument " + quote(text) + ": " + why, {}, {}, {}}.hint(
      "see 'kiln run --help'");
}

// ---- one element

// Rounds to the nearest number of the format, by way of float; ties go to even.
std::uint64_t encode_float(const TypeRow& row, double value) {
  if (row.type == ElementType::kF64) return std::bit_cast<std::uint64_t>(value);
  const float narrow = static_cast<float>(value);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(narrow);
  if (row.type == ElementType::kF32) return bits;
  if (row.type == ElementType::kBf16) {
    return std::isnan(narrow) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  const std::uint64_t sign = bits >> 31 << 15;
  if (std::isnan(narrow)) return sign | 0x7e00;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  // units of the last place
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  return sign |
         (static_cast<std::uint64_t>(exponent + 14) * 1024 + static_cast<std::uint64_t>(steps));
}
double decode_float(const TypeRow& row, std::uint64_t bits) {
  if (row.type == ElementType::kF64) return std::bit_cast<double>(bits);
  if (row.type == ElementType::kF32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (row.type == ElementType::kBf16)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

void append(std::vector<std::byte>& bytes, const TypeRow& row, std::uint64_t element) {
  for (std::size_t i = 0; i < row.size; ++i)
    bytes.push_back(static_cast<std::byte>(element >> (8 * i)));
}

std::optional<std::uint64_t> parse_element(const TypeRow& row, std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  std::uint64_t element = 0;
  bool fits = true;
  errno = 0;
  if (row.exponent_bits != 0) {
    const double value = std::strtod(copy.c_str(), &end);
    element = encode_float(row, value);
    fits = std::isfinite(value) ? std::isfinite(decode_float(row, element)) : errno != ERANGE;
  } else if (row.is_signed) {
    const std::int64_t value = std::strtoll(copy.c_str(), &end, 0);
    const std::int64_t max = INT64_MAX >> (64 - 8 * row.size);
    fits = errno != ERANGE && value <= max && value >= -max - 1;
    element = static_cast<std::uint64_t>(value);
  } else {
    element = std::strtoull(copy.c_str(), &end, 0);
    fits = errno != ERANGE && copy.find('-') == copy.npos &&
           element <= UINT64_MAX >> (64 - 8 * row.size);
  }
  if (copy.empty() || end != copy.c_str() + copy.size() || !fits) return std::nullopt;
  return element;
}

// ---- buffers

Result<void> generate(KernelArgumentText& argument, const TypeRow& row, std::string_view contents,
                      std::size_t count, std::string_view text) {
  const std::size_t equals = contents.find('=');
  const std::string_view kind = contents.substr(0, equals);
  const bool has_value = equals != contents.npos;
  const std::string_view value = has_value ? contents.substr(equals + 1) : "";
  const auto seed_of = [&](std::string_view seed) -> Result<std::uint64_t> {
    if (const auto number = parse_integer<std::uint64_t>(seed)) return *number;
    return argument_error(text, quote(seed) + " is no seed: a whole number");
  };
  if (has_value && (kind == "none" || kind == "zeros" || kind == "ones" || kind == "arange")) {
    return argument_error(text, quote(kind) + " takes no value");
  }
  const auto fill = [&](auto element) {
    for (std::size_t i = 0; i < count; ++i) append(argument.bytes, row, element(i));
  };
  if (kind == "none" || kind == "zeros") {
    argument.is_written = kind != "none";
    fill([](std::size_t) { return std::uint64_t{0}; });
  } else if (kind == "ones") {
    const std::uint64_t one = row.exponent_bits != 0 ? encode_float(row, 1) : 1;
    fill([&](std::size_t) { return one; });
  } else if (kind == "arange") {
    fill([&](std::size_t i) {
      return row.exponent_bits != 0 ? encode_float(row, static_cast<double>(i)) : i;
    });
  } else if (kind == "const") {
    const auto element = parse_element(row, value);
    if (!element) return argument_error(text, quote(value) + " is no " + std::string(row.name));
    fill([&](std::size_t) { return *element; });
  } else if (kind == "rand") {
    KILN_TRY_ASSIGN(const std::uint64_t seed,
                    has_value ? seed_of(value) : Result<std::uint64_t>(0));
    std::mt19937_64 random(seed);
    fill([&](std::size_t) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      return row.exponent_bits != 0 ? encode_float(row, unit) : random();
    });
  } else if (kind == "randint") {
    const std::vector<std::string_view> parts = split(value, ',');
    const TypeRow& number = row_of(ElementType::kI64);
    const auto low = parse_element(number, parts[0]);
    const auto high = parts.size() > 1 ? parse_element(number, parts[1]) : std::nullopt;
    if (parts.size() > 3 || !low || !high || *high - *low - 1 > INT64_MAX)
      return argument_error(text, "randint wants LO,HI or LO,HI,SEED, with LO below HI");
    KILN_TRY_ASSIGN(const std::uint64_t seed,
                    parts.size() == 3 ? seed_of(parts[2]) : Result<std::uint64_t>(0));
    std::mt19937_64 random(seed);
    fill([&](std::size_t) {
      const std::uint64_t integer = *low + random() % (*high - *low);
      if (row.exponent_bits == 0) return integer;
      return encode_float(row, static_cast<double>(static_cast<std::int64_t>(integer)));
    });
  } else {
    return argument_error(text, quote(contents) + " are no contents")
        .note(
            "contents are none, zeros, ones, arange, const=VALUE, rand=SEED or randint=LO,HI,SEED");
  }
  return {};
}

Result<KernelArgumentText> parse_buffer(std::string_view text) {
  KernelArgumentText argument;
  argument.is_buffer = true;
  std::string_view rest = text.substr(4);
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    argument.output = std::string(rest.substr(at + 1));
    rest = rest.substr(0, at);
  }
  const std::size_t first = rest.find(':');
  const std::size_t second = first == rest.npos ? first : rest.find(':', first + 1);
  if (second == rest.npos) return argument_error(text, "a buffer is buf:TYPE:COUNT:CONTENTS");
  const TypeRow* row = find_type(rest.substr(0, first));
  if (row == nullptr) return argument_error(text, quote(rest.substr(0, first)) + " is no type");
  argument.type = row->type;
  const std::string_view count_text = rest.substr(first + 1, second - first - 1);
  const std::string_view contents = rest.substr(second + 1);
  const auto count = parse_integer<std::uint64_t>(count_text);
  constexpr std::string_view kFile = "file=";
  if (contents.starts_with(kFile)) {
    argument.input = std::string(contents.substr(kFile.size()));
    if (count) argument.count = *count;
    return argument;
  }
  if (!count) return argument_error(text, quote(count_text) + " is no count of elements");
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  if (*count > kMaxBytes / row->size) {
    return argument_error(text, "a buffer has at most " + std::to_string(kMaxBytes) + " bytes, " +
                                    std::to_string(kMaxBytes / row->size) + " of these elements");
  }
  argument.bytes.reserve(*count * row->size);
  KILN_TRY(generate(argument, *row, contents, *count, text));
  return argument;
}

Result<KernelArgumentText> parse_hex(std::string_view text) {
  KernelArgumentText argument;
  const std::string_view digits = text.substr(4);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::string_view pair = digits.substr(i, 2);
    const auto byte = parse_integer<std::uint8_t>(pair, 16);
    if (pair.size() != 2 || !byte) return argument_error(text, "hex wants pairs of digits");
    argument.bytes.push_back(std::byte{*byte});
  }
  return argument;
}

}  // namespace

Result<KernelArgumentText> parse_kernel_argument(std::string_view text) {
  if (text.starts_with("buf:")) return parse_buffer(text);
  if (text.starts_with("hex:")) return parse_hex(text);
  KernelArgumentText argument;
  if (text == "null") {
    argument.bytes.resize(sizeof(void*));
    return argument;
  }
  const std::size_t colon = text.find(':');
  const TypeRow* row = colon == text.npos ? nullptr : find_type(text.substr(0, colon));
  if (row == nullptr) return argument_error(text, "it is neither TYPE:VALUE nor a buffer");
  const auto element = parse_element(*row, text.substr(colon + 1));
  if (!element)
    return argument_error(text, quote(text.substr(colon + 1)) + " is no " + std::string(row->name));
  argument.type = row->type;
  append(argument.bytes, *row, *element);
  return argument;
}

std::size_t size_of(ElementType type) { return row_of(type).size; }

std::string elements_text(ElementType type, const std::vector<std::byte>& bytes) {
  const TypeRow& row = row_of(type);
  std::string text;
  for (std::size_t i = 0; i + row.size <= bytes.size(); i += row.size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, row.size);
    if (!text.empty()) text += ' ';
    if (row.exponent_bits != 0) {
      std::array<char, 32> number{};
      std::snprintf(number.data(), number.size(), row.size == 8 ? "%.17g" : "%.9g",
                    decode_float(row, bits));
      text += number.data();
    } else if (row.is_signed) {
      const std::size_t unused = 64 - 8 * row.size;
      text += std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
    } else {
      text += std::to_string(bits);
    }
  }
  return text;
}

}  // namespace kiln::tools
