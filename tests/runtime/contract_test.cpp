// The contract of every driver, tested through the public interface. Runs over each fake driver and
// each real driver that exists (KILN_TEST_DRIVER, see subject.hpp).
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/diagnostic.hpp"
#include "formats/compatibility.hpp"
#include "stream_graph.hpp"
#include "subject.hpp"
#include "test_modules.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

template <typename T>
T take(Result<T> result) {
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}
void check(const Result<void>& result) {
  if (!result) FAIL(result.error().message);
}

Device first_device(const Runtime& runtime) { return take(runtime.default_device()); }

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

// The program that uses kiln. It creates streams with the vendor's own functions on the first
// device.
class Callers {
 public:
  explicit Callers(const Runtime& runtime) : runtime_(runtime) {
    if (!is_cuda()) return;
    vendor_function<int(void**, int)>(runtime_, "cuDevicePrimaryCtxRetain")(&context_, 0);
    vendor_function<int(void*)>(runtime_, "cuCtxSetCurrent")(context_);
  }
  ~Callers() {
    if (!is_cuda()) return;
    vendor_function<int(void*)>(runtime_, "cuCtxSetCurrent")(nullptr);
    vendor_function<int(int)>(runtime_, "cuDevicePrimaryCtxRelease_v2")(0);
  }
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  static constexpr unsigned kWaits = 0, kNonBlocking = 1;  // for the default stream

  void* create_stream(unsigned flags = kWaits) const {
    void* stream = nullptr;
    vendor_function<int(void**, unsigned)>(
        runtime_, is_cuda() ? "cuStreamCreate" : "hipStreamCreateWithFlags")(&stream, flags);
    REQUIRE(stream != nullptr);
    return stream;
  }
  void destroy_stream(void* stream) const {
    vendor_function<int(void*)>(runtime_,
                                is_cuda() ? "cuStreamDestroy_v2" : "hipStreamDestroy")(stream);
  }

 private:
  static bool is_cuda() { return subject().backend == Backend::kCuda; }
  const Runtime& runtime_;
  void* context_ = nullptr;
};

constexpr std::uint64_t kCount = 1000;
const LaunchConfig kConfig{{4}, {256}};

}  // namespace

TEST_CASE("Runtime lists devices that say what they are") {
  const Runtime runtime = open_subject();
  for (const DeviceInfo& device : runtime.devices()) {
    CAPTURE(device.id);
    CHECK(!device.name.empty());
    CHECK(!device.target.empty());
    CHECK(!device.driver.empty());
    CHECK((device.wave_width == 32 || device.wave_width == 64));
    CHECK(device.max_threads_per_block >= 256);
    CHECK(device.max_shared_bytes >= 32 * 1024);
    CHECK(device.memory_bytes > 0);
    CHECK(take(runtime.device(device.id)).info().ordinal == device.ordinal);
  }
  CHECK(first_device(runtime).info().id == runtime.devices().front().id);
  CHECK_FALSE(runtime.device(runtime.devices().size()));
}

TEST_CASE("A device of the CPU's says which number of the environment is wrong") {
  const bool is_host = subject().backend == Backend::kHost;
  if (!is_host && subject().backend != Backend::kEmulator) SKIP("it takes no number of the environment");
  const std::string variable = is_host ? "KILN_HOST_THREADS" : "KILN_EMULATOR_THREADS";
  for (const std::string value : {"abc", "3x", "0", "-1", "99999"}) {
    ::setenv(variable.c_str(), value.c_str(), 1);
    const Runtime runtime = take(Runtime::open(options_for(subject())));
    const std::string wrong = variable + " is '" + value + "', expected a number from 1 to 1024";
    CHECK(render(runtime.device(is_host ? "host" : "emulated").error()) == "kiln: error: " + wrong + "\n");
    CHECK(runtime.backends().front().reasons == std::vector<std::string>{wrong});
    ::unsetenv(variable.c_str());
  }
  ::setenv(variable.c_str(), "", 1);  // counts as not set
  CHECK_FALSE(open_subject().devices().empty());
  ::unsetenv(variable.c_str());
}

TEST_CASE("Device copies to, on and from the device") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const std::vector<float> values = counting(kCount);
  const Buffer source = take(device.upload(values));
  const Buffer target = take(device.allocate(source.size()));
  CHECK(reinterpret_cast<std::uintptr_t>(target.data()) % 256 == 0);
  check(device.copy_on_device(target.data(), source.data(), source.size()));
  CHECK(take(device.download<float>(target)) == values);

  check(device.fill(target.data(), 0x11, 16));
  const auto filled = take(device.download<std::uint32_t>(target));
  CHECK(filled[3] == 0x11111111U);
  float fourth = 0;
  std::memcpy(&fourth, &filled[4], sizeof fourth);
  CHECK(fourth == 4.0F);
}

TEST_CASE("Runtime lists no device of another backend's library") {
  const bool is_host = subject().backend == Backend::kHost;
  if (!is_host && subject().backend != Backend::kEmulator) return;
  const char* library = std::getenv(is_host ? "KILN_HOST_LIBRARY" : "KILN_EMULATOR_LIBRARY");
  if (library == nullptr) SKIP("ctest names the library");
  OpenOptions options;
  options.host_library = options.emulator_library = library;
  options.backends = {is_host ? Backend::kEmulator : Backend::kHost};
  const Runtime runtime = take(Runtime::open(options));
  CHECK(runtime.devices().empty());
  REQUIRE(!runtime.backends()[0].reasons.empty());
  CHECK(runtime.backends()[0].reasons[0].starts_with(std::string(library) + " is the library of '"));
}

