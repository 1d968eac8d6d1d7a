// What a host image is made of beside its kernels: the thread that runs, and the records and entry
// points by which the engine finds the kernels (host_abi.hpp). Included by platform.cuh alone, when
// a host compiler builds a module.
#pragma once

#include <type_traits>
#include <utility>

#include "device/host_abi.hpp"

// Where the loader keeps the block that an OS thread runs: the distance of its own thread-local variable
// from the thread pointer, which it writes here. With a variable of its own, each image would take static
// thread-local storage, of which a process has little, and closing an image seldom gives it back.
extern "C" {
__attribute__((visibility("default"))) extern std::ptrdiff_t kiln_host_block_offset;
std::ptrdiff_t kiln_host_block_offset = 0;
}

namespace kiln::host {

// The block that this OS thread runs: used like a Block*.
struct CurrentBlock {
  __attribute__((no_sanitize("thread"))) operator Block*() const { return slot(); }
  __attribute__((no_sanitize("thread"))) Block* operator->() const { return slot(); }
  __attribute__((no_sanitize("thread"))) void operator=(Block* block) const { slot() = block; }

 private:
  __attribute__((no_sanitize("thread"))) static Block*& slot() {
    return *reinterpret_cast<Block**>(static_cast<char*>(thread_pointer()) + kiln_host_block_offset);
  }
};
inline constexpr CurrentBlock current_block{};

// As a default argument: where the function is called.
constexpr Site here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
  return {file, line};
}

// Makes the next thread of the block the running one; false when there is none left.
__attribute__((no_sanitize("thread"))) inline bool begin_thread(Block& block) {
  if (block.next_thread >= block.thread_limit) return false;
  const std::uint32_t linear = block.next_thread++;
  block.thread = linear;
  if (block.is_linear) {
    block.thread_index.x = linear;  // the others are zero from the engine: every store counts here
  } else {
    const Index3 dim = block.block_dim;
    block.thread_index = {linear % dim.x, linear / dim.x % dim.y, linear / dim.x / dim.y};
  }
  return true;
}

// The block's variable of this type; `tag` tells one declaration from another.
template <typename T>
T& shared_memory(const void* tag) {
  return *static_cast<T*>(
      current_block->services->shared(current_block, tag, sizeof(T), alignof(T)));
}

// A kernel's entry point and its record, from its type.
template <auto kKernel>
struct Entry;
template <typename... P, void (*kKernel)(P...)>
struct Entry<kKernel> {
  static_assert(sizeof...(P) <= kMaxParameters, "raise kMaxParameters in host_abi.hpp");

  __attribute__((no_sanitize("thread"))) static void run(Block* block) {
    current_block = block;
    run_threads(*block, std::index_sequence_for<P...>{});
  }

  template <std::size_t... I>
  __attribute__((no_sanitize("thread"))) static void run_threads(Block& block,
                                                                 std::index_sequence<I...>) {
    loop(block, *static_cast<const P*>(block.arguments[I])...);
  }

  // Arguments by value: what a thread stores cannot change them, so they stay in registers.
  __attribute__((no_sanitize("thread"))) static void loop(Block& block, const P... arguments) {
    while (begin_thread(block)) kKernel(arguments...);
  }

  template <std::size_t kSize>
  static constexpr KernelRecord record(const char (&name)[kSize]) {
    static_assert(kSize <= sizeof(KernelRecord::name), "a kernel's name is too long");
    KernelRecord record{};
    record.record_size = sizeof(KernelRecord);
    record.abi_version = kAbiVersion;
    std::size_t offset = 0;
    (void)offset;
    ((offset = (offset + alignof(P) - 1) / alignof(P) * alignof(P),
      record.parameters[record.parameter_count].offset = static_cast<std::uint16_t>(offset),
      record.parameters[record.parameter_count].size = sizeof(P),
      record.parameters[record.parameter_count].is_pointer = std::is_pointer_v<P> ? 1 : 0,
      offset += sizeof(P), ++record.parameter_count),
     ...);
    for (std::size_t i = 0; i < kSize; ++i) record.name[i] = name[i];
    return record;
  }
};

constexpr ImageRecord image_record(std::uint16_t wave_width, const char* cpu,
                                   const char* sanitizer) {
  ImageRecord record{};
  for (std::size_t i = 0; i < 8; ++i) record.magic[i] = "KILNHOST"[i];
  record.record_size = sizeof(ImageRecord);
  record.abi_version = kAbiVersion;
  record.wave_width = wave_width;
  for (std::size_t i = 0; cpu[i] != '\0'; ++i) record.cpu[i] = cpu[i];
  for (std::size_t i = 0; sanitizer[i] != '\0'; ++i) record.sanitizer[i] = sanitizer[i];
  return record;
}

}  // namespace kiln::host

// The processor that the image is compiled for: the psABI's level where there are levels.
#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
#define KILN_HOST_CPU "x86-64-v3"
#elif defined(__x86_64__) && defined(__SSE4_2__) && defined(__POPCNT__)
#define KILN_HOST_CPU "x86-64-v2"
#elif defined(__x86_64__)
#define KILN_HOST_CPU "x86-64"
#elif defined(__aarch64__)
#define KILN_HOST_CPU "armv8-a"
#else
#error \
    "kernels/device/host_runtime.hpp does not know this processor: name its level here and in host/image.cpp"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KILN_HOST_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define KILN_HOST_SANITIZER "thread"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_HOST_SANITIZER "address"
#elif __has_feature(thread_sanitizer)
#define KILN_HOST_SANITIZER "thread"
#endif
#endif
#ifndef KILN_HOST_SANITIZER
#define KILN_HOST_SANITIZER ""
#endif

// Not inline: such a variable would be one for all images of a program, and keep them from being
// unloaded.
extern "C" {
extern const kiln::host::ImageRecord kiln_host_image
    __attribute__((visibility("default"), section(".kiln.image")));
const kiln::host::ImageRecord kiln_host_image =
    kiln::host::image_record(KILN_HOST_WAVE, KILN_HOST_CPU, KILN_HOST_SANITIZER);
}

// Makes `name`, a function of this file, a kernel of the image.
#define KILN_HOST_ENTRY(name)                                                             \
  extern "C" __attribute__((visibility("default"))) void kiln_host_run_##name(            \
      ::kiln::host::Block* block) {                                                       \
    ::kiln::host::Entry<&name>::run(block);                                               \
  }                                                                                       \
  __attribute__((section(".kiln.kernels"),                                                \
                 used)) static const ::kiln::host::KernelRecord kiln_host_record_##name = \
      ::kiln::host::Entry<&name>::record(#name);
