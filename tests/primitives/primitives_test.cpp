// The primitives of kernels/device alone, on the device of KILN_TEST_DEVICE: reductions over lanes
// and blocks with identities, scans, index reductions, atomics, conversions and the places of
// elements, compared with plain loops.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "kiln/runtime.hpp"
#include "ops/src/own_kernels.hpp"
#include "primitive_kernels.hpp"
#include "tests/kernels/families/cast_reference.hpp"
#include "tests/kernels/number_format.hpp"
#include "tests/kernels/values.hpp"

namespace kiln {
namespace {

using namespace conformance;

using Bytes = std::vector<std::byte>;

template <typename T>
T value_of(Result<T> result) {
  if (!result) FAIL(render(result.error(), Color::kNo, "primitives"));
  return std::move(*result);
}

// Skips the test, with the reason, if the device does not exist.
const Device& device() {
  static const Result<Device> opened = []() -> Result<Device> {
    const char* const id = std::getenv("KILN_TEST_DEVICE");
    static const Result<Runtime> runtime = Runtime::open();
    if (!runtime) return runtime.error();
    return runtime->device(id != nullptr ? id : "host");
  }();
  if (!opened) SKIP(render(opened.error(), Color::kNo, "no device"));
  return *opened;
}

// Returns the content of `out` after a kernel. Its parameters are pointers to the inputs and to
// `out`, and numbers.
Bytes run(const std::string& kernel, Dim3 grid, Dim3 block, const std::vector<Bytes>& inputs,
          const Bytes& out, const std::vector<std::uint32_t>& numbers,
          std::uint32_t shared_bytes = 0) {
  const Device& on = device();
  const Function function =
      value_of(on.get_or_load_func(kernel, *primitive_kernels::catalog().find("primitives")));
  std::vector<Buffer> buffers;
  for (const Bytes& input : inputs) buffers.push_back(value_of(on.upload(input)));
  buffers.push_back(value_of(on.upload(out)));
  std::vector<void*> pointers;
  for (Buffer& buffer : buffers) pointers.push_back(buffer.data());
  std::vector<const void*> addresses;
  for (void*& pointer : pointers) addresses.push_back(&pointer);
  for (const std::uint32_t& number : numbers) addresses.push_back(&number);
  LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.shared_bytes = shared_bytes;
  const auto launched = function.launch_raw(config, addresses.data(), addresses.size());
  if (!launched) FAIL(render(launched.error(), Color::kNo, kernel));
  const auto done = on.synchronize();
  if (!done) FAIL(render(done.error(), Color::kNo, kernel));
  return value_of(on.download<std::byte>(buffers.back()));
}

Bytes bytes_of(DType dtype, const std::vector<Bits>& elements) {
  Bytes bytes(elements.size() * size_of(dtype));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    store(dtype, elements[i], &bytes[i * size_of(dtype)]);
  }
  return bytes;
}
template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
Bits element(DType dtype, const Bytes& bytes, std::size_t i) {
  return load(dtype, &bytes[i * size_of(dtype)]);
}

// --- expected results of reductions

bool is_signed(DType dtype) { return ops::info(dtype).kind == ops::NumberKind::kSigned; }
Bits low_bits(DType dtype, Bits bits) {
  return size_of(dtype) == 8 ? bits : bits & ((Bits{1} << (8 * size_of(dtype))) - 1);
}
Bits bits_of_whole(DType dtype, std::int64_t whole) {
  return is_float(dtype) ? encode(dtype, static_cast<Real>(whole))
                         : low_bits(dtype, static_cast<Bits>(whole));
}
Real number(DType dtype, Bits bits) {
  if (is_float(dtype)) return decode(dtype, bits);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(dtype));
  if (!is_signed(dtype)) return static_cast<Real>(bits);
  return static_cast<Real>(static_cast<std::int64_t>(bits << unused) >> unused);
}