TEST_CASE("A copy by address that ends past its buffer is refused where the device knows its buffers") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  if (subject().backend == Backend::kCuda || subject().backend == Backend::kHip) return;
  const TypedBuffer<std::uint8_t> buffer = take(device.allocate<std::uint8_t>(100));
  std::vector<std::uint8_t> bytes(200);
  std::uint8_t* const tail = buffer.data() + 90;
  check(device.copy_to_device(tail, bytes.data(), 10));
  const Result<void> refused = device.copy_to_device(tail, bytes.data(), 11);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().message.ends_with("copying 11 bytes to a buffer that has 10 from there on"));
  CHECK_FALSE(device.copy_to_host(bytes.data(), tail, 11));
  CHECK_FALSE(device.copy_on_device(buffer.data(), tail, 11));
  CHECK_FALSE(device.copy_on_device(tail, buffer.data(), 11));
  CHECK_FALSE(device.fill(tail, 0, 11));
  check(device.fill(tail, 0, 10));
  CHECK_FALSE(device.copy_to_host(bytes.data(), tail + 10, 1));
  const Result<void> null = device.copy_to_device(nullptr, bytes.data(), 4);
  REQUIRE_FALSE(null);
  CHECK(null.error().message.ends_with("copying 4 bytes to a null pointer"));
  CHECK_FALSE(device.copy_to_host(bytes.data(), nullptr, 4));
  const Result<void> nowhere = device.copy_to_host(nullptr, buffer.data(), 4);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message.ends_with("copying 4 bytes to a null pointer"));
  CHECK_FALSE(device.copy_to_device(buffer.data(), nullptr, 4));
  check(device.copy_to_host(nullptr, buffer.data(), 0));
  const Result<void> astray = device.copy_to_host(bytes.data(), reinterpret_cast<void*>(4096), 4);
  REQUIRE_FALSE(astray);
  CHECK(astray.error().message.ends_with("copying 4 bytes where no memory is"));
}

TEST_CASE("A typed buffer takes vectors, arrays and spans, and gives them back") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const std::vector<float> values = counting(kCount);
  TypedBuffer<float> buffer = take(device.upload(values));
  CHECK(buffer.count() == kCount);
  CHECK(buffer.size_bytes() == kCount * sizeof(float));
  static_assert(std::is_same_v<decltype(buffer.data()), float*>);
  CHECK(take(device.download(buffer)) == values);

  const std::array<float, 3> start = {7, 8, 9};
  check(device.copy_to_device(buffer, start));
  std::vector<float> four(4);
  check(device.copy_to_host(four, buffer));
  CHECK(four == std::vector<float>{7, 8, 9, 3});
  check(device.copy_to_host(std::span(four).first(2), buffer));
  CHECK(take(device.download(take(device.upload(std::span(values).subspan(10, 2))))) ==
        std::vector<float>{10, 11});
  CHECK(take(device.download(take(device.upload({1, 2, 3})))) == std::vector<int>{1, 2, 3});
  CHECK(take(device.download(take(device.upload(values.data() + 5, 1)))) == std::vector<float>{5});

  const TypedBuffer<float> copied = take(device.allocate<float>(kCount));
  check(device.copy_on_device(copied, buffer));
  CHECK(take(device.download(copied))[2] == 9.0F);
  check(device.fill(copied, 0));
  CHECK(take(device.download(copied)) == std::vector<float>(kCount));

  const Result<Buffer> plain = device.upload(values);  // an untyped buffer
  CHECK(take(device.download<float>(*plain)) == values);
  const Buffer moved = std::move(buffer);
  CHECK(moved.size() == kCount * sizeof(float));

  const Result<void> refused = device.copy_to_device(take(device.allocate(8)), start);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kInvalidInput);
  CHECK(refused.error().text() == "failed copying 12 bytes to the device on " + device.info().id +
                                      " (" + device.info().name + ", " + device.info().target +
                                      "): the buffer has 8 bytes\nhint: copy a part of the range, "
                                      "or allocate a larger buffer");
  CHECK_FALSE(device.copy_to_host(four, take(device.upload(start))));
  CHECK(device.allocate<double>(SIZE_MAX / 2).error().code == ErrorCode::kInvalidInput);
}

TEST_CASE("Copies on a stream run in its order, from pinned memory and back") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto scale_add = take(device.function(modules().scale_add));
  auto pinned = take(device.allocate_pinned<float>(kCount));
  CHECK(pinned.size() == kCount);
  for (std::size_t i = 0; i < kCount; ++i) pinned[i] = static_cast<float>(i);
  std::vector<float> results(kCount);
  {
    // Objects may be destroyed in any order: the buffer keeps the stream open.
    TypedBuffer<float> outlives;
    const Stream stream = take(device.create_stream());
    const auto in = take(device.upload_async(pinned, stream));
    auto out = take(device.allocate<float>(kCount, stream));
    check(scale_add.launch({{4}, {256}, 0, stream}, kCount, in.data(), out.data(), 2.0F, 1.0F));
    check(device.copy_to_host_async(pinned, out, stream));
    check(device.copy_to_host_async(std::span(results), out, stream));
    check(device.copy_to_device_async(out, std::span(results).first(0), stream));
    check(stream.synchronize());
    CHECK(pinned[999] == 1999.0F);
    CHECK(results == std::vector<float>(pinned.begin(), pinned.end()));
    outlives = std::move(out);
  }
  CHECK(device.allocate_pinned<float>(0)->empty());
}

TEST_CASE("All modules of a catalog are loaded by one call") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const ModuleEntry* const all[] = {&modules().arithmetic, &modules().pair};
  Catalog catalog;
  catalog.modules = {all};
  check(device.load(catalog));
  CHECK(device.statistics(modules().arithmetic).loads == 1);
  CHECK(device.statistics(modules().pair).loads == 2);
}

