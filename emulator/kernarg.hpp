// The state that a kernel finds when it starts: its arguments, including hidden ones, and the
// registers that point to them.
#pragma once

#include <memory>
#include <vector>

#include "emulator/dispatch.hpp"

namespace kiln::emulator {

class KernelArguments {
 public:
  // Copies the values of the arguments.
  explicit KernelArguments(const LaunchRequest& request);

  // Returns the scalar registers that the descriptor requests, in their order.
  std::vector<u32> user_registers() const;
  std::vector<AddressRange> ranges() const;
  // The pointers among the explicit arguments.
  const PointerArguments& pointers() const { return pointers_; }

 private:
  void write_argument(const KernelArgument& argument, const void* value);
  void write_packet(const LaunchRequest& request);

  const Kernel& kernel_;
  std::vector<std::byte> segment_;  // larger than needed, so that its content can be aligned
  std::byte* arguments_ = nullptr;
  std::size_t argument_bytes_ = 0;
  alignas(64) std::array<std::byte, 64> packet_{};
  PointerArguments pointers_;
};

}  // namespace kiln::emulator
