#include "runtime/src/module_slot.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <thread>
#include <utility>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/byte_reader.hpp"
#include "formats/hsaco.hpp"
#include "formats/image_format.hpp"
#include "formats/launch_bound.hpp"
#include "formats/parameter_type.hpp"
#include "runtime/src/check_image.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/open_backend.hpp"
#include "runtime/src/release_quietly.hpp"

namespace kiln::runtime {
namespace {

std::string spell(const Dim3& size) {
  return "(" + std::to_string(size.x) + ", " + std::to_string(size.y) + ", " +
         std::to_string(size.z) + ")";
}

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
}

// C sets members that an initialiser does not name to 0: {{4}, {256}}.
Error with_zeros_explained(Error error, const Dim3& size) {
  if (size.x != 0 && size.count() == 0) error.hint("write 1 for the dimensions that are not used");
  return error;
}

// Returns a parameter of which only the size is known.
Parameter sized(std::size_t size) {
  Parameter parameter;
  parameter.size = static_cast<std::uint16_t>(std::min<std::size_t>(size, 0xFFFF));
  return parameter;
}

bool is_address_for_value(const Parameter& argument, const Parameter& parameter) {
  return parameter.kind == ParameterKind::kValue && argument.kind == ParameterKind::kPointer;
}

// Applies the rules of fits_parameter for types, as far as the types are known.
bool fits(const Parameter& argument, const Parameter& parameter) {
  if (argument.size != parameter.size) return false;
  if (is_address_for_value(argument, parameter)) return false;
  if (parameter.element == ElementType::kUnknown || argument.kind == ParameterKind::kUnknown) {
    return true;
  }
  if (argument.kind != parameter.kind) return false;
  if (argument.kind == ParameterKind::kPointer) {
    if (argument.is_const && !parameter.is_const) return false;
    if (argument.element == ElementType::kVoid || parameter.element == ElementType::kVoid) {
      return true;
    }
  }
  return argument.element == parameter.element || argument.element == ElementType::kUnknown;
}

std::string type_of(const Parameter& parameter) {
  return to_string(ParameterType{parameter.element, parameter.kind == ParameterKind::kPointer,
                                 parameter.is_const});
}

// A cast can convert one number to another, but not a buffer or a struct.
bool may_be_number(const Parameter& parameter) {
  return parameter.kind != ParameterKind::kPointer && parameter.size <= sizeof(std::uint64_t);
}

// False for a Parameter that a cast made of numbers that are no enumerators.
bool has_enumerators(const Parameter& parameter) {
  return parameter.kind <= ParameterKind::kPointer && parameter.element <= ElementType::kF64;
}

// Adds a note before the last one, which is a hint.
void add_before_last(Error& error, Note::Kind kind, std::string text) {
  const auto last = error.notes.empty() ? error.notes.end() : error.notes.end() - 1;
  error.notes.insert(last, {kind, std::move(text), {}});
}

// If an emulated device runs one of the images, adds its name before the last hint.
void add_emulated(Error& error, const std::vector<ImageEntry>& images, std::uint16_t unit,
                  const std::string& emulator_library) {
  for (const EmulatedDevice& device : emulated_devices(emulator_library)) {
    for (const ImageEntry& image : images) {
      const Result<TargetId> target = parse_target_id(image.target);
      if (image.unit != unit || image.format == ImageFormat::kSource || !target) continue;
      if (!can_run(*target, device.target)) continue;
      std::string hint = "KILN_DEVICE=" + device.id + " runs the image for '";
      hint.append(image.target) += '\'';
      add_before_last(error, Note::Kind::kHint, std::move(hint));
      return;
    }
  }
}

}  // namespace

// --- launching ---------------------------------------------------------------------------

