/* Computes y = 1 + 2 * x on the default device. */
#define KERNELS_IMPLEMENTATION
#include <kernels.h> /* generated */
#include <stdio.h>
#include <stdlib.h>

static void require(kiln_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", kiln_error_get_text(error));
  exit(1);
}

int main(void) {
  const float x[4] = {1, 2, 3, 4};
  float y[4] = {1, 1, 1, 1};
  const kiln_launch_config config = {{1, 1, 1}, {256, 1, 1}, 0, NULL};
  kiln_runtime* runtime;
  kiln_device* device;
  kiln_catalog* catalog;
  kiln_function* saxpy;
  kiln_buffer *on_x, *on_y;

  require(kiln_runtime_open(NULL, &runtime));
  require(kiln_device_open(runtime, NULL, &device));
  require(kernels_catalog(&catalog));
  require(kernels_saxpy_load(device, catalog, &saxpy));
  require(kiln_buffer_allocate(device, sizeof x, &on_x));
  require(kiln_buffer_allocate(device, sizeof y, &on_y));
  require(kiln_copy_to_device(device, kiln_buffer_data(on_x), x, sizeof x));
  require(kiln_copy_to_device(device, kiln_buffer_data(on_y), y, sizeof y));
  require(kernels_saxpy_launch(saxpy, &config, 4, 2, kiln_buffer_data(on_x), kiln_buffer_data(on_y)));
  require(kiln_copy_to_host(device, y, kiln_buffer_data(on_y), sizeof y));
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  return 0;
}