TEST_CASE("Memory is not allocated on a stream that is captured, and goes back after the capture") {
  if (!subject_has_graphs()) SKIP(subject().name + " has no graphs");
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Stream stream = take(device.create_stream());
  auto default_order = std::make_unique<Buffer>(take(device.allocate(64)));
  auto stream_order = std::make_unique<Buffer>(take(device.allocate(64, stream)));
  const bool has_pool = subject().name != "fake_cuda_11" && subject().name != "fake_hip_5";
  if (!has_pool) SKIP("this driver has no pool, and knows nothing of captures");
  const StreamGraph graph(runtime, device, stream, [&]() -> Result<void> {
    const Result<Buffer> refused = device.allocate(64, stream);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kInvalidInput);
    CHECK(refused.error().message.find("failed allocating 64 bytes on ") == 0);
    CHECK(refused.error().message.find(": the stream is being captured into a graph") !=
          std::string::npos);
    default_order.reset();
    stream_order.reset();
    return {};
  });
  CHECK(graph.begun() == 0);
  CHECK(graph.ended() == 0);
  if (subject().machine != nullptr) CHECK(subject().machine->live().allocations == 2);
  take(device.allocate(64));
  if (subject().machine != nullptr) CHECK(subject().machine->live().allocations == 0);
}

TEST_CASE("Memory is allocated and freed while a stream is captured, and the capture goes on") {
  if (!subject_has_graphs()) SKIP(subject().name + " has no graphs");
  if (subject().name == "fake_hip_5") SKIP("this release allows neither");
  const unsigned flags = GENERATE(Callers::kWaits, Callers::kNonBlocking);
  const bool is_known_before = GENERATE(false, true);
  CAPTURE(flags, is_known_before);
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Callers callers(runtime);
  const StreamRef stream = StreamRef::from_native(callers.create_stream(flags));
  const StreamRef second = StreamRef::from_native(callers.create_stream(flags));
  const Stream own = take(device.create_stream());
  const auto values = take(device.upload(std::vector<std::uint8_t>(64)));
  const auto others = take(device.upload(std::vector<std::uint8_t>(64)));
  Buffer before = take(device.allocate(64));
  if (is_known_before) check(device.fill(before, 0, stream));
  Buffer after = take(device.allocate(64));
  Buffer ordered = take(device.allocate(64, own));
  auto pinned = take(device.allocate_pinned<float>(64));
  {
    const StreamGraph graph(runtime, device, stream, [&] {
      check(device.fill(values, 1, stream));
      check(device.fill(others, 3, second));
      before = Buffer(), after = Buffer(), ordered = Buffer(), pinned = {};
      take(device.allocate(64));
      take(device.allocate(64, own));
      take(device.allocate_pinned<float>(64));
      return device.fill(values, 2, stream);
    });
    CHECK(graph.begun() == 0);
    check(graph.work());
    REQUIRE(graph.ended() == 0);
    REQUIRE(graph.launch() == 0);
    check(device.synchronize());
  }
  CHECK(take(device.download(values)) == std::vector<std::uint8_t>(64, 2));
  CHECK(take(device.download(others)) == std::vector<std::uint8_t>(64, 3));
  take(device.allocate(64));  // frees what had to be kept
  if (subject().machine != nullptr) CHECK(subject().machine->live().allocations == 2);
  callers.destroy_stream(stream.native());
  callers.destroy_stream(second.native());
}

TEST_CASE("Device does nothing for zero bytes") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Buffer empty = take(device.allocate(0));
  CHECK(empty.empty());
  CHECK(empty.data() == nullptr);
  check(device.copy_to_device(nullptr, nullptr, 0));
  check(device.fill(nullptr, 0, 0));
}

TEST_CASE("Device launches a typed kernel") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const std::vector<float> values = counting(kCount);
  const Buffer in = take(device.upload(values));
  const Buffer out = take(device.allocate(in.size()));
  const auto scale_add = take(device.function(modules().scale_add));
  CHECK(scale_add.name() == "scale_add");
  check(scale_add.launch(kConfig, kCount, in.data(), out.data(), 2.0F, 1.0F));
  check(device.synchronize());
  const auto results = take(device.download<float>(out));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != 2.0F * values[i] + 1.0F) FAIL("element " << i << " is " << results[i]);
  }
}

TEST_CASE("A buffer and a stream of another device are refused, the buffer's address is not") {
  const Runtime runtime = open_subject();
  if (runtime.devices().size() < 2) SKIP("there is one device of " + subject().name);
  const Device here = take(runtime.device(0)), there = take(runtime.device(1));
  const std::string one = here.info().id, other = there.info().id;
  const auto scale_add = take(here.function(modules().scale_add));
  const auto ours = take(here.allocate<float>(kCount)), theirs = take(there.allocate<float>(kCount));
  const auto refuses = [](const Result<void>& done, const std::string& words) {
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::kInvalidInput);
    CHECK(done.error().message == words);
  };
  refuses(scale_add.launch(kConfig, kCount, ours, theirs, 2.0F, 1.0F),
          "kernel 'scale_add' of module 'arithmetic': argument 3: the buffer lies on " + other + ", the kernel runs on " + one);
  refuses(Function(scale_add).launch(kConfig, kCount, theirs, ours, 2.0F, 1.0F),
          "kernel 'scale_add' of module 'arithmetic': argument 2: the buffer lies on " + other + ", the kernel runs on " + one);
  refuses(here.copy_on_device(ours, theirs), "the buffer lies on " + other + ", the copy is on " + one);
  refuses(here.copy_to_device(theirs, counting(kCount)), "the buffer lies on " + other + ", the copy is on " + one);
  refuses(here.fill(theirs, 0), "the buffer lies on " + other + ", the fill is on " + one);
  CHECK_FALSE(here.download(theirs));

  const Stream stream = take(there.create_stream());
  const std::string of_another = "the stream is of " + other + ", the work is for " + one;
  refuses(scale_add.launch({{4}, {256}, 0, stream}, kCount, ours, ours, 2.0F, 1.0F), of_another);
  refuses(here.fill(ours, 0, stream), of_another);
  refuses(take(here.create_event()).record(stream), of_another);
  CHECK_FALSE(here.allocate(64, stream));

  if (subject().backend == Backend::kHost) {  // the devices of the host share their memory
    check(here.fill(ours, 0));
    check(scale_add.launch(kConfig, kCount, ours, theirs.data(), 2.0F, 1.0F));
    CHECK(take(there.download(theirs))[999] == 1.0F);
  }
}

