// The properties of a processor that the emulator needs beyond its instructions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::emulator {

struct DeviceModel {
  std::string_view processor;
  bool is_gfx9;                  // 16-bit results clear the upper half; permutes span 64 lanes
  bool packs_thread_ids;         // x, y and z in one register, 10 bits each
  bool has_architected_scratch;  // needs no register with the address of scratch
  bool is_device;  // tested by the conformance suite, and offered as "emulated:<processor>"
};

std::span<const DeviceModel> device_models();                 // sorted by name
const DeviceModel* find_device_model(std::string_view name);  // null: not modelled

}  // namespace kiln::emulator