class KernelSlot::Use {
 public:
  explicit Use(KernelSlot& kernel) : unit_(*kernel.unit), function_(announce(kernel)) {}
  ~Use() { ++unit_.finished; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  NativeFunction function() const { return function_; }

 private:
  static NativeFunction announce(KernelSlot& kernel) {
    ++kernel.unit->started;
    return kernel.native.load();
  }
  UnitSlot& unit_;
  NativeFunction function_;
};

Error KernelSlot::unloaded() const {
  return Error{ErrorCode::kNotFound,
               identity() + " was unloaded from " + module->device().identity(),
               {},
               {}}
      .hint("ask the device for the function again: that loads its module");
}

Result<void> KernelSlot::prepare() {
  const Use use(*this);
  if (use.function() == nullptr) return unloaded();
  const DeviceState& device = module->device();
  Result<void> ready = device.driver().prepare(device.ordinal(), use.function());
  if (ready) return ready;
  return device.failed("preparing " + identity(), std::move(ready).error());
}

Result<void> KernelSlot::launch(const LaunchConfig& config, const void* const* addresses,
                                std::size_t count) {
  KILN_TRY(check(config, count));
  const Use use(*this);
  if (use.function() == nullptr) return unloaded();
  DeviceState& device = module->device();
  LaunchRequest request;
  KILN_TRY_ASSIGN(request.stream, device.native_stream(config.stream));
  request.function = use.function();
  request.grid = config.grid;
  request.block = config.block;
  request.shared_bytes = config.shared_bytes;
  request.arguments = const_cast<void**>(addresses);  // the drivers' interfaces lack const
  request.argument_count = count;
  Result<void> launched = device.driver().launch(device.ordinal(), request);
  if (launched) {
    ++unit->launches;
    return launched;
  }
  Error error = device.failed("launching " + identity(), std::move(launched).error());
  error.note("grid " + spell(config.grid) + ", block " + spell(config.block) + ", " +
             std::to_string(config.shared_bytes) + " bytes of dynamic shared memory");
  return error;
}

std::optional<std::uint32_t> KernelSlot::max_threads() {
  const Use use(*this);
  if (use.function() == nullptr) return std::nullopt;
  const DeviceState& device = module->device();
  return device.driver().max_threads(device.ordinal(), use.function());
}

Result<void> KernelSlot::check(const LaunchConfig& config, std::size_t count) {
  const DeviceInfo& limits = module->device().info();
  if (config.grid.count() == 0) {
    return with_zeros_explained(invalid(identity() + ": empty grid " + spell(config.grid)),
                                config.grid);
  }
  const std::uint64_t threads = config.block.count();
  if (threads == 0 || threads > limits.max_threads_per_block) {
    if (const auto bound = max_threads(); bound && *bound < limits.max_threads_per_block) {
      Result<void> fits = check_launch_bound(threads, *bound);
      if (!fits) return module->device().failed("launching " + identity(), std::move(fits).error());
    }
    Error error = invalid(identity() + ": block " + spell(config.block) + " has " +
                          std::to_string(threads) + " threads, " + limits.id + " takes 1 to " +
                          std::to_string(limits.max_threads_per_block));
    if (config.block.x == 0)
      error.hint("a launch says how many blocks the grid has, and how many threads a block");
    return with_zeros_explained(std::move(error), config.block);
  }
  if (config.shared_bytes > limits.max_shared_bytes) {
    return invalid(identity() + ": " + std::to_string(config.shared_bytes) +
                   " bytes of dynamic shared memory, " + limits.id + " has " +
                   std::to_string(limits.max_shared_bytes) + " a block");
  }
  const std::optional<std::size_t> expected = parameter_count();
  if (expected && count != *expected) {
    return invalid(identity() + " takes " + counted(*expected, "argument") + ", got " +
                   std::to_string(count));
  }
  return {};
}

std::optional<std::size_t> KernelSlot::parameter_count() const {
  if (entry != nullptr) return entry->parameters.size();
  return sizes ? std::optional(sizes->size()) : std::nullopt;
}

Parameter KernelSlot::parameter(std::size_t index) const {
  return entry != nullptr ? entry->parameters[index] : sized((*sizes)[index]);
}

Result<void> KernelSlot::check_sizes(const std::size_t* argument_sizes, std::size_t count) const {
  const std::size_t known = parameter_count().value_or(0);
  for (std::size_t i = 0; i < count && i < known; ++i) {
    if (argument_sizes[i] != parameter(i).size) return mismatch(i, sized(argument_sizes[i]));
  }
  return {};
}

Result<void> KernelSlot::check_types(const Parameter* arguments, std::size_t count) const {
  const std::size_t known = parameter_count().value_or(0);
  for (std::size_t i = 0; i < count && i < known; ++i) {
    if (!has_enumerators(arguments[i])) {
      return invalid(identity() + ": argument " + std::to_string(i + 1) + " has kind " +
                     std::to_string(static_cast<unsigned>(arguments[i].kind)) +
                     " and element type " +
                     std::to_string(static_cast<unsigned>(arguments[i].element)) +
                     "; a ParameterKind is 0 to 2, an ElementType 0 to 15");
    }
    if (!fits(arguments[i], parameter(i))) return mismatch(i, arguments[i]);
  }
  return {};
}

Error KernelSlot::mismatch(std::size_t index, const Parameter& argument) const {
  const Parameter expected = parameter(index);
  const std::string type = type_of(argument), expected_type = type_of(expected);
  const bool are_known = !type.empty() && !expected_type.empty();
  const bool is_address = is_address_for_value(argument, expected);
  Error error =
      invalid("kernel '" + readable_name(name) + "': argument " + std::to_string(index + 1) +
              (are_known ? " has type " + type + ", the parameter has " + expected_type
               : is_address
                   ? " is an address, the parameter is a value of " + counted(expected.size, "byte")
                   : " has " + std::to_string(argument.size) + " bytes, the parameter has " +
                         std::to_string(expected.size)));
  if (may_be_number(argument) && may_be_number(expected)) {
    error.hint("cast it to the parameter's exact type");
  } else if (is_address || expected.size > sizeof(std::uint64_t)) {
    error.hint("it is passed by value: give a struct that is laid out as the kernel's own");
  }
  return error;
}

std::string KernelSlot::identity() const {
  return "kernel '" + readable_name(name) + "' of module '" + module->name() + "'";
}

// --- loading -----------------------------------------------------------------------------

ModuleSlot::ModuleSlot(DeviceState& device, const ModuleEntry& entry)
    : device_(device),
      entry_(&entry),
      name_(entry.name),
      units_(entry.unit_count),
      kernels_(entry.kernels.size()) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const KernelEntry& kernel = entry.kernels[i];
    kernels_[i].module = this;
    kernels_[i].unit = &units_[kernel.unit];
    kernels_[i].entry = &kernel;
    kernels_[i].name = kernel.name;
  }
}

