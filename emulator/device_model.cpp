#include "emulator/device_model.hpp"

namespace kiln::emulator {
namespace {

constexpr DeviceModel kModels[] = {
    // processor   gfx9   packed  scratch device
    {"gfx1010", false, false, false, false}, {"gfx1030", false, false, false, true},
    {"gfx1100", false, true, true, true},    {"gfx1101", false, true, true, false},
    {"gfx1102", false, true, true, false},   {"gfx906", true, false, false, false},
    {"gfx908", true, false, false, false},   {"gfx90a", true, true, false, true},
    {"gfx942", true, true, true, false},
};

}  // namespace

std::span<const DeviceModel> device_models() { return kModels; }

const DeviceModel* find_device_model(std::string_view name) {
  for (const DeviceModel& model : kModels) {
    if (model.processor == name) return &model;
  }
  return nullptr;
}

}  // namespace kiln::emulator
