// One module on one device: what is loaded of it, and its kernels.
//
// A module has one or more units, each with an image of its own, loaded when the first of its
// kernels is asked for. A kernel that was found once is found again without a lock. An image that
// the caller brought is a module of one unit, whose kernels become known as they are asked for.
//
// Slots and their kernels stay until the device is closed, so a Function may point to one:
// unloading only empties it. Launching and unloading meet like this: a launch announces itself
// (`started`), then reads the function; unloading clears the functions, then waits until as many
// launches have finished as have started. One of the two sees the other, whichever is first.
// Thread-safety: everything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/kernel_info.hpp"
#include "kiln/catalog.hpp"
#include "kiln/device.hpp"
#include "kiln/function.hpp"
#include "kiln/result.hpp"
#include "runtime/src/driver.hpp"
#include "runtime/src/image_folders.hpp"
#include "runtime/src/select_image.hpp"
#include "runtime/src/unpack_image.hpp"

namespace kiln::runtime {

class DeviceState;
class ModuleSlot;

// What is loaded of one image.
struct UnitSlot {
  std::mutex mutex;               // held while loading and unloading
  NativeModule module = nullptr;  // guarded by mutex
  ImageBytes image;               // guarded by mutex; kept where the driver uses the bytes in place
  std::atomic<std::uint64_t> started{0};   // calls of the driver for one of its kernels, ever
  std::atomic<std::uint64_t> finished{0};  // of these, those that have returned
  std::atomic<std::uint64_t> launches{0};  // that the driver took
};

// One kernel: what a Function points to.
struct KernelSlot {
  ModuleSlot* module = nullptr;
  UnitSlot* unit = nullptr;
  const KernelEntry* entry = nullptr;  // null in an image that the caller brought
  std::string_view name;
  // The bytes of each parameter, in an image that the caller brought and where they are known. Written
  // once, before `native` is for the first time.
  std::optional<std::vector<std::size_t>> sizes;
  std::atomic<NativeFunction> native{nullptr};  // null until found, and after unloading

  Result<void> launch(const LaunchConfig& config, const void* const* addresses, std::size_t count);
  // Of as many arguments as the kernel has parameters; launch() compares their number.
  Result<void> check_sizes(const std::size_t* given, std::size_t count) const;
  Result<void> check_types(const Parameter* given, std::size_t count) const;
  Result<void> prepare();
  std::string identity() const;  // "kernel 'x' of module 'y'"

 private:
  // While it lives, unloading waits. Its function is null when the module was unloaded.
  class Use;
  Error unloaded() const;
  Result<void> check(const LaunchConfig& config, std::size_t count);
  std::optional<std::uint32_t> most_threads();  // of a block, where the driver knows
  std::optional<std::size_t> parameter_count() const;
  Parameter parameter(std::size_t index) const;
  Error misfit(std::size_t index, const Parameter& given) const;
};

class ModuleSlot {
 public:
  // A module of a catalog; the entry outlives the slot.
  ModuleSlot(DeviceState& device, const ModuleEntry& entry);
  // An image that the caller brought.
  ModuleSlot(DeviceState& device, std::string name, ImageFormat format, ImageBytes image);
  ModuleSlot(const ModuleSlot&) = delete;
  ModuleSlot& operator=(const ModuleSlot&) = delete;
  ~ModuleSlot();  // unloads

  const ModuleEntry* entry() const { return entry_; }
  const std::string& name() const { return name_; }
  DeviceState& device() const { return device_; }

  // The kernel when it is there already, else null.
  KernelSlot* cached(std::uint32_t kernel) noexcept {
    KernelSlot& slot = kernels_[kernel];
    return slot.native.load(std::memory_order_acquire) != nullptr ? &slot : nullptr;
  }
  // The same, loading what it takes. One thread loads, others wait for it; a failure is told to
  // each and forgotten.
  Result<KernelSlot*> load(std::uint32_t kernel);
  // By name, in an image that the caller brought.
  Result<KernelSlot*> load_named(std::string_view name);
  Result<void> load_all();
  // A variable, in the first unit that has it.
  Result<Symbol> find_symbol(const std::string& name);
  Result<void> unload();
  ModuleStatistics statistics() const;

 private:
  struct Source {
    ImageFormat format = ImageFormat::kHsaco;
    ImageBytes image;
    std::string target;  // as messages show it
    std::string_view fit;
  };

  std::uint16_t index_of(const UnitSlot& unit) const;
  Result<void> load_kernel(KernelSlot& kernel);    // mutex held
  Result<void> load_unit(UnitSlot& unit);          // mutex held
  // What the driver or the given image tells of a kernel's parameters.
  void learn_sizes(KernelSlot& kernel);  // mutex held
  Result<Source> source_of(const UnitSlot& unit);  // mutex held
  DeviceTarget device_target() const;
  Result<Source> given_source() const;             // of a module that the caller brought
  // The error where no image fits, of `images` and of files that were refused before, and no compiler is there.
  Error nothing_fits(Selection selection, FolderImages added, const std::vector<ImageEntry>& images,
                     std::uint16_t unit) const;
  Result<ImageBytes> unpack(const ImageEntry& image) const;
  // kUnavailable, in the compiler's own words, where there is no compiler.
  Result<Source> compile(const ImageEntry& source);
  Result<void> unload_unit(UnitSlot& unit);

  DeviceState& device_;
  const ModuleEntry* entry_ = nullptr;
  std::string name_;
  ImageFormat given_format_ = ImageFormat::kHsaco;
  ImageBytes given_image_;  // of a module that the caller brought
  std::optional<std::vector<KernelInfo>> given_kernels_;  // read when first asked for
  std::vector<UnitSlot> units_;
  std::vector<KernelSlot> kernels_;  // by index, of a catalog's module
  std::mutex named_mutex_;
  std::map<std::string, KernelSlot, std::less<>> named_;  // guarded by named_mutex_

  // What statistics() tells.
  std::atomic<std::uint64_t> loads_{0}, failures_{0}, unloads_{0}, loaded_bytes_{0},
      load_nanoseconds_{0};
};

}  // namespace kiln::runtime