// Returns few different integers, so that sums are exact and extremes occur many times. With
// `some_nan`, every sixteenth float is NaN.
std::vector<Bits> wholes(DType dtype, std::size_t count, Random& random, bool some_nan) {
  std::vector<Bits> elements;
  for (std::size_t i = 0; i < count; ++i) {
    const auto whole = static_cast<std::int64_t>(random.below(9));
    elements.push_back(
        bits_of_whole(dtype, dtype == DType::kU8 || dtype == DType::kU32 ? whole : whole - 4));
    if (some_nan && is_float(dtype) && random.below(16) == 0) {
      elements.back() = encode(dtype, std::numeric_limits<Real>::quiet_NaN());
    }
  }
  return elements;
}

// Reduces elements `first` to `last`, where those from `count` on are identities.
Bits reduced(const ops::OwnKernel& own, const std::vector<Bits>& elements, std::size_t first,
             std::size_t last, std::size_t count) {
  const DType dtype = own.dtype;
  const bool largest = own.root.find("max") != std::string_view::npos;
  last = std::min(last, count);
  if (own.root == "fast_sum") {
    Real sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += number(dtype, elements[i]);
    return is_float(dtype) ? encode(dtype, sum)
                           : low_bits(dtype, static_cast<Bits>(static_cast<std::int64_t>(sum)));
  }
  bool found = false, has_nan = false;
  std::size_t best = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Real value = number(dtype, elements[i]);
    has_nan = has_nan || std::isnan(value);
    if (std::isnan(value)) continue;
    const Real extreme = number(dtype, elements[best]);
    if (!found || (largest ? value > extreme : value < extreme)) best = i;
    found = true;
  }
  if (own.family == "arg-reduction") return best;
  if (has_nan && size_of(dtype) == 2) return encode(dtype, std::numeric_limits<Real>::quiet_NaN());
  if (found) return elements[best];
  const Real infinity = std::numeric_limits<Real>::infinity();
  if (is_float(dtype)) return encode(dtype, largest ? -infinity : infinity);
  const Bits top = Bits{1} << (8 * size_of(dtype) - 1);
  const Bits least = is_signed(dtype) ? top : 0;
  return largest ? least : low_bits(dtype, ~least);
}

bool same(DType dtype, Bits actual, Bits expected) {
  if (is_float(dtype) && is_nan(dtype, expected)) return is_nan(dtype, actual);
  return actual == expected;
}

template <typename Check>
void for_each_reduction(Check check) {
  for (const ops::OwnKernel& own : ops::kOwnKernels) {
    if (own.family != "reduction" && own.family != "arg-reduction") continue;
    INFO(own.name);
    check(own, own.root != "fast_sum");
  }
}

TEST_CASE("reductions over lanes, of every width, type and number of identities") {
  const std::uint32_t wave = device().info().wave_width, threads = 2 * wave;
  for_each_reduction([&](const ops::OwnKernel& own, bool some_nan) {
    Random random(7);
    for (std::uint32_t width = 1; width <= wave; width *= 2) {
      for (const std::uint32_t count : {threads, threads - 1, wave - 1, 1u, 0u}) {
        const std::vector<Bits> in = wholes(own.dtype, threads, random, some_nan);
        const Bytes out =
            run("wave_" + std::string(own.name), {1}, {threads}, {bytes_of(own.dtype, in)},
                Bytes(threads * size_of(own.out)), {count, width});
        INFO("groups of " << width << ", elements " << count);
        for (std::uint32_t i = 0; i < threads; ++i) {
          const std::size_t first = i / width * width;
          const Bits expected = reduced(own, in, first, first + width, count);
          // The index of an empty group is 0.
          if (!same(own.out, element(own.out, out, i),
                    own.family == "arg-reduction" && first >= count ? 0 : expected)) {
            FAIL("thread " << i << ": " << show(own.out, element(own.out, out, i)) << ", expected "
                           << show(own.out, expected));
          }
        }
      }
    }
  });
}

const Dim3 kBlocks[] = {{1},   {7},    {32},   {33},    {64},    {96},   {100},
                        {256}, {1000}, {1024}, {1, 32}, {32, 4}, {8, 9}, {64, 16}};