TEST_CASE("A kernel that leaves a buffer is an error of its launch where the device is the CPU's") {
  const bool is_host = subject().backend == Backend::kHost;
  if (!is_host && subject().backend != Backend::kEmulator) SKIP("a GPU tells no place");
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto scale_add = take(device.function(modules().scale_add));
  const auto in = take(device.allocate<float>(kCount)), out = take(device.allocate<float>(kCount));
  check(device.fill(in, 0));
  const auto refuses = [&](std::uint64_t count, std::uint32_t blocks, const TypedBuffer<float>& to, const std::string& words) {
    const Result<void> launched = scale_add.launch({{blocks}, {256}}, count, in, to, 2.0F, 1.0F);
    REQUIRE_FALSE(launched);
    CAPTURE(launched.error().text());
    CHECK(launched.error().message.find(words) != std::string::npos);
  };
  // In the bytes that the alignment adds, and far outside of the buffer. If several threads fault,
  // any of them may be reported.
  const auto wide = take(device.allocate<float>(2 * kCount));
  const auto more = take(device.upload(counting(2 * kCount)));
  const Result<void> one = scale_add.launch({{4}, {256}}, kCount + 1, more, out, 2.0F, 1.0F);
  REQUIRE_FALSE(one);
  CHECK(one.error().message.find("0 bytes past the end of argument 3 (a buffer of 4000 bytes)") != std::string::npos);
  CHECK(one.error().message.find("kernel 'scale_add'") != std::string::npos);
  refuses(2 * kCount, 8, wide, " past the end of argument 2 (a buffer of 4000 bytes)");
  const Result<void> null =
      scale_add.launch(kConfig, kCount, in, static_cast<float*>(nullptr), 2.0F, 1.0F);
  REQUIRE_FALSE(null);
  CHECK(null.error().message.find("argument 3 is null") != std::string::npos);

  check(scale_add.launch(kConfig, kCount, in, out, 2.0F, 1.0F));  // the device is still usable
  CHECK(take(device.download(out))[999] == 1.0F);
}

TEST_CASE("Device finds kernels by name, and says which name comes near") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Function nothing = take(device.get_or_load_func("nothing", modules().arithmetic));
  CHECK(nothing.kernel() == &modules().arithmetic.kernels[0]);
  check(nothing.launch(kConfig));

  const auto missing = device.get_or_load_func("scale_ad", modules().arithmetic);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().message == "module 'arithmetic' has no kernel 'scale_ad'");
  REQUIRE(missing.error().notes.size() == 1);
  CHECK(missing.error().notes[0].text == "did you mean 'scale_add'?");
}

TEST_CASE("Function refuses arguments of other types than the catalog tells") {
  static constexpr Parameter kTypes[] = {
      Parameter::of<std::uint64_t>(0), Parameter::of<const float*>(8), Parameter::of<float*>(16),
      Parameter::of<float>(24), Parameter::of<float>(28)};
  static constexpr KernelEntry kKernels[] = {{"nothing", 0, {}}, {"scale_add", 0, {kTypes}}};
  static const ModuleEntry typed{"typed", 0, 1, {kKernels}, modules().arithmetic.images};
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Function scale_add = take(device.function("scale_add", typed));
  const TypedBuffer<float> buffer = take(device.allocate<float>(kCount));
  const auto message = [](const Result<void>& result) {
    return result ? std::string() : result.error().message;
  };
  const std::string head = "kernel 'scale_add': argument ";
  const float* const constant = buffer.data();
  int number = 1;
  CHECK(message(scale_add.launch(kConfig, kCount, buffer, buffer, 1.0F, 2)) ==
        head + "5 has type i32, the parameter has f32");
  CHECK(message(scale_add.launch(kConfig, kCount, buffer, buffer, 1.0, 2.0F)) ==
        head + "4 has type f64, the parameter has f32");
  CHECK(message(scale_add.launch(kConfig, kCount, buffer, constant, 1.0F, 2.0F)) ==
        head + "3 has type const f32*, the parameter has f32*");
  CHECK(message(scale_add.launch(kConfig, kCount, &number, buffer, 1.0F, 2.0F)) ==
        head + "2 has type i32*, the parameter has const f32*");
  CHECK(message(scale_add.launch(kConfig, buffer, buffer, buffer, 1.0F, 2.0F)) ==
        head + "1 has type f32*, the parameter has u64");
  CHECK(message(scale_add.launch(kConfig, 3.0, buffer, buffer, 1.0F, 2.0F)) ==
        head + "1 has type f64, the parameter has u64");
  // Types with several names in C++, pointers to any type, and types that kiln does not know fit by
  // size.
  struct Own {
    float value;
  };
  void* const anything = buffer.data();
  check(scale_add.launch(kConfig, 0ULL, nullptr, anything, Own{1}, 2.0F));
  check(scale_add.launch(kConfig, 0UL, constant, nullptr, 1.0F, 2.0F));
}

