/* One half of a C program of two files that both include kernels.h. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"

const unsigned char* second_bytes(void);

static int failures = 0;
static void check(int holds, const char* what) {
  if (!holds) fprintf(stderr, "does not hold: %s\n", what), ++failures;
}

/* Never called: that it compiles is the test. */
kiln_error* launch_scale(const kiln_device* device, const kiln_catalog* catalog, float* data) {
  const kiln_launch_config config = {{1, 1, 1}, {64, 1, 1}, 0, NULL};
  kiln_function* function = NULL;
  kiln_error* error = kernels_scale_f32_load(device, catalog, &function);
  if (error == NULL) error = kernels_scale_f32_launch(function, &config, 64, data, data, 2);
  kiln_function_free(function);
  return error;
}

int main(void) {
  kiln_catalog* catalog = NULL;
  kiln_parameter_info parameter;
  kiln_image_info image;
  size_t i;
  kiln_error* error = kernels_catalog(&catalog);
  if (error != NULL) {
    fprintf(stderr, "%s\n", kiln_error_get_text(error));
    return 1;
  }
  check(second_bytes() == kernels_images[0].data, "one header is one catalog in all files");
  check(kiln_catalog_module_count(catalog) == KERNELS_MODULE_COUNT, "all modules are there");
  check(strcmp(kiln_catalog_module_name(catalog, kernels_id_typed), "typed") == 0, "an id is a position");
  check(strcmp(kiln_catalog_kernel_name(catalog, kernels_id_typed, 2), "scale_f32") == 0, "a kernel");
  kiln_catalog_get_parameter(catalog, kernels_id_typed, 2, 1, &parameter);
  check(strcmp(parameter.type, "const f32*") == 0 && strcmp(parameter.name, "inp") == 0 &&
            parameter.size == 8 && parameter.is_pointer == 1,
        "a parameter");
  kiln_catalog_get_parameter(catalog, kernels_id_typed, 2, 9, &parameter);
  check(parameter.size == 0 && parameter.type[0] == 0, "no parameter");
  for (i = 0; i < kiln_catalog_image_count(catalog, 0); ++i) {
    kiln_catalog_get_image(catalog, 0, i, &image);
    check(image.data == kernels_images[i].data && image.size == kernels_images[i].size &&
              image.stored_size == kernels_images[i].stored_size &&
              image.digest == kernels_images[i].digest &&
              strcmp(image.target, kernels_images[i].target) == 0 &&
              strcmp(image.module, kernels_images[i].module) == 0,
          "the table is that of the catalog");
  }
  check(i > 0, "images");
  kiln_catalog_free(catalog);
  return failures == 0 ? 0 : 1;
}
