// Sequences of calls of the C interface, in any order, over the fake CUDA driver. Each single call
// is valid; its arguments may be anything that earlier calls made, or NULL.
#include <array>

#include "kiln/kiln.h"
#include "tests/fuzz/fuzz_target.hpp"

using namespace kiln::testing;

namespace {

constexpr std::size_t kSlots = 4;

// Frees the old value before it stores a new one.
template <typename T>
class Slots {
 public:
  explicit Slots(void (*release)(T*)) : release_(release) {}
  ~Slots() {
    for (T* one : held_) release_(one);
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  T* at(std::uint8_t i) const { return held_[i % kSlots]; }
  void put(std::uint8_t i, T* one) {
    release_(held_[i % kSlots]);
    held_[i % kSlots] = one;
  }

 private:
  void (*release_)(T*);
  std::array<T*, kSlots> held_{};
};

bool failed(kiln_error* error) {
  if (error == nullptr) return false;
  promise(kiln_error_get_text(error)[0] != '\0', "an error without a text");
  promise(kiln_error_get_code(error) <= KILN_INTERNAL, "an error of no code");
  kiln_error_free(error);
  return true;
}

constexpr char kImage[] = "FAKE sm_90\n.entry scale_add\n.entry nothing\n";
constexpr const char* kNames[] = {"scale_add", "nothing", "missing", ""};
constexpr std::size_t kParameters[] = {5, 0, 0, 0};
constexpr const char* kIds[] = {"cuda:0", "cuda:1", "cuda:9", "none"};

}  // namespace

FUZZ_TARGET(c_interface, data, size) {
  Pieces input(data, size);
  kiln_runtime* runtime = nullptr;
  if (failed(kiln_runtime_open("cuda:0", &runtime))) return;
  // In this order, so that functions, streams and buffers are destroyed before their devices.
  Slots<kiln_device> devices(kiln_device_free);
  Slots<kiln_buffer> buffers(kiln_buffer_free);
  Slots<kiln_stream> streams(kiln_stream_free);
  Slots<kiln_function> functions(kiln_function_free);
  std::array<std::size_t, kSlots> parameters{};  // parameter counts of those functions
  std::array<unsigned char, 256> host{};
  for (int calls = 0; !input.empty() && calls < 64; ++calls) {
    const std::uint8_t call = input.byte(), a = input.byte(), b = input.byte();
    kiln_device* device = devices.at(a);
    switch (call % 12) {
      case 0: {
        kiln_device* opened = nullptr;
        if (!failed(kiln_device_open(runtime, kIds[b % std::size(kIds)], &opened)))
          devices.put(a, opened);
        break;
      }
      case 1: {
        kiln_buffer* made = nullptr;
        if (!failed(kiln_buffer_allocate(device, b, &made))) buffers.put(b, made);
        break;
      }
      case 2: {
        kiln_stream* made = nullptr;
        if (!failed(kiln_stream_create(device, &made))) streams.put(b, made);
        break;
      }
      case 3: {
        kiln_function* loaded = nullptr;
        const std::size_t bytes =
            input.byte() % 8 == 0 ? input.byte() % sizeof kImage : sizeof kImage;
        if (!failed(kiln_function_load(device, kNames[b % std::size(kNames)], kImage, bytes,
                                       &loaded))) {
          functions.put(b, loaded);
          parameters[b % kSlots] = kParameters[b % std::size(kNames)];
        }
        break;
      }
      case 4:
      case 5: {
        kiln_function* function = functions.at(b);
        const kiln_buffer* buffer = buffers.at(input.byte());
        void* memory = buffer != nullptr ? kiln_buffer_data(buffer) : nullptr;
        std::uint64_t count = 0;
        float number = 1;
        const void* arguments[8] = {&count,  &memory, &memory, &number,
                                    &number, &number, &number, &number};
        const std::size_t sizes[8] = {8, 8, input.byte() % 2 == 0 ? 8U : 4U, 4, 4, 4, 4, 4};
        kiln_stream* stream = streams.at(input.byte());
        const kiln_launch_config config = {
            {input.byte(), 1, 1},
            {input.byte(), 1, 1},
            0,
            stream != nullptr ? kiln_stream_native(stream) : nullptr};
        const std::size_t given = input.byte() % 8;
        const bool is_refused =
            failed(call % 12 == 4
                       ? kiln_function_launch(function, &config, arguments, given)
                       : kiln_function_launch_sized(function, &config, arguments, sizes, given));
        promise(is_refused || given == parameters[b % kSlots],
                "a launch with more or fewer arguments than the kernel has");
        break;
      }
      case 6: {
        const kiln_buffer* buffer = buffers.at(b);
        const std::size_t bytes = input.byte() % (kiln_buffer_size(buffer) + 1);
        if (input.byte() % 2 == 0) {
          (void)failed(kiln_copy_to_device(device, kiln_buffer_data(buffer), host.data(), bytes));
        } else {
          (void)failed(kiln_copy_to_host(device, host.data(), kiln_buffer_data(buffer), bytes));
        }
        break;
      }
      case 7: (void)failed(kiln_device_synchronize(device)); break;
      case 8:
        (void)failed(kiln_stream_synchronize(streams.at(b)));
        break;
      case 9:
        (void)failed(kiln_function_prepare(functions.at(b)));
        break;
      case 10: {
        kiln_device_info info;
        kiln_device_get_info(device, &info);
        promise(info.id != nullptr && info.target != nullptr, "a device without a name");
        break;
      }
      default:
        if (b % 3 == 0) buffers.put(b, nullptr);
        if (b % 3 == 1) functions.put(b, nullptr);
        if (b % 3 == 2) streams.put(b, nullptr);
        break;
    }
  }
  kiln_runtime_free(runtime);
}

FUZZ_SEEDS(c_interface) {
  return {std::string("\0\0\0"
                      "\1\0\100"
                      "\2\0\1"
                      "\3\0\0\1"
                      "\4\0\0\0\0\1\1\40\5"
                      "\5\0\0\0\0\1\1\40\4"
                      "\7\0\0",
                      35),
          std::string("\0\1\1"
                      "\3\1\1\1"
                      "\4\1\1\0\0\0\1\1\0"
                      "\11\1\1"
                      "\13\1\1",
                      22)};
}
