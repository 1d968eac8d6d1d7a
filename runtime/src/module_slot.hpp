// One module on one device: its loaded images and its kernels.
//
// A module has one or more units. Each unit has its own image, which is loaded when the first of
// its kernels is asked for. A kernel that was found once is found again without a lock. An image
// that the caller brings is a module with one unit, whose kernels become known as they are asked
// for.
//
// Slots and their kernels stay until the device is closed, so a Function may point to one;
// unloading only empties it. A launch first announces itself (`started`) and then reads the
// function. Unloading first clears the functions and then waits until every launch that has started
// has finished. So at least one of the two sees the other. Thread-safe.
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

// The loaded image of one unit.
struct UnitSlot {
  std::mutex mutex;               // held while loading and unloading
  NativeModule module = nullptr;  // guarded by mutex
  ImageBytes image;               // guarded by mutex; kept if the driver uses the bytes in place
  std::atomic<std::uint64_t> started{0};   // number of uses of its kernels that have begun
  std::atomic<std::uint64_t> finished{0};  // number of uses that have ended
  std::atomic<std::uint64_t> launches{0};  // number of launches that the driver accepted
};

// One kernel: what a Function points to.
struct KernelSlot {
  ModuleSlot* module = nullptr;
  UnitSlot* unit = nullptr;
  const KernelEntry* entry = nullptr;  // null for an image that the caller brought
  std::string_view name;
  // The size of each parameter in bytes, if known, for an image that the caller brought. Written
  // once, before `native` is first set.
  std::optional<std::vector<std::size_t>> sizes;
  std::atomic<NativeFunction> native{nullptr};  // null until found, and again after unloading

  Result<void> launch(const LaunchConfig& config, const void* const* addresses, std::size_t count);
  // Check the arguments. There must be as many as the kernel has parameters; launch() compares the
  // numbers.
  Result<void> check_sizes(const std::size_t* argument_sizes, std::size_t count) const;
  Result<void> check_types(const Parameter* arguments, std::size_t count) const;
  Result<void> prepare();
  std::string identity() const;  // "kernel 'x' of module 'y'"

 private:
  // Unloading waits while it lives. Its function is null if the module was unloaded.
  class Use;
  Error unloaded() const;
  Result<void> check(const LaunchConfig& config, std::size_t count);
  std::optional<std::uint32_t> max_threads();  // largest block size, if the driver knows it
  std::optional<std::size_t> parameter_count() const;
  Parameter parameter(std::size_t index) const;
  Error mismatch(std::size_t index, const Parameter& argument) const;
};

class ModuleSlot {
 public:
  // A module of a catalog. The entry must outlive the slot.
  ModuleSlot(DeviceState& device, const ModuleEntry& entry);
  // An image that the caller brought.
  ModuleSlot(DeviceState& device, std::string name, ImageFormat format, ImageBytes image);
  ModuleSlot(const ModuleSlot&) = delete;
  ModuleSlot& operator=(const ModuleSlot&) = delete;
  ~ModuleSlot();  // unloads

  const ModuleEntry* entry() const { return entry_; }
  const std::string& name() const { return name_; }
  DeviceState& device() const { return device_; }

  // Returns the kernel if it is loaded, and null otherwise.
  KernelSlot* cached(std::uint32_t kernel) noexcept {
    KernelSlot& slot = kernels_[kernel];
    return slot.native.load(std::memory_order_acquire) != nullptr ? &slot : nullptr;
  }
  // Returns the kernel and loads its image if needed. One thread loads while others wait. A failure
  // is reported to each of them and not remembered.
  Result<KernelSlot*> load(std::uint32_t kernel);
  // Returns a kernel by name, in an image that the caller brought.
  Result<KernelSlot*> load_named(std::string_view name);
  Result<void> load_all();
  // Finds a variable in the first unit that has it.
  Result<Symbol> find_symbol(const std::string& name);
  Result<void> unload();
  ModuleStatistics statistics() const;

 private:
  using NamedKernels = std::map<std::string, KernelSlot, std::less<>>;
  struct Source {
    ImageFormat format = ImageFormat::kHsaco;
    ImageBytes image;
    std::string target;  // as messages show it
    std::string_view fit;
  };

  std::uint16_t index_of(const UnitSlot& unit) const;
  KernelSlot* find_named(std::string_view name);  // null if it was not loaded by name before
  Result<void> load_kernel(KernelSlot& kernel);  // mutex held
  Result<void> load_unit(UnitSlot& unit);        // mutex held
  // Reads the sizes of a kernel's parameters from the image that the caller brought.
  void read_sizes(KernelSlot& kernel);             // mutex held
  Result<Source> source_of(const UnitSlot& unit);  // mutex held
  DeviceTarget device_target() const;
  Result<Source> caller_source() const;  // for a module that the caller brought
  // Returns the error if no image fits and there is no compiler. Tells why each of `images` and
  // each file was refused.
  Error no_image_error(Selection selection, FolderImages added,
                       const std::vector<ImageEntry>& images, std::uint16_t unit) const;
  Result<ImageBytes> unpack(const ImageEntry& image) const;
  // The error is kUnavailable, in the compiler's own words, if there is no compiler.
  Result<Source> compile(const ImageEntry& source);
  Result<void> unload_unit(UnitSlot& unit);

  DeviceState& device_;
  const ModuleEntry* entry_ = nullptr;
  std::string name_;
  ImageFormat format_ = ImageFormat::kHsaco;
  ImageBytes image_;                                      // of a module that the caller brought
  std::optional<std::vector<KernelInfo>> image_kernels_;  // read when first needed
  std::vector<UnitSlot> units_;
  std::vector<KernelSlot> kernels_;  // by index; only for a module of a catalog
  std::mutex named_mutex_;
  NamedKernels named_;  // guarded by named_mutex_; only kernels that the image has

  // The counters of statistics().
  std::atomic<std::uint64_t> loads_{0}, failures_{0}, unloads_{0}, loaded_bytes_{0},
      load_nanoseconds_{0};
};

}  // namespace kiln::runtime
