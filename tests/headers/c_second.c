/* The other half of c_first.c: the same header. */
#include "kernels.h"

const unsigned char* second_bytes(void) { return kernels_images[0].data; }
