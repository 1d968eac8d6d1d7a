// kiln.h, implemented with the C++ interface. Each object wraps its C++ counterpart. No exception
// escapes.
#include <string>
#include <utility>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "kiln/kiln.h"
#include "kiln/runtime.hpp"
#include "kiln/version.hpp"
#include "runtime/src/c_objects.hpp"

namespace {

using kiln::ErrorCode;
using kiln::c_interface::code_of;
using kiln::c_interface::guarded;
using kiln::c_interface::guarded_value;

static_assert(code_of(ErrorCode::kInvalidInput) == KILN_INVALID_INPUT);
static_assert(code_of(ErrorCode::kBuildFailed) == KILN_BUILD_FAILED);
static_assert(code_of(ErrorCode::kUnavailable) == KILN_UNAVAILABLE);
static_assert(code_of(ErrorCode::kEnvironment) == KILN_ENVIRONMENT);
static_assert(code_of(ErrorCode::kNotFound) == KILN_NOT_FOUND);
static_assert(code_of(ErrorCode::kNoImage) == KILN_NO_IMAGE);
static_assert(code_of(ErrorCode::kDriver) == KILN_DRIVER);
static_assert(code_of(ErrorCode::kInterrupted) == KILN_INTERRUPTED);
static_assert(code_of(ErrorCode::kInternal) == KILN_INTERNAL);

// Checks the addresses of a launch's values.
kiln::Result<void> check_values(const void* const* arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i] != nullptr) continue;
    return kiln::Error{ErrorCode::kInvalidInput, "argument " + std::to_string(i + 1) + " is NULL"};
  }
  return {};
}

// Returns a non-null pointer for a value of size 0, which may be NULL.
const void* unless_empty(const void* value, size_t size) { return size == 0 ? "" : value; }

kiln::LaunchConfig launch_of(const kiln_launch_config& config) {
  return {{config.grid[0], config.grid[1], config.grid[2]},
          {config.block[0], config.block[1], config.block[2]},
          config.shared_bytes,
          kiln::StreamRef::from_native(config.stream)};
}

// Launches a kernel for the C function `function_name`.
kiln_error* launch(const char* function_name, const kiln_function* function,
                   const kiln_launch_config* config, const void* const* arguments, size_t count) {
  return guarded(
      function_name,
      {{"function", function}, {"config", config}, {"arguments", unless_empty(arguments, count)}},
      [&]() -> kiln::Result<void> {
        KILN_TRY(check_values(arguments, count));
        return function->function.launch_raw(launch_of(*config), arguments, count);
      });
}

}  // namespace

uint32_t kiln_version(void) { return KILN_VERSION; }

kiln_error_code kiln_error_get_code(const kiln_error* error) {
  return error != nullptr ? error->code : KILN_OK;
}
const char* kiln_error_get_text(const kiln_error* error) {
  return error != nullptr ? error->text.c_str() : "";
}
void kiln_error_free(kiln_error* error) {
  if (error != kiln::c_interface::out_of_memory()) delete error;
}

kiln_error* kiln_runtime_open(const char* default_device, kiln_runtime** runtime) {
  return guarded(__func__, {{"runtime", runtime}}, [&]() -> kiln::Result<void> {
    kiln::OpenOptions options;
    if (default_device != nullptr) options.default_device = default_device;
    KILN_TRY_ASSIGN(kiln::Runtime opened, kiln::Runtime::open(std::move(options)));
    *runtime = new kiln_runtime{std::move(opened)};
    return {};
  });
}
void kiln_runtime_free(kiln_runtime* runtime) { delete runtime; }

size_t kiln_runtime_device_count(const kiln_runtime* runtime) {
  if (runtime == nullptr) return 0;
  return guarded_value(size_t{0}, [&] { return runtime->runtime.devices().size(); });
}
const char* kiln_runtime_device_id(const kiln_runtime* runtime, size_t index) {
  if (runtime == nullptr) return nullptr;
  return guarded_value(static_cast<const char*>(nullptr), [&] {
    const auto& devices = runtime->runtime.devices();
    return index < devices.size() ? devices[index].id.c_str() : nullptr;
  });
}