TEST_CASE("reductions over a block of any shape, twice in a row") {
  for_each_reduction([&](const ops::OwnKernel& own, bool some_nan) {
    Random random(11);
    for (const Dim3& block : kBlocks) {
      const std::uint32_t each = block.x * block.y, threads = 2 * each;
      const std::uint32_t count = threads - (each > 3 ? 3 : 0);
      const std::vector<Bits> in = wholes(own.dtype, 2 * count, random, some_nan);
      const Bytes out = run("block_" + std::string(own.name), {2}, block, {bytes_of(own.dtype, in)},
                            Bytes(2 * threads * size_of(own.out)), {count, threads});
      INFO("two blocks of " << block.x << "x" << block.y);
      for (std::uint32_t call = 0; call < 2; ++call) {
        const std::vector<Bits> part(in.begin() + call * count, in.begin() + (call + 1) * count);
        Bits expected = 0;
        for (std::uint32_t i = 0; i < threads; ++i) {
          if (i % each == 0) expected = reduced(own, part, i, i + each, count);
          const Bits actual = element(own.out, out, call * threads + i);
          if (!same(own.out, actual, expected)) {
            FAIL("call " << call << ", thread " << i << ": " << show(own.out, actual)
                         << ", expected " << show(own.out, expected));
          }
        }
      }
    }
  });
}

TEST_CASE("scans of a block give each thread what lies before it") {
  for_each_reduction([&](const ops::OwnKernel& own, bool some_nan) {
    Random random(13);
    for (const Dim3& block : kBlocks) {
      const std::uint32_t threads = block.x * block.y, count = threads - threads / 5;
      const std::vector<Bits> in = wholes(own.dtype, threads, random, some_nan);
      const Bytes out = run("scan_" + std::string(own.name), {1}, block, {bytes_of(own.dtype, in)},
                            Bytes(threads * size_of(own.out)), {count});
      INFO("a block of " << block.x << "x" << block.y);
      for (std::uint32_t i = 0; i<threads; i += threads> 128 ? 13 : 1) {
        const Bits expected = reduced(own, in, 0, i, count);
        const Bits actual = element(own.out, out, i);
        if (!same(own.out, actual, expected)) {
          FAIL("thread " << i << ": " << show(own.out, actual) << ", expected "
                         << show(own.out, expected));
        }
      }
    }
  });
}

TEST_CASE("lanes find those that hold the same, and add up those before") {
  const std::uint32_t wave = device().info().wave_width, threads = 2 * wave;
  Random random(15);
  for (const std::uint32_t values : {1u, 3u, 32u}) {
    INFO(values << " values");
    std::vector<std::uint32_t> in;
    for (std::uint32_t i = 0; i < threads; ++i) {
      in.push_back(static_cast<std::uint32_t>(random.below(values)));
    }
    const Bytes peers = run("wave_match", {1}, {threads}, {bytes_of(in)}, Bytes(threads * 8), {1});
    const Bytes sums =
        run("wave_inclusive_sum", {1}, {threads}, {bytes_of(in)}, Bytes(threads * 4), {});
    for (std::uint32_t i = 0; i < threads; ++i) {
      Bits same = 0, sum = 0;
      for (std::uint32_t lane = 0; lane < wave; ++lane) {
        const std::uint32_t other = i / wave * wave + lane;
        if (in[other] == in[i] && in[other] != 1) same |= Bits{1} << lane;
        if (other <= i) sum += in[other];
      }
      if (in[i] != 1) CHECK(element(DType::kI64, peers, i) == same);
      CHECK(element(DType::kU32, sums, i) == sum);
    }
  }
}

