/* kiln.h in plain C, through libkiln_runtime.so and the fake CUDA driver: finds a device, loads an
 * image, launches a kernel of it, and reads an error. Ends with 0 when all is as it should be. */
#include <stdio.h>
#include <string.h>

#include "kiln/kiln.h"

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  printf("failed: %s\n", what);
  ++failures;
}

/* Prints and frees an error; tells whether there was one. */
static int failed(kiln_error* error) {
  if (error == NULL) return 0;
  printf("%s\n", kiln_error_get_text(error));
  kiln_error_free(error);
  return 1;
}

/* NULL in each place: an error that names it, never the end of the program. */
static void expect_null(kiln_error* error, const char* text) {
  expect(error != NULL && kiln_error_get_code(error) == KILN_INVALID_INPUT &&
             strcmp(kiln_error_get_text(error), text) == 0,
         text);
  kiln_error_free(error);
}
static void test_null(kiln_runtime* runtime, kiln_device* device, kiln_function* function,
                      const kiln_launch_config* config) {
  const void* const values[1] = {NULL};
  const size_t sizes[1] = {8};
  kiln_device_info info;
  kiln_catalog* catalog = NULL;
  kiln_parameter_info parameter;
  kiln_image_info image;
  char byte = 0;
  void* out = NULL;
#define EXPECT_NULL(call, name) expect_null(kiln_##call, "kiln_" name)
  EXPECT_NULL(runtime_open(NULL, NULL), "runtime_open was given NULL for 'runtime'");
  EXPECT_NULL(device_open(NULL, NULL, &device), "device_open was given NULL for 'runtime'");
  EXPECT_NULL(device_open(runtime, NULL, NULL), "device_open was given NULL for 'device'");
  EXPECT_NULL(device_open_in_context(NULL, NULL, &device),
              "device_open_in_context was given NULL for 'device'");
  EXPECT_NULL(device_synchronize(NULL), "device_synchronize was given NULL for 'device'");
  EXPECT_NULL(buffer_allocate(device, 1, NULL), "buffer_allocate was given NULL for 'buffer'");
  EXPECT_NULL(copy_to_device(device, NULL, &byte, 1),
              "copy_to_device was given NULL for 'device_target'");
  EXPECT_NULL(copy_to_host(device, NULL, &byte, 1),
              "copy_to_host was given NULL for 'host_target'");
  EXPECT_NULL(buffer_allocate_on(device, 1, NULL, NULL),
              "buffer_allocate_on was given NULL for 'buffer'");
  EXPECT_NULL(pinned_allocate(device, 1, NULL), "pinned_allocate was given NULL for 'pinned'");
  EXPECT_NULL(copy_to_device_async(device, NULL, &byte, 1, NULL),
              "copy_to_device_async was given NULL for 'device_target'");
  EXPECT_NULL(copy_to_host_async(device, NULL, &byte, 1, NULL),
              "copy_to_host_async was given NULL for 'host_target'");
  EXPECT_NULL(stream_create(NULL, (kiln_stream**)&out),
              "stream_create was given NULL for 'device'");
  EXPECT_NULL(stream_synchronize(NULL), "stream_synchronize was given NULL for 'stream'");
  EXPECT_NULL(function_load(device, NULL, &byte, 1, &function),
              "function_load was given NULL for 'name'");
  EXPECT_NULL(function_load(device, "k", NULL, 1, &function),
              "function_load was given NULL for 'image'");
  EXPECT_NULL(function_find(device, "k", NULL, &function),
              "function_find was given NULL for 'module'");
  EXPECT_NULL(catalog_open(NULL, &catalog), "catalog_open was given NULL for 'path'");
  EXPECT_NULL(catalog_open("x.kiln", NULL), "catalog_open was given NULL for 'catalog'");
  EXPECT_NULL(catalog_open_memory(NULL, 1, &catalog),
              "catalog_open_memory was given NULL for 'bytes'");
  EXPECT_NULL(catalog_function(device, NULL, NULL, "k", &function),
              "catalog_function was given NULL for 'catalog'");
  EXPECT_NULL(catalog_load(device, NULL), "catalog_load was given NULL for 'catalog'");
  EXPECT_NULL(catalog_unpack(NULL, 0, 0, &byte, 1), "catalog_unpack was given NULL for 'catalog'");
  EXPECT_NULL(function_prepare(NULL), "function_prepare was given NULL for 'function'");
  EXPECT_NULL(function_launch(NULL, config, NULL, 0),
              "function_launch was given NULL for 'function'");
  EXPECT_NULL(function_launch(function, NULL, NULL, 0),
              "function_launch was given NULL for 'config'");
  EXPECT_NULL(function_launch(function, config, NULL, 1),
              "function_launch was given NULL for 'arguments'");
  expect_null(kiln_function_launch(function, config, values, 1), "argument 1 is NULL");
  EXPECT_NULL(function_launch_sized(function, config, values, NULL, 1),
              "function_launch_sized was given NULL for 'sizes'");
  expect_null(kiln_function_launch_sized(function, config, values, sizes, 1), "argument 1 is NULL");
#undef EXPECT_NULL
  kiln_device_get_info(NULL, &info);
  kiln_device_get_info(device, NULL);
  expect(info.id != NULL && info.id[0] == 0, "no device's name is empty");
  expect(kiln_runtime_device_count(NULL) == 0, "no runtime's devices");
  expect(kiln_runtime_device_id(NULL, 0) == NULL, "no runtime's first device");
  expect(kiln_buffer_data(NULL) == NULL && kiln_buffer_size(NULL) == 0, "no buffer's data");
  expect(kiln_pinned_data(NULL) == NULL, "no pinned memory's data");
  expect(kiln_stream_native(NULL) == NULL, "no stream's handle");
  expect(kiln_error_get_text(NULL)[0] == 0, "no error's text");
  expect(kiln_catalog_name(NULL)[0] == 0 && kiln_catalog_digest(NULL)[0] == 0, "no catalog's name");
  expect(kiln_catalog_module_count(NULL) == 0 && kiln_catalog_module_name(NULL, 0) == NULL,
         "no catalog's modules");
  char text[2] = "x";
  expect(kiln_catalog_kernel_readable_name(NULL, 0, 0, text, sizeof text) == 0 && text[0] == 0,
         "no readable name");
  expect(kiln_catalog_kernel_count(NULL, 0) == 0 && kiln_catalog_kernel_name(NULL, 0, 0) == NULL,
         "no catalog's kernels");
  expect(kiln_catalog_parameter_count(NULL, 0, 0) == 0 && kiln_catalog_image_count(NULL, 0) == 0,
         "no catalog's parameters and images");
  kiln_catalog_get_parameter(NULL, 0, 0, 0, &parameter);
  expect(parameter.type[0] == 0, "no catalog's parameter");
  kiln_catalog_get_image(NULL, 0, 0, &image);
  expect(image.data == NULL && image.format[0] == 0, "no catalog's image");
  kiln_catalog_get_parameter(NULL, 0, 0, 0, NULL);
  kiln_catalog_get_image(NULL, 0, 0, NULL);
  kiln_catalog_free(NULL);
}