kiln_error* kiln_device_open(const kiln_runtime* runtime, const char* id, kiln_device** device) {
  return guarded(__func__, {{"runtime", runtime}, {"device", device}}, [&]() -> kiln::Result<void> {
    KILN_TRY_ASSIGN(kiln::Device opened, id != nullptr ? runtime->runtime.device(id)
                                                       : runtime->runtime.default_device());
    *device = new kiln_device{std::move(opened)};
    return {};
  });
}
kiln_error* kiln_device_open_in_context(const kiln_device* device, void* native_context,
                                        kiln_device** in_context) {
  return guarded(__func__, {{"device", device}, {"in_context", in_context}},
                 [&]() -> kiln::Result<void> {
                   KILN_TRY_ASSIGN(kiln::Device opened, device->device.in_context(native_context));
                   *in_context = new kiln_device{std::move(opened)};
                   return {};
                 });
}
void kiln_device_free(kiln_device* device) { delete device; }

void kiln_device_get_info(const kiln_device* device, kiln_device_info* info) {
  if (info == nullptr) return;
  if (device == nullptr) {
    *info = {"", "", "", "", 0, 0, 0, 0, 0};
    return;
  }
  const kiln::DeviceInfo& from = device->device.info();
  info->id = from.id.c_str();
  info->name = from.name.c_str();
  info->target = from.target.c_str();
  info->driver = from.driver.c_str();
  info->wave_width = from.wave_width;
  info->multiprocessors = from.multiprocessors;
  info->max_threads_per_block = from.max_threads_per_block;
  info->max_shared_bytes = from.max_shared_bytes;
  info->memory_bytes = from.memory_bytes;
}

kiln_error* kiln_device_synchronize(const kiln_device* device) {
  return guarded(__func__, {{"device", device}}, [&] { return device->device.synchronize(); });
}

kiln_error* kiln_buffer_allocate(const kiln_device* device, size_t bytes, kiln_buffer** buffer) {
  return guarded(__func__, {{"device", device}, {"buffer", buffer}}, [&]() -> kiln::Result<void> {
    KILN_TRY_ASSIGN(kiln::Buffer allocated, device->device.allocate(bytes));
    *buffer = new kiln_buffer{std::move(allocated)};
    return {};
  });
}
kiln_error* kiln_buffer_allocate_on(const kiln_device* device, size_t bytes,
                                    const kiln_stream* stream, kiln_buffer** buffer) {
  return guarded(__func__, {{"device", device}, {"buffer", buffer}}, [&]() -> kiln::Result<void> {
    KILN_TRY_ASSIGN(kiln::Buffer allocated, stream != nullptr
                                                ? device->device.allocate(bytes, stream->stream)
                                                : device->device.allocate(bytes));
    *buffer = new kiln_buffer{std::move(allocated)};
    return {};
  });
}
void kiln_buffer_free(kiln_buffer* buffer) { delete buffer; }
void* kiln_buffer_data(const kiln_buffer* buffer) {
  return buffer != nullptr ? buffer->buffer.data() : nullptr;
}
size_t kiln_buffer_size(const kiln_buffer* buffer) {
  return buffer != nullptr ? buffer->buffer.size() : 0;
}

kiln_error* kiln_copy_to_device(const kiln_device* device, void* device_target,
                                const void* host_source, size_t bytes) {
  return guarded(__func__,
                 {{"device", device},
                  {"device_target", unless_empty(device_target, bytes)},
                  {"host_source", unless_empty(host_source, bytes)}},
                 [&] { return device->device.copy_to_device(device_target, host_source, bytes); });
}
kiln_error* kiln_copy_to_host(const kiln_device* device, void* host_target,
                              const void* device_source, size_t bytes) {
  return guarded(__func__,
                 {{"device", device},
                  {"host_target", unless_empty(host_target, bytes)},
                  {"device_source", unless_empty(device_source, bytes)}},
                 [&] { return device->device.copy_to_host(host_target, device_source, bytes); });
}

kiln_error* kiln_copy_to_device_async(const kiln_device* device, void* device_target,
                                      const void* host_source, size_t bytes, void* stream) {
  return guarded(__func__,
                 {{"device", device},
                  {"device_target", unless_empty(device_target, bytes)},
                  {"host_source", unless_empty(host_source, bytes)}},
                 [&] {
                   return device->device.copy_to_device_async(device_target, host_source, bytes,
                                                              kiln::StreamRef::from_native(stream));
                 });
}
kiln_error* kiln_copy_to_host_async(const kiln_device* device, void* host_target,
                                    const void* device_source, size_t bytes, void* stream) {
  return guarded(__func__,
                 {{"device", device},
                  {"host_target", unless_empty(host_target, bytes)},
                  {"device_source", unless_empty(device_source, bytes)}},
                 [&] {
                   return device->device.copy_to_host_async(host_target, device_source, bytes,
                                                            kiln::StreamRef::from_native(stream));
                 });
}

