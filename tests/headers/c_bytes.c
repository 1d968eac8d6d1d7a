/* The one file that holds the bytes of the array form. */
#define KERNELS_IMPLEMENTATION
#include "kernels.h"