template <typename Key>
void check_sorts(const std::string& kernel) {
  const std::uint32_t wave = device().info().wave_width;
  Random random(19);
  struct Keys {
    const char* name;
    std::function<Key(std::size_t)> of;
  };
  const Keys kinds[] = {
      {"any", [&](std::size_t) { return static_cast<Key>(random.bits()); }},
      {"few", [&](std::size_t) { return static_cast<Key>(random.below(5)); }},
      {"equal", [](std::size_t) { return Key{77}; }},
      {"reversed", [](std::size_t i) { return static_cast<Key>(~i); }},
      {"two digits apart",
       [&](std::size_t) {
         return static_cast<Key>(random.below(3) << (8 * sizeof(Key) - 4) | random.below(2));
       }},
  };
  for (const std::uint32_t threads : {wave, 2 * wave, 200u, 1024u}) {
    const std::uint32_t most = threads / wave * wave * 8;
    for (const std::uint32_t count : {1u, wave + 1, most / 2 + 3, most}) {
      for (const Keys& kind : kinds) {
        INFO(threads << " threads, " << count << " records, keys " << kind.name);
        std::vector<Key> keys;
        for (std::uint32_t i = 0; i < count; ++i) keys.push_back(kind.of(i));
        std::vector<std::uint32_t> expected(count);
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
        const Bytes positions = run(kernel, {1}, {threads}, {bytes_of(keys)}, Bytes(count * 4),
                                    {count}, std::max(count * 4, threads * 16));
        CHECK(positions == bytes_of(expected));
      }
    }
  }
}

TEST_CASE("a block sorts records by their keys, and leaves equal ones in order") {
  check_sorts<std::uint32_t>("block_sort_u32");
  check_sorts<std::uint64_t>("block_sort_u64");
}

TEST_CASE("atomic sums, minima and maxima of every type, of neighbours in one word too") {
  constexpr std::uint32_t kSlots = 37, kEach = 16, kCount = kSlots * kEach;
  for (const ops::DTypeInfo& info : ops::kDTypes) {
    const DType dtype = info.dtype;
    Random random(17);
    // Sums of integers from -1 to 1, which f8 represents up to 16; for unsigned types, from 0 to 2.
    std::vector<Bits> in;
    const std::int64_t least = info.kind == ops::NumberKind::kUnsigned ? 0 : -1;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      in.push_back(bits_of_whole(dtype, static_cast<std::int64_t>(random.below(3)) + least));
    }
    // An update writes the whole word of its element, so three more slots fill the last word.
    const std::vector<Bits> before(kSlots + 3, bits_of_whole(dtype, 1));
    for (const char* const name : {"sum", "minimum", "maximum"}) {
      const std::string kernel = std::string("atomic_") + name + "_" +
                                 (dtype == DType::kF8E4M3 ? "f8_e4m3" : std::string(info.name));
      INFO(kernel);
      const Bytes out =
          run(kernel, {3}, {200}, {bytes_of(dtype, in)}, bytes_of(dtype, before), {kCount, kSlots});
      for (std::uint32_t slot = 0; slot < before.size(); ++slot) {
        Real expected = 1;
        for (std::uint32_t i = slot; slot < kSlots && i < kCount; i += kSlots) {
          const Real value = number(dtype, in[i]);
          expected = std::string_view(name) == "sum"       ? expected + value
                     : std::string_view(name) == "minimum" ? std::min(expected, value)
                                                           : std::max(expected, value);
        }
        if (number(dtype, element(dtype, out, slot)) != expected) {
          FAIL("slot " << slot << ": " << show(dtype, element(dtype, out, slot)) << ", expected "
                       << static_cast<double>(expected));
        }
      }
    }
  }
}

TEST_CASE("conversions between all element types") {
  for (const ops::DTypeInfo& from : ops::kDTypes) {
    const std::size_t count = size_of(from.dtype) <= 2 ? 65536 : kPoolSize;
    const Bytes in = size_of(from.dtype) <= 2
                         ? counted_values(from.dtype, count)
                         : mixed_values(from.dtype, count, seed_for("conversions", 1));
    const std::string kernel = "convert_" + (from.dtype == DType::kF8E4M3 ? std::string("f8_e4m3")
                                                                          : std::string(from.name));
    for (const ops::DTypeInfo& to : ops::kDTypes) {
      INFO(from.name << " to " << to.name);
      const Bytes out =
          run(kernel, {static_cast<std::uint32_t>((count + 255) / 256)}, {256}, {in},
              Bytes(count * size_of(to.dtype)),
              {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(to.dtype)});
      for (std::size_t i = 0; i < count; ++i) {
        const Expected expected = cast_reference(from.dtype, to.dtype, element(from.dtype, in, i));
        if (!expected.admits(to.dtype, element(to.dtype, out, i))) {
          FAIL(show(from.dtype, element(from.dtype, in, i))
               << " became " << show(to.dtype, element(to.dtype, out, i)) << ", expected "
               << expected.describe(to.dtype));
        }
      }
    }
  }
}

