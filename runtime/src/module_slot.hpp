// One module on one device: what is loaded of it, and its kernels by index.
//
// A module has one or more units, each with an image of its own, loaded when the first of its kernels
// is asked for. A kernel that was found once is an array look-up from then on, without a lock.
//
// A slot is never destroyed while its device is open, so a Function may point to it: unloading only
// empties it. Launching and unloading meet like this: a launch announces itself (`launches`), then
// reads the function; unloading clears the functions, then waits until no launch is announced. One
// of the two sees the other, whichever is first.
// Thread-safety: everything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kiln/catalog.hpp"
#include "kiln/function.hpp"
#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/unpack_image.hpp"

namespace kiln::runtime {

class DeviceState;

class ModuleSlot {
 public:
  ModuleSlot(DeviceState& device, const ModuleEntry& entry);
  ModuleSlot(const ModuleSlot&) = delete;
  ModuleSlot& operator=(const ModuleSlot&) = delete;
  ~ModuleSlot();  // unloads

  const ModuleEntry& entry() const { return entry_; }

  // The kernel when it is there already, else an empty Function.
  Function cached(std::uint32_t kernel) noexcept {
    return functions_[kernel].load(std::memory_order_acquire) != nullptr ? Function(this, kernel)
                                                                         : Function();
  }
  // The same, loading what it takes. One thread loads, others wait for it; a failure is told to each
  // and forgotten.
  Result<Function> load(std::uint32_t kernel);
  Result<void> preload();
  Result<void> unload();

  Result<void> launch(std::uint32_t kernel, const LaunchConfig& config,
                      const void* const* addresses, std::size_t count);

 private:
  struct Unit {
    std::mutex mutex;               // held while loading and unloading
    NativeModule module = nullptr;  // guarded by mutex
    ImageBytes image;               // guarded by mutex; kept where the driver uses the bytes in place
    std::atomic<std::uint32_t> launches{0};
  };

  Unit& unit_of(std::uint32_t kernel) { return units_[entry_.kernels[kernel].unit]; }
  Result<void> load_unit(std::uint16_t index);                          // mutex held
  Result<NativeFunction> find_function(Unit& unit, std::uint32_t kernel);  // mutex held
  Result<void> unload_unit(std::uint16_t index);
  Result<void> check(std::uint32_t kernel, const LaunchConfig& config, std::size_t count) const;
  std::string kernel_name(std::uint32_t kernel) const;  // "kernel 'x' of module 'y'"

  DeviceState& device_;
  const ModuleEntry& entry_;
  std::vector<Unit> units_;
  std::vector<std::atomic<NativeFunction>> functions_;  // by kernel; null until found
};

}  // namespace kiln::runtime
