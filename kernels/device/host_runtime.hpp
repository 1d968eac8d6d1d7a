// The parts of a host image other than its kernels: the current thread, and the records and entry
// points by which the engine finds the kernels (host_abi.hpp). Included only by platform.cuh, when
// a host compiler builds a module.
#pragma once

#include <type_traits>
#include <utility>

#include "device/host_abi.hpp"

// Offset from the thread pointer to the loader's thread-local variable, which holds the block that
// the OS thread runs. The loader writes this offset. An image has no thread-local variable of its
// own, because it would take static thread-local storage. A process has little of that, and closing
// an image seldom gives it back.
extern "C" {
__attribute__((visibility("default"))) extern std::ptrdiff_t kiln_host_block_offset;
std::ptrdiff_t kiln_host_block_offset = 0;
}

namespace kiln::host {

// Hides a function from the thread sanitizer, which regards every device thread as a thread. What
// the engine and its images write for one another is not part of a kernel's accesses.
#define KILN_HOST_UNSEEN __attribute__((no_sanitize("thread")))

KILN_HOST_UNSEEN inline Block*& current_block_slot() {
  return *reinterpret_cast<Block**>(static_cast<char*>(thread_pointer()) + kiln_host_block_offset);
}

// The block that this OS thread runs, and its numbers. They do not change while Entry::loop runs,
// and `const` tells the compiler so. The compiler then reads each of them once, before the loop,
// and computes there what depends on it. The functions are not inlined, because the compiler would
// then repeat their memory reads after every store of a kernel.
#define KILN_HOST_CONSTANT __attribute__((const, noinline, unused)) KILN_HOST_UNSEEN static
KILN_HOST_CONSTANT Block* current_block() { return current_block_slot(); }
KILN_HOST_CONSTANT std::uint32_t block_size() { return current_block_slot()->block_dim.x; }
KILN_HOST_CONSTANT std::uint32_t block_count() { return current_block_slot()->grid_dim.x; }
KILN_HOST_CONSTANT std::uint32_t block_index() { return current_block_slot()->block_index.x; }
#undef KILN_HOST_CONSTANT

// The location of the call, when used as a default argument.
constexpr Site here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
  return {file, line};
}

// Returns the block's shared variable of this type. `tag` distinguishes declarations.
template <typename T>
T& shared_memory(const void* tag) {
  return *static_cast<T*>(
      current_block()->services->shared(current_block(), tag, sizeof(T), alignof(T)));
}

// A kernel's entry point and its record, derived from its type.
template <auto kKernel>
struct Entry;
template <typename... P, void (*kKernel)(P...)>
struct Entry<kKernel> {
  static_assert(sizeof...(P) <= kMaxParameters, "raise kMaxParameters in host_abi.hpp");

  KILN_HOST_UNSEEN static void run(Block* block) {
    current_block_slot() = block;
    run_threads(block->arguments, std::index_sequence_for<P...>{});
  }

  template <std::size_t... I>
  KILN_HOST_UNSEEN static void run_threads(const void* const* arguments,
                                           std::index_sequence<I...>) {
    loop(*static_cast<const P*>(arguments[I])...);
  }

  // A separate function, so that the block's numbers are read after run() has set the block.
  // Arguments are passed by value: the stores of a thread cannot change them, so they stay in
  // registers.
  __attribute__((noinline)) KILN_HOST_UNSEEN static void loop(const P... arguments) {
    // Read here for all threads. A kernel may read them on some paths only.
    __asm__ volatile("" : : "r"(block_size()), "r"(block_count()), "r"(block_index()));
    Block& block = *current_block();
    const bool is_linear = block.is_linear;
    while (block.next_thread < block.thread_limit) {
      const std::uint32_t linear = block.next_thread++;
      block.thread = linear;
      block.thread_index = is_linear ? linear : linear % block_size();
      kKernel(arguments...);
    }
  }

  template <std::uint32_t kThreads, std::size_t kSize>
  static constexpr KernelRecord record(const char (&name)[kSize]) {
    static_assert(kThreads >= 1 && kThreads <= kMaxBlockThreads,
                  "a kernel's launch bound is 1 to 1024 threads");
    static_assert(kSize <= sizeof(KernelRecord::name), "a kernel's name is too long");
    KernelRecord record{};
    record.record_size = sizeof(KernelRecord);
    record.abi_version = kAbiVersion;
    record.max_threads = kThreads;
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

#undef KILN_HOST_UNSEEN

}  // namespace kiln::host

// The processor that the image is compiled for. On x86-64, the lowest level of the psABI that has
// all the instructions that the compiler may use.
#if defined(__x86_64__) && defined(__AVX512F__)
#define KILN_HOST_CPU "x86-64-v4"
#elif defined(__x86_64__) && (defined(__AVX__) || defined(__BMI__) || defined(__BMI2__))
#define KILN_HOST_CPU "x86-64-v3"
#elif defined(__x86_64__) && (defined(__SSE3__) || defined(__POPCNT__))
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

// Not inline: an inline variable would be shared by all images of a program, which could then not
// be unloaded.
extern "C" {
extern const kiln::host::ImageRecord kiln_host_image
    __attribute__((visibility("default"), section(".kiln.image")));
const kiln::host::ImageRecord kiln_host_image =
    kiln::host::image_record(KILN_HOST_WAVE, KILN_HOST_CPU, KILN_HOST_SANITIZER);
}

// Makes `name`, a function of this file, a kernel of the image, for blocks of up to `threads`
// threads.
#define KILN_HOST_ENTRY(threads, name)                                                    \
  extern "C" __attribute__((visibility("default"))) void kiln_host_run_##name(            \
      ::kiln::host::Block* block) {                                                       \
    ::kiln::host::Entry<&name>::run(block);                                               \
  }                                                                                       \
  __attribute__((section(".kiln.kernels"),                                                \
                 used)) static const ::kiln::host::KernelRecord kiln_host_record_##name = \
      ::kiln::host::Entry<&name>::record<threads>(#name);