// Below this limit, an index is found by quotients in f32 (kernels/device/index.cuh).
constexpr std::uint64_t kSmallIndex = std::uint64_t{1} << 21;

// Checks the places of elements in views of a shape, with the kernels of this name.
template <class Index>
void check_places(const std::string& kernels, const std::vector<std::uint64_t>& shape,
                  const std::vector<Index>& elements, Random& random) {
  for (const std::size_t views : {std::size_t{1}, std::size_t{3}}) {
    std::vector<std::uint64_t> info = shape;
    for (std::size_t i = 0; i < views * shape.size(); ++i) {
      info.push_back(random.below(4) == 0 ? 0 : random.bits() >> (20 + random.below(40)));
    }
    const auto count = static_cast<std::uint32_t>(elements.size());
    const Bytes out = run(kernels + "_" + std::to_string(views), {count / 100}, {100},
                          {bytes_of(info), bytes_of(elements)}, Bytes(count * views * 8),
                          {count, static_cast<std::uint32_t>(shape.size())});
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t view = 0; view < views; ++view) {
        std::uint64_t rest = elements[i], place = 0;
        for (std::size_t dim = shape.size(); dim-- > 0;) {
          place += rest % shape[dim] * info[(1 + view) * shape.size() + dim];
          rest /= shape[dim];
        }
        if (element(DType::kI64, out, i * views + view) != place) {
          FAIL(kernels << ": element " << elements[i] << " of " << shape.size()
                       << " dims, the last " << shape.back() << ", view " << view);
        }
      }
    }
  }
}

TEST_CASE("the places of elements in views of up to 2^36 elements") {
  const std::vector<std::vector<std::uint64_t>> shapes = {{7},
                                                          {3, 5},
                                                          {65537, 65535},
                                                          {1, 4294967295},
                                                          {4294967295, 1},
                                                          {16, 1, 16},
                                                          {1000, 1000, 1000},
                                                          {1448, 1448},
                                                          {699051, 3},
                                                          {1, 2097152},
                                                          {2, 3, 5, 7, 11, 13},
                                                          {3, 1431655765},
                                                          {2147483647, 2},
                                                          {16, 4294967295}};
  Random random(23);
  for (const std::vector<std::uint64_t>& shape : shapes) {
    std::uint64_t total = 1;
    for (const std::uint64_t size : shape) total *= size;
    // Elements next to the end of a dim, and random ones, among the first `most`.
    const auto some_of = [&](std::uint64_t most) {
      std::vector<std::uint64_t> elements = {0, most - 1};
      while (elements.size() < 1000) {
        const std::uint64_t inner = shape.back() * (1 + random.below(most / shape.back() + 1));
        elements.push_back(random.below(2) == 0 ? std::min(inner - random.below(2), most - 1)
                                                : random.below(most));
      }
      return elements;
    };
    check_places("find_element", shape, some_of(total), random);
    const std::vector<std::uint64_t> small = some_of(std::min(total, kSmallIndex));
    check_places("find_small_element", shape,
                 std::vector<std::uint32_t>(small.begin(), small.end()), random);
  }
}