kiln_error* kiln_device_fill(const kiln_device* device, void* device_target, int value, size_t bytes, void* stream) {
  return guarded(__func__, {{"device", device}, {"device_target", unless_empty(device_target, bytes)}}, [&] {
    return device->device.fill(device_target, static_cast<std::uint8_t>(value), bytes,
                               kiln::StreamRef::from_native(stream));
  });
}

kiln_error* kiln_pinned_allocate(const kiln_device* device, size_t bytes, kiln_pinned** pinned) {
  return guarded(__func__, {{"device", device}, {"pinned", pinned}}, [&]() -> kiln::Result<void> {
    KILN_TRY_ASSIGN(kiln::PinnedBuffer<char> allocated,
                    device->device.allocate_pinned<char>(bytes));
    *pinned = new kiln_pinned{std::move(allocated)};
    return {};
  });
}
void kiln_pinned_free(kiln_pinned* pinned) { delete pinned; }
void* kiln_pinned_data(const kiln_pinned* pinned) {
  return pinned != nullptr ? pinned->buffer.data() : nullptr;
}
size_t kiln_pinned_size(const kiln_pinned* pinned) {
  return pinned != nullptr ? pinned->buffer.size() : 0;
}

kiln_error* kiln_stream_create(const kiln_device* device, kiln_stream** stream) {
  return guarded(__func__, {{"device", device}, {"stream", stream}}, [&]() -> kiln::Result<void> {
    KILN_TRY_ASSIGN(kiln::Stream created, device->device.create_stream());
    *stream = new kiln_stream{std::move(created)};
    return {};
  });
}
void kiln_stream_free(kiln_stream* stream) { delete stream; }
kiln_error* kiln_stream_synchronize(const kiln_stream* stream) {
  return guarded(__func__, {{"stream", stream}}, [&] { return stream->stream.synchronize(); });
}
void* kiln_stream_native(const kiln_stream* stream) {
  return stream != nullptr ? stream->stream.native() : nullptr;
}

kiln_error* kiln_function_load(const kiln_device* device, const char* name, const void* image,
                               size_t image_bytes, kiln_function** function) {
  return guarded(__func__,
                 {{"device", device},
                  {"name", name},
                  {"image", unless_empty(image, image_bytes)},
                  {"function", function}},
                 [&]() -> kiln::Result<void> {
                   KILN_TRY_ASSIGN(const kiln::Function loaded,
                                   device->device.function(name, image, image_bytes));
                   *function = new kiln_function{loaded};
                   return {};
                 });
}
kiln_error* kiln_function_find(const kiln_device* device, const char* name, const void* module,
                               kiln_function** function) {
  return guarded(
      __func__, {{"device", device}, {"name", name}, {"module", module}, {"function", function}},
      [&]() -> kiln::Result<void> {
        KILN_TRY_ASSIGN(
            const kiln::Function found,
            device->device.function(name, *static_cast<const kiln::ModuleEntry*>(module)));
        *function = new kiln_function{found};
        return {};
      });
}
void kiln_function_free(kiln_function* function) { delete function; }
kiln_error* kiln_function_prepare(const kiln_function* function) {
  return guarded(__func__, {{"function", function}}, [&] { return function->function.prepare(); });
}

kiln_error* kiln_function_launch(const kiln_function* function, const kiln_launch_config* config,
                                 const void* const* arguments, size_t count) {
  return launch(__func__, function, config, arguments, count);
}
kiln_error* kiln_function_launch_named(const kiln_function* function,
                                       const kiln_launch_config* config, const char* name,
                                       const void* const* arguments, size_t count) {
  if (function != nullptr && (name == nullptr || function->function.name() != name)) {
    return guarded(__func__, {{"name", name}}, [&]() -> kiln::Result<void> {
      return kiln::Error{ErrorCode::kInvalidInput,
                         "the launch of " + kiln::quote(kiln::readable_name(name)) +
                             " was given the function of " +
                             kiln::quote(kiln::readable_name(function->function.name()))}
          .hint("give it what the _load function of the same name gives");
    });
  }
  return launch(__func__, function, config, arguments, count);
}
kiln_error* kiln_function_launch_sized(const kiln_function* function,
                                       const kiln_launch_config* config,
                                       const void* const* arguments, const size_t* sizes,
                                       size_t count) {
  return guarded(__func__,
                 {{"function", function},
                  {"config", config},
                  {"arguments", unless_empty(arguments, count)},
                  {"sizes", unless_empty(sizes, count)}},
                 [&]() -> kiln::Result<void> {
                   KILN_TRY(check_values(arguments, count));
                   return function->function.launch_raw(launch_of(*config), arguments, sizes,
                                                        count);
                 });
}