TEST_CASE("Function refuses arguments and shapes that do not fit before it asks the driver") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Function scale_add = take(device.get_or_load_func("scale_add", modules().arithmetic));
  void* const nowhere = nullptr;
  const auto message = [](const Result<void>& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kInvalidInput);
    return result.error().message;
  };
  CHECK(message(scale_add.launch(kConfig, kCount)) ==
        "kernel 'scale_add' of module 'arithmetic' takes 5 arguments, got 1");
  CHECK(message(scale_add.launch(kConfig, kCount, nowhere, nowhere, 2.0, 1.0F)) ==
        "kernel 'scale_add': argument 4 has 8 bytes, the parameter has 4");
  CHECK_FALSE(scale_add.launch(kConfig, kCount, nowhere, nowhere, 2.0, 1.0F).error().notes.empty());
  struct Three {
    std::uint64_t a, b, c;
  };
  const Result<void> swapped = scale_add.launch(kConfig, kCount, Three{}, nowhere, 2.0F, 1.0F);
  CHECK(message(swapped) == "kernel 'scale_add': argument 2 has 24 bytes, the parameter has 8");
  CHECK(swapped.error().notes.empty());  // no hint: a cast cannot make it a buffer
  CHECK(message(scale_add.launch({{0}, {256}}, kCount, nowhere, nowhere, 2.0F, 1.0F)) ==
        "kernel 'scale_add' of module 'arithmetic': empty grid (0, 1, 1)");
  const std::string zeros = "write 1 for the dimensions that are not used";
  const Result<void> flat =
      scale_add.launch({{4, 0, 0}, {256}}, kCount, nowhere, nowhere, 2.0F, 1.0F);
  CHECK(message(flat) == "kernel 'scale_add' of module 'arithmetic': empty grid (4, 0, 0)");
  CHECK(flat.error().notes.back().text == zeros);
  const Result<void> thin =
      scale_add.launch({{4}, {256, 1, 0}}, kCount, nowhere, nowhere, 2.0F, 1.0F);
  CHECK(message(thin).starts_with(
      "kernel 'scale_add' of module 'arithmetic': block (256, 1, 0) has 0"));
  CHECK(thin.error().notes.back().text == zeros);
  const Result<void> without = scale_add.launch({{4}}, kCount, nowhere, nowhere, 2.0F, 1.0F);
  CHECK(message(without).starts_with(
      "kernel 'scale_add' of module 'arithmetic': block (0, 0, 0) has 0 threads"));
  CHECK(without.error().notes.back().text == 
        "a launch says how many blocks the grid has, and how many threads a block");
  CHECK(message(scale_add.launch({{1}, {1024, 2}}, kCount, nowhere, nowhere, 2.0F, 1.0F)) ==
        "kernel 'scale_add' of module 'arithmetic': block (1024, 2, 1) has 2048 threads, " +
            device.info().id + " takes 1 to " +
            std::to_string(device.info().max_threads_per_block));
  CHECK(message(scale_add.launch({{1}, {32}, 1U << 30U}, kCount, nowhere, nowhere, 2.0F, 1.0F)) ==
        "kernel 'scale_add' of module 'arithmetic': 1073741824 bytes of dynamic shared memory, " +
            device.info().id + " has " + std::to_string(device.info().max_shared_bytes) +
            " a block");
  CHECK(message(Function().launch(kConfig)) ==
        "an empty function was launched: ask a device for one");
  CHECK(message(scale_add.launch_raw(kConfig, nullptr, 5)) ==
        "argument 1 of a launch has no address");
  const std::uint64_t value = 0;
  const void* const addresses[] = {&value, nullptr, &value, &value, &value};
  CHECK(message(scale_add.launch_raw(kConfig, addresses, 5)) ==
        "argument 2 of a launch has no address");
}

TEST_CASE("Function refuses blocks of more threads than the kernel was compiled for") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Function nothing = take(device.get_or_load_func("nothing", modules().arithmetic));
  CHECK(nothing.launch({{1}, {16, 16}}));
  const Result<void> launched = nothing.launch({{1}, {32, 16}});
  REQUIRE_FALSE(launched);
  CHECK(launched.error().code == ErrorCode::kInvalidInput);
  CHECK(launched.error().message.ends_with(
      ": a block of 512 threads, the kernel is compiled for up to 256"));
  // More threads than the device allows: the smaller limit is named right away.
  const Result<void> huge = nothing.launch({{1}, {1024, 2}});
  REQUIRE_FALSE(huge);
  CHECK(huge.error().message.ends_with(": a block of 2048 threads, the kernel is compiled for up to 256"));
  CHECK(device.synchronize());
}

TEST_CASE("Function launches with all the shared memory that the device has") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto nothing = take(device.function(modules().nothing));
  check(nothing.launch({{1}, {32}, device.info().max_shared_bytes - 1024}));
  check(nothing.launch({{1}, {32}, 16}));
  check(device.synchronize());
}

TEST_CASE("Function launches with just less shared memory than CUDA wants to be asked for") {
  // The 48 KiB of CUDA cover static and dynamic memory together.
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto nothing = take(device.function(modules().nothing));
  check(nothing.launch({{1}, {32}, 48 * 1024}));
  check(device.synchronize());
}

TEST_CASE("Function prepares its first launch, which is then a launch and nothing else") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Function nothing = take(device.get_or_load_func("nothing", modules().arithmetic));
  check(nothing.prepare());
  check(nothing.launch(kConfig));
  CHECK(device.statistics(modules().arithmetic).launches == 1);
  check(device.unload(modules().arithmetic));
  const Result<void> unloaded = nothing.prepare();
  REQUIRE_FALSE(unloaded);
  CHECK(unloaded.error().code == ErrorCode::kNotFound);
  CHECK_FALSE(Function().prepare());
}