TEST_CASE("quotients of numbers below 2^63") {
  Random random(29);
  std::vector<std::uint64_t> dividends, divisors;
  while (dividends.size() < 20000) {
    // Numbers of every length; half of them next to a multiple.
    const std::uint64_t divisor =
        std::max<std::uint64_t>(random.bits() >> (1 + random.below(63)), 1);
    std::uint64_t dividend = random.bits() >> (1 + random.below(53));
    if (random.below(2) == 0) dividend = dividend / divisor * divisor;
    if (random.below(2) == 0 && dividend != 0) --dividend;
    dividends.push_back(dividend);
    divisors.push_back(divisor);
  }
  const auto count = static_cast<std::uint32_t>(dividends.size());
  const Bytes out = run("quotients", {count / 100}, {100},
                        {bytes_of(dividends), bytes_of(divisors)}, Bytes(count * 8), {count});
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t expected = dividends[i] / divisors[i];
    const Bits actual = element(DType::kI64, out, i);
    if (actual != expected) FAIL(dividends[i] << " / " << divisors[i] << ": " << actual);
  }
}

// Checks quotients of 32-bit numbers with a kernel.
void check_quotients(const char* kernel, const std::vector<std::uint32_t>& dividends,
                     const std::vector<std::uint32_t>& divisors) {
  const auto count = static_cast<std::uint32_t>(dividends.size());
  const Bytes out = run(kernel, {count / 100}, {100}, {bytes_of(dividends), bytes_of(divisors)},
                        Bytes(count * 4), {count});
  for (std::size_t i = 0; i < count; ++i) {
    const Bits actual = element(DType::kU32, out, i);
    if (actual != dividends[i] / divisors[i]) {
      FAIL(dividends[i] << " / " << divisors[i] << ": " << actual);
    }
  }
}

TEST_CASE("quotients of numbers below 2^21") {
  Random random(31);
  std::vector<std::uint32_t> dividends, divisors;
  while (dividends.size() < 40000) {
    const std::uint64_t most = random.below(2) == 0 ? kSmallIndex : std::uint64_t{1} << 32;
    const auto divisor = static_cast<std::uint32_t>(1 + random.below(1 + random.below(most - 1)));
    // The largest errors of f32: at the last multiple, and the number before it.
    const auto multiple = static_cast<std::uint32_t>((kSmallIndex - 1) / divisor * divisor);
    for (const std::uint32_t dividend : {multiple, multiple == 0 ? 0 : multiple - 1}) {
      dividends.push_back(dividend);
      divisors.push_back(divisor);
    }
  }
  check_quotients("small_quotients", dividends, divisors);
}

TEST_CASE("quotients of numbers below 2^31") {
  Random random(37);
  std::vector<std::uint32_t> dividends, divisors;
  while (dividends.size() < 40000) {
    const auto divisor = std::max<std::uint32_t>(
        static_cast<std::uint32_t>(random.bits() >> (33 + random.below(31))), 1);
    const std::uint64_t dividend = random.bits() >> (33 + random.below(12));
    // Also next to a multiple.
    const std::uint64_t multiple = dividend / divisor * divisor;
    for (const std::uint64_t each : {dividend, multiple, multiple == 0 ? 0 : multiple - 1}) {
      dividends.push_back(static_cast<std::uint32_t>(each));
      divisors.push_back(divisor);
    }
  }
  dividends.resize(40000);
  divisors.resize(40000);
  check_quotients("quotients_of_31_bits", dividends, divisors);
}

// Returns words of bytes. The first few have the extremes of both signs in every position.
std::vector<std::uint32_t> words_of_bytes(std::size_t count, Random& random) {
  std::vector<std::uint32_t> words;
  while (words.size() < count) {
    const std::size_t i = words.size();
    const std::uint32_t extreme = i / 8 % 2 == 0 ? 0x80 : 0x7f;
    words.push_back(i < 64 ? (0x01010101u * extreme) ^ (0xffu << 8 * (i % 4))
                           : static_cast<std::uint32_t>(random.bits()));
  }
  return words;
}
std::int32_t byte_of(std::uint32_t word, std::size_t i) {
  return static_cast<std::int8_t>(word >> 8 * i);
}

