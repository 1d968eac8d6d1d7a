#include "emulator/kernarg.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "emulator/apertures.hpp"

namespace kiln::emulator {
namespace {

constexpr std::size_t kAlignment = 64;

// KernelDescriptor::properties: the registers that are set up, in this order.
enum Property : u16 {
  kPrivateSegmentBuffer = 1 << 0,
  kDispatchPointer = 1 << 1,
  kQueuePointer = 1 << 2,
  kKernargPointer = 1 << 3,
  kDispatchId = 1 << 4,
  kFlatScratchInit = 1 << 5,
  kPrivateSegmentSize = 1 << 6,
};

// Returns the value of a hidden argument. An argument that kiln does not support is null, or points
// into kHostAperture.
u64 hidden_value(std::string_view kind, const LaunchRequest& request) {
  constexpr std::string_view kAxes = "xyz";
  const std::size_t axis = kind.empty() ? kAxes.npos : kAxes.find(kind.back());
  if (axis != kAxes.npos && kind.starts_with("hidden_block_count_")) return request.grid[axis];
  if (axis != kAxes.npos && kind.starts_with("hidden_group_size_")) return request.block[axis];
  constexpr std::string_view kServiceBuffers[] = {"hidden_hostcall_buffer", "hidden_printf_buffer",
                                                  "hidden_heap_v1"};
  static_assert(std::size(kServiceBuffers) == std::size(kHostServices));
  for (u32 service = 0; service < std::size(kServiceBuffers); ++service) {
    if (kind == kServiceBuffers[service]) {
      return combine(service << kHostServiceShift, kHostAperture);
    }
  }
  if (kind == "hidden_grid_dims") {
    const auto spans = [&](std::size_t i) { return u64{request.grid[i]} * request.block[i] > 1; };
    return spans(2) ? 3 : spans(1) ? 2 : 1;
  }
  if (kind == "hidden_dynamic_lds_size") return request.dynamic_lds;
  if (kind == "hidden_private_base") return kPrivateAperture;
  if (kind == "hidden_shared_base") return kSharedAperture;
  return 0;
}

}  // namespace

KernelArguments::KernelArguments(const LaunchRequest& request) : kernel_(*request.kernel) {
  // the implicit arguments, even if the kernel does not list them
  constexpr std::size_t kMinBytes = 256;
  argument_bytes_ = std::max<std::size_t>(kernel_.descriptor.kernarg_size, kMinBytes) + kAlignment;
  segment_.resize(argument_bytes_ + kAlignment);
  const u64 start = reinterpret_cast<u64>(segment_.data());
  arguments_ = segment_.data() + (kAlignment - start % kAlignment) % kAlignment;
  const void* const* next = request.arguments;
  for (const KernelArgument& argument : kernel_.arguments) {
    if (argument.is_hidden()) {
      const u64 value = hidden_value(argument.kind, request);
      write_argument(argument, &value);
      continue;
    }
    std::optional<u64>& pointer = pointers_.emplace_back();
    if (argument.is_pointer()) {
      u64 address = 0;
      std::memcpy(&address, *next, std::min<std::size_t>(argument.size, sizeof address));
      pointer = address;
    }
    write_argument(argument, *next++);
  }
  write_packet(request);
}

void KernelArguments::write_argument(const KernelArgument& argument, const void* value) {
  if (argument.offset > argument_bytes_ || argument.size > argument_bytes_ - argument.offset)
    return;
  const std::size_t size =
      argument.is_hidden() ? std::min<std::size_t>(argument.size, sizeof(u64)) : argument.size;
  std::memcpy(arguments_ + argument.offset, value, size);
}

// Writes the packet of 64 bytes that describes a launch to the hardware (HSA, kernel dispatch
// packet).
void KernelArguments::write_packet(const LaunchRequest& request) {
  struct Packet {
    u16 header;
    u16 setup;
    u16 workgroup_size[3];
    u16 reserved;
    u32 grid_size[3];
    u32 private_segment_size;
    u32 group_segment_size;
  } packet{};
  packet.setup = 3;
  for (std::size_t i = 0; i < 3; ++i) {
    packet.workgroup_size[i] = static_cast<u16>(request.block[i]);
    packet.grid_size[i] = request.grid[i] * request.block[i];
  }
  packet.private_segment_size = kernel_.descriptor.private_segment_size;
  packet.group_segment_size = kernel_.descriptor.group_segment_size + request.dynamic_lds;
  std::memcpy(packet_.data(), &packet, sizeof packet);
}

std::vector<u32> KernelArguments::user_registers() const {
  const u16 properties = kernel_.descriptor.properties;
  std::vector<u32> registers;
  const auto add = [&](Property property, std::initializer_list<u32> values) {
    if ((properties & property) == 0) return;
    for (const u32 value : values) registers.push_back(value);
  };
  const u64 packet = reinterpret_cast<u64>(packet_.data());
  const u64 arguments = reinterpret_cast<u64>(arguments_);
  add(kPrivateSegmentBuffer, {0, 0, 0xffffffff, kScratchDescriptorTag});
  add(kDispatchPointer, {low_half(packet), high_half(packet)});
  add(kQueuePointer, {0, 0});
  add(kKernargPointer, {low_half(arguments), high_half(arguments)});
  add(kDispatchId, {0, 0});
  add(kFlatScratchInit, {0, 0});
  add(kPrivateSegmentSize, {kernel_.descriptor.private_segment_size});
  return registers;
}

std::vector<AddressRange> KernelArguments::ranges() const {
  const u64 packet = reinterpret_cast<u64>(packet_.data());
  const u64 arguments = reinterpret_cast<u64>(arguments_);
  return {{arguments, arguments + argument_bytes_, false},
          {packet, packet + packet_.size(), false}};
}

}  // namespace kiln::emulator