TEST_CASE("A launch that was prepared is captured into a graph") {
  if (!subject_has_graphs()) SKIP(subject().name + " has no graphs");
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Stream stream = take(device.create_stream());
  const Buffer values = take(device.upload(counting(kCount)));
  const auto scale_add = take(device.function(modules().scale_add));
  check(scale_add.prepare());
  LaunchConfig config = kConfig;
  config.stream = stream;
  const StreamGraph graph(runtime, device, stream, [&] {
    return scale_add.launch(config, kCount, values.data(), values.data(), 2.0F, 1.0F);
  });
  REQUIRE(graph.begun() == 0);
  check(graph.work());
  REQUIRE(graph.ended() == 0);
  CHECK(take(device.download<float>(values)) == counting(kCount));
  REQUIRE(graph.launch() == 0);
  REQUIRE(graph.launch() == 0);
  check(stream.synchronize());
  CHECK(take(device.download<float>(values))[5] == 2.0F * (2.0F * 5.0F + 1.0F) + 1.0F);
}

TEST_CASE("Streams and events order and time the work") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const std::vector<float> values = counting(kCount);
  std::vector<float> results(kCount);
  const Buffer in = take(device.allocate(kCount * sizeof(float)));
  const Buffer out = take(device.allocate(in.size()));
  const Stream stream = take(device.create_stream());
  const Event start = take(device.create_event());
  const Event stop = take(device.create_event());
  const auto scale_add = take(device.function(modules().scale_add));

  check(start.record(stream));
  CHECK_FALSE(stop.milliseconds_since(start));  // `start` is not recorded yet
  CHECK_FALSE(start.milliseconds_since(stop));
  check(device.copy_to_device_async(in.data(), values.data(), in.size(), stream));
  check(device.fill(out.data(), 0, out.size(), stream));
  check(scale_add.launch({{4}, {256}, 0, stream}, kCount, in.data(), out.data(), 3.0F, 0.0F));
  check(device.copy_to_host_async(results.data(), out.data(), out.size(), stream));
  check(stop.record(stream));
  check(stop.synchronize());
  check(stream.synchronize());
  CHECK(results[999] == 3.0F * 999.0F);
  CHECK(take(stop.milliseconds_since(start)) >= 0.0F);
  CHECK_FALSE(Event().record(stream));
}

TEST_CASE("An empty stream or event is refused, and is not the default stream") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto scale_add = take(device.function(modules().scale_add));
  const std::vector<float> values = counting(kCount);
  const auto buffer = take(device.upload(values));
  const Event event = take(device.create_event());
  const auto refuses = [](const auto& done) {
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::kInvalidInput);
    CHECK(done.error().message == "an empty stream: make it by Device::create_stream()");
  };
  Stream stream = take(device.create_stream());
  const StreamRef kept = stream;
  const Stream moved = std::move(stream);
  const Stream never;
  const Stream* const both[] = {&stream, &never};
  for (const Stream* empty : both) {
    CHECK_FALSE(*empty);
    CHECK(StreamRef(*empty).is_empty());
    refuses(scale_add.launch({{4}, {256}, 0, *empty}, kCount, buffer, buffer, 2.0F, 1.0F));
    refuses(device.copy_to_device_async(buffer, values, *empty));
    refuses(device.copy_on_device(buffer, buffer, *empty));
    refuses(device.fill(buffer, 0, *empty));
    refuses(device.allocate(64, *empty));
    refuses(device.allocate(64, StreamRef(*empty)));
    refuses(event.record(*empty));
    refuses(empty->synchronize());
  }
  CHECK(device.statistics(modules().arithmetic).launches == 0);
  CHECK(take(device.download(buffer)) == values);
  // A name of the stream from before the move still names it, and `{}` names the default stream.
  CHECK(moved);
  CHECK_FALSE(kept.is_empty());
  CHECK_FALSE(StreamRef().is_empty());
  check(device.fill(buffer, 0, kept));
  check(moved.synchronize());
  check(event.record({}));
  Event lost = take(device.create_event());
  const Event found = std::move(lost);
  CHECK(found);
  CHECK_FALSE(lost);
  CHECK_FALSE(lost.record());
  CHECK_FALSE(lost.synchronize());
  CHECK_FALSE(found.milliseconds_since(lost));
}

TEST_CASE("An empty buffer has no address, and nothing is copied to it or from it") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  Buffer buffer = take(device.allocate(64));
  const Buffer moved = std::move(buffer);
  CHECK(moved.size() == 64);
  CHECK(buffer.empty());
  CHECK(buffer.data() == nullptr);
  const Result<void> copied = device.copy_to_device(buffer, counting(1));
  REQUIRE_FALSE(copied);
  CHECK(copied.error().code == ErrorCode::kInvalidInput);
  CHECK(copied.error().message.ends_with("the buffer has 0 bytes"));
  CHECK_FALSE(device.copy_on_device(buffer, moved));
  CHECK(take(device.download<float>(buffer)).empty());
  check(device.fill(buffer, 1));
}

TEST_CASE("A moved Runtime or Device is a copy, so that neither is ever empty") {
  Runtime runtime = open_subject();
  const Runtime same = std::move(runtime);
  CHECK(runtime.devices().data() == same.devices().data());
  Device device = first_device(runtime);
  const Device other = std::move(device);
  CHECK(device.info().id == other.info().id);
  check(device.synchronize());
}