TEST_CASE("half bytes, looked up in a table of sixteen bytes") {
  Random random(40);
  std::vector<std::uint32_t> table, words, expected(4000);
  for (int i = 0; i < 4; ++i) table.push_back(static_cast<std::uint32_t>(random.bits()));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    words.push_back(i < 256 ? i * 0x01010101u : static_cast<std::uint32_t>(random.bits()));
    for (std::uint32_t k = 0; k < 8; ++k) {
      const std::uint32_t number = words[i] >> 4 * k & 0xf;
      const std::uint32_t entry = table[number / 4] >> 8 * (number % 4) & 0xff;
      expected[k % 2 * 1000 + i] |= entry << 8 * (k / 2);
    }
  }
  const std::vector<std::uint32_t> empty(4000);
  const Bytes out =
      run("half_entries", {10}, {100}, {bytes_of(table), bytes_of(words)}, bytes_of(empty), {1000});
  CHECK(out == bytes_of(expected));
}

TEST_CASE("dot products of four signed bytes, added to a sum") {
  Random random(41);
  const std::vector<std::uint32_t> a = words_of_bytes(1000, random);
  std::vector<std::uint32_t> b = words_of_bytes(1000, random);
  std::rotate(b.begin(), b.begin() + 4, b.begin() + 64);
  std::vector<std::int32_t> sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sums.push_back(static_cast<std::int32_t>(random.bits() & 0xffffff) - 0x800000);
  }
  const auto count = static_cast<std::uint32_t>(a.size());
  const Bytes out =
      run("byte_dots", {count / 100}, {100}, {bytes_of(a), bytes_of(b)}, bytes_of(sums), {count});
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) sums[i] += byte_of(a[i], k) * byte_of(b[i], k);
  }
  CHECK(out == bytes_of(sums));
}

// Checks kernels that add products of tiles of bytes to sums, of whole rows and of halves.
// `blocks` lists blocks, with the tiles that each makes.
struct TileBlock {
  Dim3 threads;
  std::uint32_t tiles;
};
void check_byte_tiles(const std::string& kernels, std::size_t tile_rows, std::size_t tile_columns,
                      const std::vector<TileBlock>& blocks) {
  constexpr std::uint32_t kTiles = 12;
  constexpr std::size_t kWords = 8;
  Random random(43);
  const std::vector<std::uint32_t> rows = words_of_bytes(kTiles * tile_rows * kWords, random);
  const std::vector<std::uint32_t> columns = words_of_bytes(kTiles * tile_columns * kWords, random);
  std::vector<std::int32_t> before;
  for (std::size_t i = 0; i < kTiles * tile_rows * tile_columns; ++i) {
    before.push_back(static_cast<std::int32_t>(random.bits() & 0xffffff) - 0x800000);
  }
  struct Part {
    const char* name;
    std::size_t first, last;
  };
  for (const Part& part : {Part{"whole", 0, 8}, Part{"first", 0, 4}, Part{"last", 4, 8}}) {
    std::vector<std::int32_t> sums = before;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t tile = i / (tile_rows * tile_columns);
      const std::size_t row = i / tile_columns % tile_rows, column = i % tile_columns;
      for (std::size_t byte = 4 * part.first; byte < 4 * part.last; ++byte) {
        const std::uint32_t left = rows[(tile * tile_rows + row) * kWords + byte / 4];
        const std::uint32_t right = columns[(tile * tile_columns + column) * kWords + byte / 4];
        sums[i] += byte_of(left, byte % 4) * byte_of(right, byte % 4);
      }
    }
    for (const TileBlock& block : blocks) {
      INFO(part.name << ", " << block.tiles << " tiles a block");
      const Bytes out = run(kernels + part.name, {kTiles / block.tiles}, block.threads,
                            {bytes_of(rows), bytes_of(columns)}, bytes_of(before), {});
      CHECK(out == bytes_of(sums));
    }
  }
}

TEST_CASE("products of tiles of bytes, by 32 threads each") {
  check_byte_tiles("byte_tiles_", 16, 8, {{{32, 1}, 1}, {{32, 2}, 2}, {{32, 4}, 4}});
}

TEST_CASE("products of tiles of bytes, in the pieces that suit the device") {
  check_byte_tiles("byte_fragments_", 32, 16, {{{64}, 1}, {{32, 2}, 1}});
}

