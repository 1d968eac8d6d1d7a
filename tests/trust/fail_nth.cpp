// Preloaded into kiln: makes one call of one function of the C library fail, as with a full disk or
// a lack of descriptors, processes or threads, and counts the calls.
//
//   KILN_TEST_FAIL=rename:3      the third rename fails; with rename:0, none
//   KILN_TEST_COUNT=FILE         file for the number of calls, written when the program ends
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::atomic<long> g_calls{0};

struct Plan {
  std::string function;
  long nth = 0;
  std::string count_file;
  Plan() {
    if (const char* text = std::getenv("KILN_TEST_FAIL")) {
      const char* colon = std::strchr(text, ':');
      function.assign(text, colon != nullptr ? static_cast<std::size_t>(colon - text) : 0);
      nth = colon != nullptr ? std::atol(colon + 1) : 0;
    }
    if (const char* file = std::getenv("KILN_TEST_COUNT")) count_file = file;
  }
  ~Plan() {
    if (count_file.empty()) return;
    if (std::FILE* file = std::fopen(count_file.c_str(), "w")) {
      std::fprintf(file, "%ld\n", g_calls.load());
      std::fclose(file);
    }
  }
};

const Plan& plan() {
  static const Plan plan;
  return plan;
}

bool strikes(const char* function) {
  if (plan().function != function) return false;
  return ++g_calls == plan().nth;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <typename Value>
Value fails(Value value, int code) {
  errno = code;
  return value;
}

::mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, ::mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const ::mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  if (strikes("open")) return fails(-1, EMFILE);
  return real<int(const char*, int, ::mode_t)>("open")(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const ::mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  if (strikes("open")) return fails(-1, EMFILE);
  return real<int(const char*, int, ::mode_t)>("open64")(path, flags, mode);
}

::ssize_t read(int descriptor, void* bytes, std::size_t size) {
  if (strikes("read")) return fails<::ssize_t>(-1, EIO);
  return real<::ssize_t(int, void*, std::size_t)>("read")(descriptor, bytes, size);
}

::ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  if (descriptor > 2 && strikes("write")) {
    // A full disk first accepts a part.
    if (size > 1)
      (void)real<::ssize_t(int, const void*, std::size_t)>("write")(descriptor, bytes, size / 2);
    return fails<::ssize_t>(-1, ENOSPC);
  }
  return real<::ssize_t(int, const void*, std::size_t)>("write")(descriptor, bytes, size);
}

int close(int descriptor) {
  const int result = real<int(int)>("close")(descriptor);
  return strikes("close") ? fails(-1, EIO) : result;
}

int rename(const char* from, const char* to) {
  if (strikes("rename")) return fails(-1, ENOSPC);
  return real<int(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, ::mode_t mode) {
  if (strikes("mkdir")) return fails(-1, ENOSPC);
  return real<int(const char*, ::mode_t)>("mkdir")(path, mode);
}

int unlinkat(int folder, const char* path, int flags) {
  if (strikes("unlinkat")) return fails(-1, EIO);
  return real<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}

int pipe2(int ends[2], int flags) {
  if (strikes("pipe2")) return fails(-1, EMFILE);
  return real<int(int*, int)>("pipe2")(ends, flags);
}

int posix_spawn(::pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const variables[]) {
  if (strikes("posix_spawn")) return EAGAIN;
  return real<int(::pid_t*, const char*, const posix_spawn_file_actions_t*,
                  const posix_spawnattr_t*, char* const*, char* const*)>("posix_spawn")(
      child, path, actions, attributes, argv, variables);
}

int pthread_create(::pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (strikes("pthread_create")) return EAGAIN;
  return real<int(::pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(
      thread, attributes, run, argument);
}

}  // extern "C"