ModuleSlot::ModuleSlot(DeviceState& device, std::string name, ImageFormat format, ImageBytes image)
    : device_(device),
      name_(std::move(name)),
      format_(format),
      image_(std::move(image)),
      units_(1) {}

ModuleSlot::~ModuleSlot() {
  for (UnitSlot& unit : units_) {
    release_quietly([&] { return unload_unit(unit); });
  }
}

Result<KernelSlot*> ModuleSlot::load(std::uint32_t kernel) {
  KernelSlot& slot = kernels_[kernel];
  const std::lock_guard lock(slot.unit->mutex);
  KILN_TRY(load_kernel(slot));
  return &slot;
}

KernelSlot* ModuleSlot::find_named(std::string_view name) {
  const std::lock_guard lock(named_mutex_);
  const auto found = named_.find(name);
  return found != named_.end() ? &found->second : nullptr;
}

Result<KernelSlot*> ModuleSlot::load_named(std::string_view name) {
  KernelSlot* known = find_named(name);
  if (known != nullptr && known->native.load() != nullptr) return known;
  UnitSlot& unit = units_.front();
  const std::lock_guard lock(unit.mutex);
  if (known = find_named(name); known != nullptr) {
    KILN_TRY(load_kernel(*known));
    return known;
  }
  NamedKernels added;  // joins the others once the image has turned out to have the kernel
  const auto entry = added.try_emplace(std::string(name)).first;
  KernelSlot& slot = entry->second;
  slot.module = this;
  slot.unit = &unit;
  slot.name = entry->first;
  KILN_TRY(load_kernel(slot));
  const std::lock_guard names(named_mutex_);
  named_.insert(added.extract(entry));
  return &slot;
}

