// Copies for devices that share the program's memory and know their buffers. A copy that ends
// outside its buffer, or begins where there is no memory, is an error.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"

namespace kiln::runtime {

// `available` is the number of bytes from the start of the copy to the end of its buffer. It is empty if
// the address is in no buffer, as for variables of images. `direction` is "to" or "from". Errors:
// kInvalidInput.
inline Result<void> check_copy_bounds(const char* direction, const void* address,
                                      std::optional<std::uint64_t> available, std::size_t bytes) {
  if (bytes == 0 || (address != nullptr && (!available || bytes <= *available))) return {};
  const std::string where =
      address == nullptr ? "a null pointer"
                         : "a buffer that has " + std::to_string(*available) + " from there on";
  return Error{ErrorCode::kInvalidInput,
               "copying " + std::to_string(bytes) + " bytes " + direction + " " + where,
               {},
               {}};
}

// Copies memory that is in no known buffer. The system checks that the memory exists. Errors:
// kInvalidInput.
inline Result<void> copy_outside_buffers(void* target, const void* source, std::size_t bytes) {
  auto* to = static_cast<char*>(target);
  auto* from = const_cast<char*>(static_cast<const char*>(source));
  while (bytes != 0) {
    const iovec local{to, bytes}, remote{from, bytes};
    const ssize_t done = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    if (done <= 0 && errno == EFAULT) {
      return Error{ErrorCode::kInvalidInput,
                   "copying " + std::to_string(bytes) + " bytes where no memory is",
                   {},
                   {}};
    }
    if (done <= 0) {  // the system does not let a process read itself this way
      std::memcpy(to, from, bytes);
      return {};
    }
    to += done;
    from += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return {};
}

// `bytes_after(address)` returns the `available` of check_copy_bounds() for a device address.
template <typename BytesAfter>
Result<void> checked_copy(const CopyRequest& request, const BytesAfter& bytes_after) {
  bool is_known = true;
  const auto check = [&](const char* direction, const void* address) {
    const std::optional<std::uint64_t> available = bytes_after(address);
    is_known = is_known && available.has_value();
    return check_copy_bounds(direction, address, available, request.bytes);
  };
  // Checks an address in the program's own memory. Only null is known to be invalid there.
  const auto check_program = [&](const char* direction, const void* address) -> Result<void> {
    if (address != nullptr) return {};
    return check_copy_bounds(direction, address, {}, request.bytes);
  };
  KILN_TRY(request.direction == CopyDirection::kToHost ? check_program("to", request.target)
                                                       : check("to", request.target));
  KILN_TRY(request.direction == CopyDirection::kToDevice ? check_program("from", request.source)
                                                         : check("from", request.source));
  if (!is_known) return copy_outside_buffers(request.target, request.source, request.bytes);
  std::memcpy(request.target, request.source, request.bytes);
  return {};
}

}  // namespace kiln::runtime
