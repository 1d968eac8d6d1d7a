#include "host/image.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/diagnostic.hpp"
#include "formats/host_image.hpp"

namespace kiln::host {
namespace {

constexpr char kBlockOffsetSymbol[] = "kiln_host_block_offset";
constexpr std::string_view kRunPrefix = "kiln_host_run_";

// The sanitizer that this engine was built with, spelt as in ImageRecord.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::string_view kSanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
constexpr std::string_view kSanitizer = "thread";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::string_view kSanitizer = "address";
#elif __has_feature(thread_sanitizer)
constexpr std::string_view kSanitizer = "thread";
#else
constexpr std::string_view kSanitizer = "";
#endif
#else
constexpr std::string_view kSanitizer = "";
#endif

// True if this processor runs code for `level`, a micro-architecture level of the psABI.
bool processor_has(std::string_view level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (level == "x86-64") return true;
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (level == "x86-64-v2") return v2;
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2");
  if (level == "x86-64-v3") return v3;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (level == "x86-64-v4") return v4;
  return false;
#elif defined(__aarch64__)
  return level == "armv8-a";
#else
  (void)level;
  return false;
#endif
}

// The block that an OS thread runs, for all images. Its offset from the thread pointer is the same
// in every thread.
thread_local Block* current_block __attribute__((tls_model("initial-exec"))) = nullptr;

// Writes this offset into an image. The sanitizer does not know that the memory of a closed image
// may be reused for the next one, and would report two such writes as a race.
__attribute__((no_sanitize("thread"))) void store_block_offset(std::ptrdiff_t* offset) {
  *offset = reinterpret_cast<char*>(&current_block) - static_cast<char*>(thread_pointer());
}

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
}

Result<int> write_to_memory_file(std::span<const std::byte> bytes) {
  int file = memfd_create("kiln-host-image", MFD_CLOEXEC);
  if (file < 0) {
    char path[] = "/tmp/kiln-host-image-XXXXXX";
    file = mkostemp(path, 0x80000 /* O_CLOEXEC */);
    if (file >= 0) unlink(path);
  }
  std::size_t written = 0;
  while (file >= 0 && written < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      close(file);
      file = -1;
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  if (file < 0) {
    return Error{
        ErrorCode::kEnvironment,
        std::string("cannot write a host image to memory or to /tmp: ") + std::strerror(errno),
        {},
        {}};
  }
  return file;
}

Result<void> check(const HostImage& image, std::uint32_t wave_width) {
  const std::uint32_t image_width = image.target.wave64 ? 64 : 32;
  if (image_width != wave_width) {
    return invalid("the host image has waves of " + std::to_string(image_width) +
                   " lanes, the device has " + std::to_string(wave_width));
  }
  if (!processor_has(image.cpu)) {
    return Error{ErrorCode::kUnavailable,
                 "the host image needs a processor of level " + image.cpu +
                     ", which this machine's is not",
                 {},
                 {}}
        .hint("build it with '-march=x86-64' in the manifest's host_flags");
  }
  if (image.sanitizer != kSanitizer && !image.sanitizer.empty()) {
    return invalid("the host image is built for the " + image.sanitizer +
                   " sanitizer, this program is not");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Image>> Image::load(std::span<const std::byte> bytes,
                                           std::uint32_t wave_width) {
  KILN_TRY_ASSIGN(const HostImage records, read_host_image(bytes));
  KILN_TRY(check(records, wave_width));
  auto file = write_to_memory_file(bytes);
  if (!file) return std::move(file).error();
  // The path has the process number, so that a symbolizer in another process can read it as well.
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(*file);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    close(*file);
    return Error{
        ErrorCode::kUnavailable, std::string("cannot open the host image: ") + reason, {}, {}}
        .hint(
            "a newer C library than this machine's is the usual cause: build the image on the "
            "oldest system that must run it");
  }
  std::unique_ptr<Image> image(new Image(*file, library));
  auto* offset = static_cast<std::ptrdiff_t*>(dlsym(library, kBlockOffsetSymbol));
  if (offset == nullptr) return invalid("the host image does not ask for its block");
  store_block_offset(offset);
  return image;
}

Image::~Image() {
  dlclose(library_);
  close(file_);
}

RunFunction Image::find(const std::string& kernel) const {
  const std::string symbol = std::string(kRunPrefix) + kernel;
  return reinterpret_cast<RunFunction>(dlsym(library_, symbol.c_str()));
}

void* Image::find_symbol(const std::string& name, std::size_t& bytes) const {
  void* address = dlsym(library_, name.c_str());
  if (address == nullptr) return nullptr;
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr) {
    return nullptr;
  }
  bytes = symbol->st_size;
  return address;
}

}  // namespace kiln::host