Result<void> ModuleSlot::load_all() {
  for (KernelSlot& kernel : kernels_) {
    const std::lock_guard lock(kernel.unit->mutex);
    KILN_TRY(load_kernel(kernel));
    KILN_TRY(kernel.prepare());
  }
  return {};
}

Result<Symbol> ModuleSlot::find_symbol(const std::string& name) {
  Result<NativeSymbol> found = Error{ErrorCode::kNotFound, "the module has no image", {}, {}};
  for (UnitSlot& unit : units_) {
    const std::lock_guard lock(unit.mutex);
    KILN_TRY(load_unit(unit));
    found = device_.driver().find_symbol(device_.ordinal(), unit.module, name);
    if (found) return Symbol{found->address, found->bytes};
    if (found.error().code != ErrorCode::kNotFound) break;
  }
  return device_.failed("finding variable '" + name + "' of module '" + name_ + "'",
                        std::move(found).error());
}

Result<void> ModuleSlot::load_kernel(KernelSlot& kernel) {
  if (kernel.native.load() != nullptr) return {};
  KILN_TRY(load_unit(*kernel.unit));
  Result<NativeFunction> function = device_.driver().find_function(
      device_.ordinal(), kernel.unit->module, std::string(kernel.name));
  if (!function) {
    return device_.failed("finding " + kernel.identity(), std::move(function).error());
  }
  if (kernel.entry == nullptr && !kernel.sizes) {
    kernel.sizes = device_.driver().parameter_sizes(device_.ordinal(), *function);
    if (!kernel.sizes) read_sizes(kernel);
  }
  kernel.native.store(*function);
  return {};
}

void ModuleSlot::read_sizes(KernelSlot& kernel) {
  if (!image_kernels_) {
    image_kernels_.emplace();
    if (Result<Hsaco> image = read_hsaco(image_.bytes)) {
      for (HsacoKernel& described : image->kernels) {
        image_kernels_->push_back(std::move(described.info));
      }
    }
  }
  const auto found = std::find_if(
      image_kernels_->begin(), image_kernels_->end(),
      [&](const KernelInfo& info) { return std::string_view(info.name) == kernel.name; });
  if (found == image_kernels_->end()) return;
  kernel.sizes.emplace();
  for (const Parameter& parameter : found->parameters) kernel.sizes->push_back(parameter.size);
}

Result<void> ModuleSlot::load_unit(UnitSlot& unit) {
  if (unit.module != nullptr) return {};
  const auto start = std::chrono::steady_clock::now();
  Result<Source> source = source_of(unit);
  if (!source) {
    ++failures_;
    device_.trace([&] { return source.error().message; });
    return std::move(source).error();
  }
  const std::span<const std::byte> bytes = source->image.bytes;
  Result<NativeModule> module =
      device_.driver().load_image(device_.ordinal(), {source->format, bytes});
  if (!module) {
    ++failures_;
    Error error = device_.failed("loading module '" + name_ + "' (" + source->target + ")",
                                 std::move(module).error());
    device_.trace([&] { return error.message; });
    return error;
  }
  unit.module = *module;
  if (device_.driver().keeps_image_bytes()) unit.image = std::move(source->image);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  ++loads_;
  loaded_bytes_ += bytes.size();
  load_nanoseconds_ += static_cast<std::uint64_t>(took.count());
  device_.trace([&] {
    char line[64];
    std::snprintf(line, sizeof line, "%zu bytes in %.2f ms", bytes.size(),
                  static_cast<double>(took.count()) * 1e-6);
    return "module '" + name_ + "': loaded " + source->target + " (" + std::string(source->fit) +
           "), " + line;
  });
  return {};
}