int main(void) {
  static const char image[] = "FAKE sm_90\n.entry scale_add\n.entry nothing\n";
  kiln_runtime* runtime = NULL;
  kiln_device* device = NULL;
  kiln_buffer *buffer = NULL, *ordered = NULL;
  kiln_pinned* pinned = NULL;
  kiln_stream* stream = NULL;
  kiln_function* function = NULL;
  kiln_error* error = NULL;
  kiln_device_info info;
  float values[4] = {1, 2, 3, 4};
  uint64_t count = 4;
  float scale = 2, shift = 1;
  void* data = NULL;
  const void* arguments[5];
  size_t sizes[5] = {8, 8, 8, 4, 4};
  kiln_launch_config config = {{1, 1, 1}, {64, 1, 1}, 0, NULL};

  if (failed(kiln_runtime_open("cuda:0", &runtime))) return 1;
  expect(kiln_runtime_device_count(runtime) >= 1, "a device");
  expect(strcmp(kiln_runtime_device_id(runtime, 0), "cuda:0") == 0, "its name");
  expect(kiln_runtime_device_id(runtime, 99) == NULL, "no name past the last");
  if (failed(kiln_device_open(runtime, NULL, &device))) return 1;
  kiln_device_get_info(device, &info);
  expect(strcmp(info.target, "sm_90") == 0, "its target");

  if (failed(kiln_buffer_allocate(device, sizeof values, &buffer))) return 1;
  if (failed(kiln_stream_create(device, &stream))) return 1;
  data = kiln_buffer_data(buffer);
  expect(kiln_buffer_size(buffer) == sizeof values, "the buffer's size");
  if (failed(kiln_copy_to_device(device, data, values, sizeof values))) return 1;
  if (failed(kiln_function_load(device, "scale_add", image, sizeof image, &function))) return 1;
  if (failed(kiln_function_prepare(function))) return 1;
  arguments[0] = &count;
  arguments[1] = &data;
  arguments[2] = &data;
  arguments[3] = &scale;
  arguments[4] = &shift;
  config.stream = kiln_stream_native(stream);
  if (failed(kiln_function_launch(function, &config, arguments, 5))) return 1;
  test_null(runtime, device, function, &config);
  kiln_runtime_free(runtime);
  if (failed(kiln_stream_synchronize(stream))) return 1;
  if (failed(kiln_device_synchronize(device))) return 1;
  if (failed(kiln_copy_to_host(device, values, data, sizeof values))) return 1;
  expect(values[3] == 9, "4 * 2 + 1");

  error = kiln_function_launch(function, &config, arguments, 4);
  expect(error != NULL && kiln_error_get_code(error) == KILN_INVALID_INPUT, "an argument too few");
  expect(error != NULL && strstr(kiln_error_get_text(error), "takes 5 arguments, got 4") != NULL,
         "its text");
  kiln_error_free(error);
  if (failed(kiln_function_launch_sized(function, &config, arguments, sizes, 5))) return 1;
  sizes[3] = 8;
  error = kiln_function_launch_sized(function, &config, arguments, sizes, 5);
  expect(error != NULL && strstr(kiln_error_get_text(error),
                                 "argument 4 has 8 bytes, the parameter has 4") != NULL,
         "a double for a float");
  kiln_error_free(error);

  if (failed(kiln_function_launch_named(function, &config, "scale_add", arguments, 5))) return 1;
  error = kiln_function_launch_named(function, &config, "_Z5saxpyIfEvjT_PKS0_PS0_", arguments, 5);
  expect(error != NULL && kiln_error_get_code(error) == KILN_INVALID_INPUT, "another kernel's function");
  expect(error != NULL && strstr(kiln_error_get_text(error),
                                 "the launch of 'saxpy<float>' was given the function of 'scale_add'") != NULL,
         "its text");
  kiln_error_free(error);
  error = kiln_function_launch_named(NULL, &config, "scale_add", arguments, 5);
  expect(error != NULL && strstr(kiln_error_get_text(error), "kiln_function_launch_named was given NULL for 'function'") != NULL,
         "no function");
  kiln_error_free(error);

  if (failed(kiln_buffer_allocate_on(device, sizeof values, stream, &ordered))) return 1;
  if (failed(kiln_pinned_allocate(device, sizeof values, &pinned))) return 1;
  memcpy(kiln_pinned_data(pinned), values, sizeof values);
  if (failed(kiln_copy_to_device_async(device, kiln_buffer_data(ordered), kiln_pinned_data(pinned),
                                       sizeof values, config.stream)))
    return 1;
  memset(values, 0, sizeof values);
  if (failed(kiln_copy_to_host_async(device, values, kiln_buffer_data(ordered), sizeof values,
                                     config.stream)))
    return 1;
  if (failed(kiln_stream_synchronize(stream))) return 1;
  expect(values[3] == 9, "there and back on a stream");
  if (failed(kiln_device_fill(device, kiln_buffer_data(ordered), 0, sizeof values, config.stream))) return 1;
  if (failed(kiln_copy_to_host_async(device, values, kiln_buffer_data(ordered), sizeof values,
                                     config.stream)))
    return 1;
  kiln_buffer_free(ordered);
  if (failed(kiln_stream_synchronize(stream))) return 1;
  expect(values[3] == 0, "filled on a stream");
  error = kiln_device_fill(device, NULL, 0, 1, NULL);
  expect(error != NULL && strstr(kiln_error_get_text(error), "was given NULL for 'device_target'") != NULL,
         "nothing to fill");
  kiln_error_free(error);
  kiln_pinned_free(pinned);

  config.block[0] = 4096;
  error = kiln_function_launch(function, &config, arguments, 5);
  expect(error != NULL && kiln_error_get_code(error) == KILN_INVALID_INPUT, "too large a block");
  expect(error != NULL && strstr(kiln_error_get_text(error), "4096 threads") != NULL, "its text");
  kiln_error_free(error);

  kiln_function_free(function);
  kiln_device_free(device);
  kiln_stream_free(stream);
  kiln_buffer_free(buffer);
  kiln_error_free(NULL);
  return failures == 0 ? 0 : 1;
}