TEST_CASE(
    "Launches of several threads on one stream do not overlap where the device is the CPU's") {
  const bool is_host = subject().backend == Backend::kHost;
  if (!is_host && subject().backend != Backend::kEmulator) SKIP("a GPU's driver keeps the order");
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto scale_add = take(device.function(modules().scale_add));
  const Stream stream = take(device.create_stream());
  for (const StreamRef on : {StreamRef(), StreamRef(stream)}) {
    const auto values = take(device.upload(std::vector<float>(kCount)));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          (void)scale_add.launch({{4}, {256}, 0, on}, kCount, values, values, 1.0F, 1.0F);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(take(device.download(values)) == std::vector<float>(kCount, 400.0F));
  }
}

TEST_CASE("Device takes a stream that the caller made") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const bool is_cuda = subject().backend == Backend::kCuda;
  if (!is_cuda && subject().backend != Backend::kHip) SKIP("its streams are kiln's own");
  const std::vector<float> values = counting(kCount);
  std::vector<float> results(kCount);
  const Buffer buffer = take(device.allocate(kCount * sizeof(float)));
  const auto scale_add = take(device.function(modules().scale_add));
  Callers callers(runtime);  // its context is that of the device
  const StreamRef stream = StreamRef::from_native(callers.create_stream());
  check(device.copy_to_device_async(buffer.data(), values.data(), buffer.size(), stream));
  check(
      scale_add.launch({{4}, {256}, 0, stream}, kCount, buffer.data(), buffer.data(), 2.0F, 0.0F));
  check(device.copy_to_host_async(results.data(), buffer.data(), buffer.size(), stream));
  const Event event = take(device.create_event());
  check(event.record(stream));
  check(event.synchronize());
  CHECK(results[999] == 2.0F * 999.0F);
  callers.destroy_stream(stream.native());
}

TEST_CASE("A blocking copy waits for a stream that does not wait for the default stream") {
  if (!subject_has_graphs()) SKIP("its streams are kiln's own");
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Callers callers(runtime);
  const StreamRef stream = StreamRef::from_native(callers.create_stream(Callers::kNonBlocking));
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  const auto values = take(device.upload(std::vector<std::uint8_t>(kBytes)));
  for (std::uint8_t value = 1; value <= 100; ++value) check(device.fill(values, value, stream));
  CHECK(take(device.download(values)).back() == 100);
  check(device.fill(values, 1, stream));
  check(device.copy_to_device(values, std::vector<std::uint8_t>(kBytes, 2)));
  CHECK(take(device.download(values)).back() == 2);
  callers.destroy_stream(stream.native());
}

TEST_CASE("Device works in a context that the caller made, and leaves the caller's current") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  if (subject().backend != Backend::kCuda) {
    int anything = 0;
    const Result<Device> refused = device.in_context(&anything);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kInvalidInput);
    CHECK(refused.error().message.find("failed using the caller's context on ") == 0);
    return;
  }
  CHECK_FALSE(device.in_context(nullptr));
  void* context = nullptr;
  REQUIRE(vendor_function<int(void**, unsigned, int)>(runtime, "cuCtxCreate_v2")(&context, 0, 0) ==
          0);
  vendor_function<int(void*)>(runtime, "cuCtxSetCurrent")(nullptr);
  {
    const Device inside = take(device.in_context(context));
    CHECK(inside.info().id == device.info().id);
    const Buffer buffer = take(inside.upload(counting(kCount)));
    const auto scale_add = take(inside.function(modules().scale_add));
    check(scale_add.launch(kConfig, kCount, buffer.data(), buffer.data(), 2.0F, 0.0F));
    CHECK(take(inside.download<float>(buffer))[10] == 20.0F);
    // Modules belong to the context: the device itself has neither loaded one nor created a
    // context.
    CHECK(inside.statistics(modules().arithmetic).loads == 1);
    CHECK(device.statistics(modules().arithmetic).loads == 0);
    if (subject().machine != nullptr) CHECK(subject().machine->live().contexts == 0);
  }
  void* current = &context;
  vendor_function<int(void**)>(runtime, "cuCtxGetCurrent")(&current);
  CHECK(current == nullptr);
  if (runtime.devices().size() > 1) CHECK_FALSE(take(runtime.device("cuda:1")).in_context(context));
  vendor_function<int(void*)>(runtime, "cuCtxDestroy_v2")(context);
}

TEST_CASE("A module of several units loads the unit that is used") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  check(take(device.function(modules().pair_nothing)).launch(kConfig));
  if (subject().machine != nullptr) CHECK(subject().machine->loads().size() == 1);
  check(device.load(modules().pair));
  if (subject().machine != nullptr) CHECK(subject().machine->loads().size() == 2);
  CHECK(take(device.function(modules().pair_scale_add)).name() == "scale_add");
}

TEST_CASE("Device reads and writes a variable of a module") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const Symbol gain = take(device.symbol("gain", modules().arithmetic));
  REQUIRE(gain.size == sizeof(float));
  const float written = 7.0F;
  float read = 0.0F;
  check(device.copy_to_device(gain.data, &written, gain.size));
  check(device.copy_to_host(&read, gain.data, gain.size));
  CHECK(read == written);

  const Result<Symbol> missing = device.symbol("loss", modules().pair);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().message.find("failed finding variable 'loss' of module 'pair' on ") == 0);
}