// Integers, whose sums are exact in any order; for f16 also in units of its smallest number.
TEST_CASE("products of tiles of f16 and bf16, added to sums in f32") {
  constexpr std::size_t kTiles = 8, kSide = 16, kElements = kTiles * kSide * kSide;
  Random random(47);
  const auto numbers = [&] {
    std::vector<double> made(kElements);
    for (double& number : made) number = static_cast<std::int8_t>(random.bits());
    return made;
  };
  struct Run {
    DType dtype;
    double unit;
  };
  for (const Run& of : {Run{DType::kF16, 1}, Run{DType::kF16, 0x1p-24}, Run{DType::kBF16, 1}}) {
    INFO(name(of.dtype) << ", units of " << of.unit);
    const std::vector<double> rows = numbers(), columns = numbers();
    std::vector<Bits> left, right;
    for (const double number : rows) left.push_back(encode(of.dtype, number * of.unit));
    for (const double number : columns) right.push_back(encode(of.dtype, number));
    std::vector<float> sums;
    for (const double number : numbers()) sums.push_back(static_cast<float>(number * of.unit));
    const Bytes out =
        run("half_tiles_" + std::string(name(of.dtype)), {kTiles / 4}, {128},
            {bytes_of(of.dtype, left), bytes_of(of.dtype, right)}, bytes_of(sums), {});
    for (std::size_t i = 0; i < kElements; ++i) {
      const std::size_t tile = i / (kSide * kSide) * kSide;
      const double* const row = &rows[(tile + i / kSide % kSide) * kSide];
      const double* const column = &columns[(tile + i % kSide) * kSide];
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) sum += row[k] * column[k];
      sums[i] += static_cast<float>(sum * of.unit);
    }
    CHECK(out == bytes_of(sums));
  }
}

// Integers and powers of two, whose sums are exact.
TEST_CASE("products of rows that threads decode and columns of f16") {
  constexpr std::size_t kRows = 64, kColumns = 64, kDepth = 32;
  struct Run {
    const char* name;
    int zero;
    bool is_signed, has_offset;
  };
  for (const Run& of : {Run{"signed", 0, true, false}, Run{"zero", 8, false, false},
                        Run{"offset", 0, false, true}}) {
    for (const std::uint32_t group : {0u, 3u, 7u}) {
      INFO(of.name << ", group " << group);
      Random random(53 + group);
      std::vector<std::uint32_t> rows = words_of_bytes(kRows * kDepth / 4, random);
      // Unsigned bytes are below 128.
      for (std::uint32_t& word : rows) word &= of.is_signed ? ~0u : 0x7f7f7f7fu;
      std::vector<float> scales;  // and offsets, for each half of a row
      for (std::size_t i = 0; i < kRows * 2; ++i) {
        scales.push_back(std::ldexp(1.0f, static_cast<int>(random.below(3)) - 1));
        scales.push_back(of.has_offset ? static_cast<float>(random.below(9)) - 4 : 0);
      }
      std::vector<double> columns(kColumns * kDepth);
      std::vector<Bits> halves;
      for (double& value : columns) {
        value = static_cast<double>(random.below(17)) - 8;
        halves.push_back(encode(DType::kF16, static_cast<Real>(value)));
      }
      std::vector<float> sums;
      for (std::size_t i = 0; i < kRows * kColumns; ++i) {
        const std::size_t row = i / kColumns, column = i % kColumns;
        double sum = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
          const float* const scale = &scales[(row * 2 + k / 16) * 2];
          const int quant = byte_of(rows[(row * kDepth + k) / 4], k % 4) - of.zero;
          sum += (scale[0] * static_cast<double>(quant) + scale[1]) * columns[column * kDepth + k];
        }
        sums.push_back(static_cast<float>(sum));
      }
      const Bytes out = run(std::string("decoded_rows_") + of.name, {1}, {128},
                            {bytes_of(rows), bytes_of(scales), bytes_of(DType::kF16, halves)},
                            bytes_of(std::vector<float>(sums.size(), -1)), {group});
      CHECK(out == bytes_of(sums));
    }
  }
}

}  // namespace
}  // namespace kiln
