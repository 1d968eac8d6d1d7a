/* Uses kiln from C, with one header and one shared library.
 *
 *   main IMAGE...          affine_f32 of the first image that the default device runs
 *
 * To build it by hand: cc -std=c99 -I runtime/include main.c -L build/runtime -lkiln_runtime */
#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>

static void require(kiln_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", kiln_error_get_text(error));
  kiln_error_free(error);
  exit(1);
}

/* Returns the bytes of the file, or NULL if it cannot be read. The caller frees them. */
static void* read_file(const char* path, size_t* size) {
  void* bytes = NULL;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

/* Returns the kernel of the first image that the device can run, or NULL. The runtime copies the
 * image. */
static kiln_function* load(const kiln_device* device, int count, char** paths) {
  kiln_function* function = NULL;
  int i;
  for (i = 0; i < count && function == NULL; ++i) {
    size_t size = 0;
    void* image = read_file(paths[i], &size);
    kiln_error* error =
        image != NULL ? kiln_function_load(device, "affine_f32", image, size, &function) : NULL;
    if (error != NULL) fprintf(stderr, "%s\n", kiln_error_get_text(error));
    kiln_error_free(error);
    free(image);
  }
  return function;
}

int main(int argc, char** argv) {
  float values[4] = {1, 2, 3, 4};
  const size_t count = 4, dims = 1;
  const void* contiguous = NULL;
  const float mul = 2, add = 1;
  kiln_runtime* runtime = NULL;
  kiln_device* device = NULL;
  kiln_buffer* buffer = NULL;
  kiln_function* affine = NULL;
  kiln_device_info info;

  require(kiln_runtime_open(NULL, &runtime));
  require(kiln_device_open(runtime, NULL, &device));
  kiln_device_get_info(device, &info);
  affine = load(device, argc - 1, argv + 1);
  if (affine == NULL) {
    fprintf(stderr, "no image that %s runs\n", info.id);
    return 1;
  }

  require(kiln_buffer_allocate(device, sizeof values, &buffer));
  {
    void* data = kiln_buffer_data(buffer);
    const kiln_launch_config config = {{1, 1, 1}, {64, 1, 1}, 0, NULL};
    const void* arguments[7];
    arguments[0] = &count;
    arguments[1] = &dims;
    arguments[2] = &contiguous;
    arguments[3] = &data;
    arguments[4] = &data;
    arguments[5] = &mul;
    arguments[6] = &add;
    require(kiln_copy_to_device(device, data, values, sizeof values));
    require(kiln_function_launch(affine, &config, arguments, 7));
    require(kiln_copy_to_host(device, values, data, sizeof values));
  }
  printf("%s (%s): %g %g %g %g\n", info.id, info.name, values[0], values[1], values[2], values[3]);

  /* These objects can be freed in any order. */
  kiln_runtime_free(runtime);
  kiln_device_free(device);
  kiln_function_free(affine);
  kiln_buffer_free(buffer);
  return values[3] == 9 ? 0 : 1;
}