TEST_CASE("Device loads an image that the caller brings, once") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const ImageEntry* image = nullptr;
  for (const ImageEntry& candidate : modules().arithmetic.images) {
    const auto target = parse_target_id(candidate.target);
    if (can_run(*target, *parse_target_id(device.info().target))) image = &candidate;
  }
  REQUIRE(image != nullptr);
  const Function scale_add =
      take(device.get_or_load_func_raw("scale_add", image->data, image->size));
  const Function nothing = take(device.get_or_load_func_raw("nothing", image->data, image->size));
  CHECK(scale_add.name() == "scale_add");
  CHECK(scale_add.kernel() == nullptr);
  const Buffer buffer = take(device.upload(counting(kCount)));
  check(scale_add.launch(kConfig, kCount, buffer.data(), buffer.data(), 2.0F, 0.0F));
  check(nothing.launch(kConfig));
  CHECK(take(device.download<float>(buffer))[10] == 20.0F);
  if (subject().machine != nullptr) CHECK(subject().machine->loads().size() == 1);
  CHECK_FALSE(device.get_or_load_func_raw("missing", image->data, image->size));
  const auto short_image = device.get_or_load_func_raw("scale_add", "abc", 3);
  REQUIRE_FALSE(short_image);
  CHECK(short_image.error().text().find("4 bytes") == std::string::npos);

  // Arguments are compared with the information of the image or its driver. A fake image has none.
  const bool is_known = subject().machine == nullptr || subject().name == "fake_cuda";
  if (!is_known) return;
  const Result<void> few = scale_add.launch(kConfig, kCount, buffer.data(), buffer.data(), 2.0F);
  REQUIRE_FALSE(few);
  CHECK(few.error().code == ErrorCode::kInvalidInput);
  CHECK(few.error().message.find("kernel 'scale_add' of module ") == 0);
  CHECK(few.error().message.find(" takes 5 arguments, got 4") != std::string::npos);
  CHECK_FALSE(nothing.launch(kConfig, 1));
  const Result<void> wide =
      scale_add.launch(kConfig, kCount, buffer.data(), buffer.data(), 2.0, 0.0F);
  REQUIRE_FALSE(wide);
  CHECK(wide.error().message == "kernel 'scale_add': argument 4 has 8 bytes, the parameter has 4");
}

TEST_CASE("Device counts what happened to a module") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  CHECK(device.statistics(modules().pair).loads == 0);
  check(device.load(modules().pair));
  const auto nothing = take(device.function(modules().pair_nothing));
  check(nothing.launch(kConfig));
  check(nothing.launch(kConfig));
  check(device.unload(modules().pair));
  const ModuleStatistics statistics = device.statistics(modules().pair);
  CHECK(statistics.loads == 2);
  CHECK(statistics.unloads == 2);
  CHECK(statistics.failures == 0);
  CHECK(statistics.launches == 2);
  CHECK(statistics.loaded_bytes > 0);
  CHECK(statistics.load_milliseconds > 0);
}

TEST_CASE("A function keeps its device open") {
  const auto alone = [] {
    const Runtime runtime = open_subject();
    return take(first_device(runtime).function(modules().scale_add));
  }();
  CHECK(alone.name() == "scale_add");
  float* const none = nullptr;
  check(alone.launch({{1}, {256}}, std::uint64_t{0}, none, none, 2.0F, 1.0F));
  const auto copy = alone;
  check(copy.prepare());
}

TEST_CASE("A function outlives its module's unloading with an error, and its reloading") {
  const Runtime runtime = open_subject();
  const Device device = first_device(runtime);
  const auto nothing = take(device.function(modules().nothing));
  check(device.unload(modules().pair));  // never loaded
  check(device.unload(modules().arithmetic));
  const Result<void> launched = nothing.launch(kConfig);
  REQUIRE_FALSE(launched);
  CHECK(launched.error().code == ErrorCode::kNotFound);
  CHECK(launched.error().message.find("was unloaded from " + device.info().id) !=
        std::string::npos);
  (void)take(device.function(modules().nothing));
  check(nothing.launch(kConfig));
  check(device.synchronize());
}

TEST_CASE("Handles may be destroyed in any order") {
  Buffer buffer;
  Stream stream;
  Event event;
  {
    Runtime runtime = open_subject();
    const Device device = first_device(runtime);
    buffer = take(device.allocate(64));
    stream = take(device.create_stream());
    event = take(device.create_event());
    (void)take(device.function(modules().nothing));
  }
  check(stream.synchronize());
  SECTION("the buffer last") {
    stream = Stream();
    event = Event();
    buffer = Buffer();
  }
  SECTION("the stream last") {
    buffer = Buffer();
    event = Event();
    stream = Stream();
  }
  if (subject().machine != nullptr) {
    CHECK(subject().machine->live() == fake::Machine::Live{0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("Threads that ask for one module at once load it once a device") {
  const Runtime runtime = open_subject();
  if (subject().machine != nullptr) {
    subject().machine->script().load_time = std::chrono::milliseconds(5);
  }
  std::vector<std::thread> threads;
  std::vector<std::string> errors(8);
  for (std::size_t thread = 0; thread < errors.size(); ++thread) {
    threads.emplace_back([&runtime, &error = errors[thread], thread] {
      const std::size_t which = thread % runtime.devices().size();
      const Result<Device> device = runtime.device(which);
      if (!device) return error = device.error().message, void();
      const std::vector<float> values = counting(kCount);
      const Result<Buffer> buffer = device->upload(values);
      if (!buffer) return error = buffer.error().message, void();
      const auto scale_add = device->function(modules().scale_add);
      if (!scale_add) return error = scale_add.error().message, void();
      for (int i = 0; i < 50; ++i) {
        const Result<void> launched =
            scale_add->launch(kConfig, kCount, buffer->data(), buffer->data(), 1.0F, 1.0F);
        if (!launched) return error = launched.error().message, void();
      }
      const auto results = device->download<float>(*buffer);
      if (!results) return error = results.error().message, void();
      if ((*results)[7] != 57.0F) error = "element 7 is " + std::to_string((*results)[7]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
  for (std::size_t which = 0; which < runtime.devices().size(); ++which) {
    CHECK(runtime.device(which)->statistics(modules().arithmetic).loads == 1);
  }
  if (subject().machine != nullptr) {
    CHECK(subject().machine->loads().size() == runtime.devices().size());
  }
}
