// What the handles of kiln.h are, and how its functions end: each object is a box around its C++
// counterpart, and no exception leaves.
#pragma once

#include <exception>
#include <initializer_list>
#include <new>
#include <string>
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

// KILN_OK comes before the codes of C++, which begin with 0.
constexpr kiln_error_code code_of(ErrorCode code) {
  return static_cast<kiln_error_code>(static_cast<int>(code) + 1);
}

inline kiln_error* box(const kiln::Error& error) {
  return new kiln_error{code_of(error.code), error.text()};
}

// Where there is no memory for an error of its own: one for all, which is never freed. A text so short
// takes none.
inline kiln_error* out_of_memory() noexcept {
  static kiln_error error{KILN_ENVIRONMENT, "out of memory"};
  return &error;
}

struct Given {
  const char* name;
  const void* value;
};

// Runs `call`, which returns a Result<void>, for a function of this name that was given these; what is
// thrown becomes an error, too.
template <typename Call>
kiln_error* guarded(const char* function, std::initializer_list<Given> all, Call call) {
  try {
    try {
      for (const Given& one : all) {
        if (one.value != nullptr) continue;
        return new kiln_error{KILN_INVALID_INPUT,
                              std::string(function) + " was given NULL for '" + one.name + "'"};
      }
      const kiln::Result<void> result = call();
      return result ? nullptr : box(result.error());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& exception) {
      return new kiln_error{KILN_ENVIRONMENT, exception.what()};
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// Runs `call` for a function that returns no error: where something is thrown, it returns `otherwise`.
template <typename Value, typename Call>
Value guarded_value(Value otherwise, Call call) {
  try {
    return call();
  } catch (const std::exception&) {
    return otherwise;
  }
}

}  // namespace kiln::c_interface