DeviceTarget ModuleSlot::device_target() const {
  return {device_.target(), device_.info().max_ptx_isa};
}

Result<ModuleSlot::Source> ModuleSlot::caller_source() const {
  if (Result<void> fits = check_image(image_.bytes, device_target()); !fits) {
    return device_.failed("loading module '" + name_ + "' (given by the caller)",
                          std::move(fits).error());
  }
  return Source{format_, {image_.bytes, nullptr}, "given by the caller", "unchecked"};
}

Error ModuleSlot::no_image_error(Selection selection, FolderImages added,
                                 const std::vector<ImageEntry>& images, std::uint16_t unit) const {
  std::move(added.refusals.begin(), added.refusals.end(), std::back_inserter(selection.refusals));
  Error error = no_image(selection, name_, device_target(), device_.identity());
  for (std::string& note : added.notes) {
    add_before_last(error, Note::Kind::kNote, std::move(note));
  }
  if (device_.is_fallback()) {
    error.notes.insert(
        error.notes.begin(),
        {Note::Kind::kNote,
         "KILN_DEVICE names no device, and no GPU was found (KILN_TRACE=1 tells why)",
         {}});
  }
  if (device_.target().kind == TargetKind::kHost || device_.info().backend == Backend::kEmulator) {
    add_emulated(error, images, unit, device_.options().emulator_library);
  }
  return error;
}

Result<ModuleSlot::Source> ModuleSlot::source_of(const UnitSlot& unit) {
  if (entry_ == nullptr) return caller_source();
  const std::uint16_t unit_index = index_of(unit);
  FolderImages added = find_folder_images(device_.options().image_folders, *entry_, unit_index);
  for (const Refusal& refusal : added.refusals) {
    device_.trace(
        [&] { return "module '" + name_ + "': refused " + refusal.image + ": " + refusal.reason; });
  }
  for (const std::string& note : added.notes) {
    device_.trace([&] { return "module '" + name_ + "': " + note; });
  }
  // Images of folders come first, so that they win over equal images of the program.
  std::vector<ImageEntry> images;
  for (const FolderImage& image : added.images) images.push_back(image.entry(unit_index));
  images.insert(images.end(), entry_->images.begin(), entry_->images.end());
  Selection selection = select_image({images.data(), images.size()}, unit_index, device_target());
  if (selection.image == nullptr && selection.source != nullptr) {
    Result<Source> compiled = compile(*selection.source);
    if (compiled || compiled.error().code != ErrorCode::kUnavailable) return compiled;
    selection.refusals.push_back({std::string(kSourceOfModule), compiled.error().message});
    for (const Note& note : compiled.error().notes) {
      selection.refusals.push_back({std::string(kSourceOfModule), note.text});
    }
  }
  if (selection.image == nullptr)
    return no_image_error(std::move(selection), std::move(added), images, unit_index);
  const std::string_view fit = to_string(selection.fit);
  const auto chosen = static_cast<std::size_t>(selection.image - images.data());
  if (chosen < added.images.size()) {
    FolderImage& image = added.images[chosen];
    if (entry_->source_digest != 0 && !image.has_matching_sources) {
      device_.trace([&] {
        return "module '" + name_ + "': warning: nothing tells which sources " + image.path +
               " was built from";
      });
    }
    return Source{image.format, std::move(image.image), image.target + " of " + image.path, fit};
  }
  const ImageEntry& image = *selection.image;
  Result<ImageBytes> unpacked = unpack(image);
  if (!unpacked) {
    return device_.failed("loading module '" + name_ + "' (" + std::string(image.target) + ")",
                          std::move(unpacked).error());
  }
  return Source{image.format, std::move(*unpacked), std::string(image.target), fit};
}

