// The handles of kiln.h and the wrapper of its functions. Each handle wraps its C++ counterpart,
// and no exception escapes.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.hpp"
#include "kiln/kiln.h"
#include "kiln/runtime.hpp"

struct kiln_error {
  kiln_error_code code;
  std::string text;
};
struct kiln_runtime {
  kiln::Runtime runtime;
};
struct kiln_device {
  kiln::Device device;
};
struct kiln_buffer {
  kiln::Buffer buffer;
};
struct kiln_pinned {
  kiln::PinnedBuffer<char> buffer;
};
struct kiln_stream {
  kiln::Stream stream;
};
struct kiln_function {
  kiln::Function function;
};
struct kiln_catalog {
  kiln::CatalogFile file;
};

namespace kiln::c_interface {

// The C codes begin with KILN_OK, so the C++ codes are shifted by one.
constexpr kiln_error_code code_of(ErrorCode code) {
  return static_cast<kiln_error_code>(static_cast<int>(code) + 1);
}

// Returns a shared error that is never freed, for when there is no memory for a new one. Its text
// is short enough to need no allocation.
inline kiln_error* out_of_memory() noexcept {
  static kiln_error error{KILN_ENVIRONMENT, "out of memory"};
  return &error;
}

inline kiln_error* make_error(kiln_error_code code, std::string_view text) noexcept {
  try {
    return new kiln_error{code, std::string(text)};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// Returns the error for the exception that is being handled.
inline kiln_error* error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& exception) {
    return make_error(KILN_ENVIRONMENT, exception.what());
  } catch (...) {
    return make_error(KILN_INTERNAL, "an exception of an unknown type");
  }
}

struct PointerArgument {
  const char* name;
  const void* value;
};

// Runs `call`, which returns a Result<void>, for the C function of this name and these arguments. A
// NULL argument and an exception also become errors. (A forced unwind is no exception: it is how
// pthread_cancel ends a thread, and must go on.)
template <typename Call>
kiln_error* guarded(const char* function, std::initializer_list<PointerArgument> arguments,
                    Call call) {
  try {
    for (const PointerArgument& argument : arguments) {
      if (argument.value != nullptr) continue;
      return make_error(KILN_INVALID_INPUT,
                        std::string(function) + " was given NULL for '" + argument.name + "'");
    }
    const kiln::Result<void> result = call();
    return result ? nullptr : make_error(code_of(result.error().code), result.error().text());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return error_of_exception();
  }
}

// Runs `call` for a function that returns no error. Returns `fallback` if `call` throws.
template <typename Value, typename Call>
Value guarded_value(Value fallback, Call call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return fallback;
  }
}

}  // namespace kiln::c_interface