Result<ImageBytes> ModuleSlot::unpack(const ImageEntry& image) const {
  KILN_TRY(device_.files().check(image));
  return unpack_image(image);
}

Result<ModuleSlot::Source> ModuleSlot::compile(const ImageEntry& source) {
  const auto failed = [&](Error cause) {
    return device_.failed("compiling module '" + name_ + "'", std::move(cause));
  };
  Result<ImageBytes> bundle = unpack(source);
  if (!bundle) return failed(std::move(bundle).error());
  const auto start = std::chrono::steady_clock::now();
  Result<CompiledImage> compiled = device_.options().compiler->compile(
      as_text(bundle->bytes), device_.info().backend, device_.target());
  if (!compiled && compiled.error().code == ErrorCode::kUnavailable) return compiled.error();
  if (!compiled) return failed(std::move(compiled).error());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  device_.trace([&] {
    char time[32];
    std::snprintf(time, sizeof time, " in %.2f ms", took.count());
    return "module '" + name_ + "': compiled for " + device_.info().target + " by " +
           compiled->compiler + (compiled->is_from_cache ? ", found in the cache" : "") +
           (compiled->why_uncached.empty() ? "" : ", not kept because " + compiled->why_uncached) +
           time;
  });
  const ImageFormat format = format_of(device_.target().kind);
  return Source{format, copy_image(as_bytes(compiled->bytes), format),
                device_.info().target + " by " + compiled->compiler, "source"};
}

std::uint16_t ModuleSlot::index_of(const UnitSlot& unit) const {
  return static_cast<std::uint16_t>(&unit - units_.data());
}

// --- unloading ---------------------------------------------------------------------------

Result<void> ModuleSlot::unload() {
  Result<void> outcome;
  for (UnitSlot& unit : units_) {
    if (Result<void> done = unload_unit(unit); !done && outcome) outcome = std::move(done);
  }
  return outcome;
}

Result<void> ModuleSlot::unload_unit(UnitSlot& unit) {
  const std::lock_guard lock(unit.mutex);
  if (unit.module == nullptr) return {};
  for (KernelSlot& kernel : kernels_) {
    if (kernel.unit == &unit) kernel.native.store(nullptr);
  }
  {
    const std::lock_guard names(named_mutex_);
    for (auto& [name, kernel] : named_) kernel.native.store(nullptr);
  }
  for (;;) {
    const std::uint64_t finished = unit.finished.load();
    if (unit.started.load() == finished) break;
    std::this_thread::yield();
  }
  // Work that still runs the module's code has to end first. The module is unloaded in any case.
  Result<void> done = device_.driver().synchronize(device_.ordinal());
  Result<void> unloaded =
      device_.driver().unload(device_.ordinal(), std::exchange(unit.module, nullptr));
  if (done) done = std::move(unloaded);
  unit.image = {};
  ++unloads_;
  if (!done) return device_.failed("unloading module '" + name_ + "'", std::move(done).error());
  device_.trace([&] { return "module '" + name_ + "': unloaded"; });
  return {};
}

ModuleStatistics ModuleSlot::statistics() const {
  ModuleStatistics statistics;
  statistics.loads = loads_;
  statistics.failures = failures_;
  statistics.unloads = unloads_;
  statistics.loaded_bytes = loaded_bytes_;
  statistics.load_milliseconds = static_cast<double>(load_nanoseconds_.load()) * 1e-6;
  for (const UnitSlot& unit : units_) statistics.launches += unit.launches;
  return statistics;
}

}  // namespace kiln::runtime
