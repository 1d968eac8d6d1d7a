/* kiln's runtime for C, and for every language that calls C: Python's ctypes, Rust, and others.
 *
 * The same runtime as <kiln/runtime.hpp>; docs/RUNTIME.md has the rules. Library: libkiln_runtime.so.
 *
 * Errors:     a function that can fail returns NULL when it did not, else an error that the caller frees.
 *             What it would have given out is left as it was.
 * Ownership:  what a function gives out through its last parameter is the caller's, and has a function
 *             that frees it; freeing NULL does nothing. Objects may be freed in any order.
 * NULL:       where an object, a text or memory is wanted, NULL is an error of code KILN_INVALID_INPUT; what
 *             returns no error then returns 0, NULL or empty texts.
 * Threads:    everything may be called from any thread, but freeing an object that another thread uses.
 * Texts:      UTF-8, NUL-terminated.
 * Versions:   the structs grow and functions change with the minor version alone while the major one is 0. The
 *             library's soname has both, libkiln_runtime.so.0.1; who opens it by dlopen asks kiln_version().
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#if defined(_WIN32)
#error "kiln runs on Linux alone: Windows and MSVC are not supported; build and run in WSL 2"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_error kiln_error;
typedef struct kiln_runtime kiln_runtime;
typedef struct kiln_device kiln_device;
typedef struct kiln_buffer kiln_buffer;
typedef struct kiln_pinned kiln_pinned;
typedef struct kiln_stream kiln_stream;
typedef struct kiln_function kiln_function;
typedef struct kiln_catalog kiln_catalog;

/* KILN_VERSION of <kiln/version.hpp>, of the library: 10000 * major + 100 * minor + patch. */
uint32_t kiln_version(void);

/* --- errors ---------------------------------------------------------------------------------- */

typedef enum kiln_error_code {
  KILN_OK = 0, /* of NULL, which is no error */
  KILN_INVALID_INPUT = 1,
  KILN_BUILD_FAILED = 2,
  KILN_UNAVAILABLE = 3, /* no such device or driver on this machine: often normal */
  KILN_ENVIRONMENT = 4,
  KILN_NOT_FOUND = 5,
  KILN_NO_IMAGE = 6,
  KILN_DRIVER = 7,
  KILN_INTERRUPTED = 8,
  KILN_INTERNAL = 9
} kiln_error_code;

kiln_error_code kiln_error_get_code(const kiln_error* error);
/* All of it, to be shown to a person: what failed and where, and a line for each note and hint, which say what
 * was expected and what to do next. Lives as long as the error. */
const char* kiln_error_get_text(const kiln_error* error);
void kiln_error_free(kiln_error* error);

/* --- runtime and devices ---------------------------------------------------------------------- */

/* `default_device` as KILN_DEVICE ("cuda:1", "hip", "host"), or NULL for the environment's choice. */
kiln_error* kiln_runtime_open(const char* default_device, kiln_runtime** runtime);
void kiln_runtime_free(kiln_runtime* runtime);

/* How many devices there are. The first call opens the drivers. */
size_t kiln_runtime_device_count(const kiln_runtime* runtime);
/* A device's name, "cuda:0", or NULL past the last. Lives as long as the runtime. */
const char* kiln_runtime_device_id(const kiln_runtime* runtime, size_t index);

/* The device of that name, or the default one for NULL. */
kiln_error* kiln_device_open(const kiln_runtime* runtime, const char* id, kiln_device** device);
/* The same device through a CUcontext that the caller made, and that outlives what the device gives out. */
kiln_error* kiln_device_open_in_context(const kiln_device* device, void* native_context,
                                        kiln_device** in_context);
void kiln_device_free(kiln_device* device);

typedef struct kiln_device_info {
  const char* id;     /* "cuda:0"; the texts live as long as the device */
  const char* name;   /* "NVIDIA H200" */
  const char* target; /* "sm_90", "gfx90a:sramecc+:xnack-", "host" */
  const char* driver; /* "CUDA 12.8" */
  uint32_t wave_width;
  uint32_t multiprocessors;
  uint32_t max_threads_per_block;
  uint32_t max_shared_bytes;
  uint64_t memory_bytes;
} kiln_device_info;
void kiln_device_get_info(const kiln_device* device, kiln_device_info* info);

/* Waits for all work of the device. */
kiln_error* kiln_device_synchronize(const kiln_device* device);

/* --- memory ----------------------------------------------------------------------------------- */

/* Not initialised. Where the driver has a pool the memory comes from it, in the order of the default stream,
 * and freeing it waits for nothing (docs/RUNTIME.md, "Memory"). */
kiln_error* kiln_buffer_allocate(const kiln_device* device, size_t bytes, kiln_buffer** buffer);
/* The same in the order of a stream, which the buffer keeps open; NULL: the default stream. Work on other
 * streams has to wait for it. Refused while the stream is captured into a graph. */
kiln_error* kiln_buffer_allocate_on(const kiln_device* device, size_t bytes,
                                    const kiln_stream* stream, kiln_buffer** buffer);
void kiln_buffer_free(kiln_buffer* buffer);
/* The address on the device: an argument for kernels and copies. */
void* kiln_buffer_data(const kiln_buffer* buffer);
size_t kiln_buffer_size(const kiln_buffer* buffer);

/* Return when the copy is done. */
kiln_error* kiln_copy_to_device(const kiln_device* device, void* device_target,
                                const void* host_source, size_t bytes);
kiln_error* kiln_copy_to_host(const kiln_device* device, void* host_target,
                              const void* device_source, size_t bytes);

/* Return at once: host memory must stay as it is until the stream, by the driver's own handle (NULL: the default
 * stream), has done the copy. From and to pinned memory the copy runs beside the program. */
kiln_error* kiln_copy_to_device_async(const kiln_device* device, void* device_target,
                                      const void* host_source, size_t bytes, void* stream);
kiln_error* kiln_copy_to_host_async(const kiln_device* device, void* host_target,
                                    const void* device_source, size_t bytes, void* stream);

/* Sets each byte to `value`, of which the lowest 8 bits count. Returns at once, in the order of the stream. */
kiln_error* kiln_device_fill(const kiln_device* device, void* device_target, int value, size_t bytes, void* stream);

/* Page-locked memory of the program. Free it when no copy from or to it is under way. */
kiln_error* kiln_pinned_allocate(const kiln_device* device, size_t bytes, kiln_pinned** pinned);
void kiln_pinned_free(kiln_pinned* pinned);
void* kiln_pinned_data(const kiln_pinned* pinned);
size_t kiln_pinned_size(const kiln_pinned* pinned); /* bytes */

/* --- streams ---------------------------------------------------------------------------------- */

kiln_error* kiln_stream_create(const kiln_device* device, kiln_stream** stream);
void kiln_stream_free(kiln_stream* stream);
kiln_error* kiln_stream_synchronize(const kiln_stream* stream);
/* The driver's own handle, for kiln_launch_config. */
void* kiln_stream_native(const kiln_stream* stream);

/* --- kernels ---------------------------------------------------------------------------------- */

/* A kernel of an image: cubin, fatbin or PTX; AMD code object or offload bundle; host shared object.
 * The image is copied and known again by its content, so two kernels of one image load it once. */
kiln_error* kiln_function_load(const kiln_device* device, const char* name, const void* image,
                               size_t image_bytes, kiln_function** function);
/* A kernel of a generated C++ header: `module` points to its kiln::ModuleEntry. */
kiln_error* kiln_function_find(const kiln_device* device, const char* name, const void* module,
                               kiln_function** function);
void kiln_function_free(kiln_function* function);
/* Does now what the first launch would have to do: before a graph capture. */
kiln_error* kiln_function_prepare(const kiln_function* function);

typedef struct kiln_launch_config {
  uint32_t grid[3];  /* blocks */
  uint32_t block[3]; /* threads a block */
  uint32_t shared_bytes;
  void* stream; /* the driver's own handle; NULL: the default stream */
} kiln_launch_config;

/* Starts the kernel. `arguments` holds `count` addresses of values; the values are copied. The count is
 * compared with the number of the kernel's parameters, which the header, the image or its driver tells. */
kiln_error* kiln_function_launch(const kiln_function* function, const kiln_launch_config* config,
                                 const void* const* arguments, size_t count);
/* The same; `sizes` holds the bytes of each value, which are compared with the parameter's. */
kiln_error* kiln_function_launch_sized(const kiln_function* function,
                                       const kiln_launch_config* config,
                                       const void* const* arguments, const size_t* sizes,
                                       size_t count);
/* The same as kiln_function_launch, of a function of the kernel `name` only: what a generated header calls. */
kiln_error* kiln_function_launch_named(const kiln_function* function,
                                       const kiln_launch_config* config, const char* name,
                                       const void* const* arguments, size_t count);

/* --- catalog files ----------------------------------------------------------------------------- */

/* The kernels of a build in one file, <name>.kiln, which `kiln build --emit catalog` writes. The file is
 * mapped, and its table checked; an image is held to its digest when a device first loads it. */
kiln_error* kiln_catalog_open(const char* path, kiln_catalog** catalog);
/* The bytes of such a file, at a multiple of 4096. They outlive what is made from them. */
kiln_error* kiln_catalog_open_memory(const void* bytes, size_t size, kiln_catalog** catalog);
/* A device that loaded from the catalog keeps it open. */
void kiln_catalog_free(kiln_catalog* catalog);

/* A kernel by name, of the module of that name, or of any for NULL. An instance of a template has a
 * mangled name, and is found as "saxpy<float>", too: here and in kiln_function_find. */
kiln_error* kiln_catalog_function(const kiln_device* device, const kiln_catalog* catalog,
                                  const char* module, const char* name, kiln_function** function);
/* Loads every module, so that no later launch has to. */
kiln_error* kiln_catalog_load(const kiln_device* device, const kiln_catalog* catalog);

/* What is in it. Modules, kernels and images are numbered from 0, modules and kernels in the order of their
 * names; a number beyond the last gives NULL, 0 or an empty struct. Texts live as long as the catalog. */
const char* kiln_catalog_name(const kiln_catalog* catalog);
const char* kiln_catalog_digest(const kiln_catalog* catalog); /* SHA-256, in hexadecimal */
size_t kiln_catalog_module_count(const kiln_catalog* catalog);
const char* kiln_catalog_module_name(const kiln_catalog* catalog, size_t module);
/* The kernel of that name in the module, by either name; SIZE_MAX: there is none, or more than one. */
size_t kiln_catalog_find_kernel(const kiln_catalog* catalog, size_t module, const char* name);
size_t kiln_catalog_kernel_count(const kiln_catalog* catalog, size_t module);
const char* kiln_catalog_kernel_name(const kiln_catalog* catalog, size_t module, size_t kernel);
/* What the source calls it: "saxpy<float>" of an instance of a template. Its length; as much of it as `size` bytes
 * hold, ended by 0, is written to `text`. */
size_t kiln_catalog_kernel_readable_name(const kiln_catalog* catalog, size_t module, size_t kernel,
                                         char* text, size_t size);
size_t kiln_catalog_parameter_count(const kiln_catalog* catalog, size_t module, size_t kernel);

typedef struct kiln_parameter_info {
  const char* type; /* "u64", "f32", "const f32*", "ptr": docs/MANIFEST.md; empty: not known */
  const char* name; /* empty: not known */
  uint32_t size;    /* bytes */
  uint32_t is_pointer; /* 1: an address; 0: a value, or not known */
  uint32_t is_value;   /* 1: a value, as a struct is; 0: an address, or not known */
} kiln_parameter_info;
void kiln_catalog_get_parameter(const kiln_catalog* catalog, size_t module, size_t kernel,
                                size_t parameter, kiln_parameter_info* info);

typedef struct kiln_image_info {
  const char* module;
  const char* target;        /* "gfx90a:xnack+", "sm_90", "compute_80", "host"; of source "source" */
  const char* format;        /* "hsaco", "cubin", "ptx", "host", "source" */
  const char* compression;   /* "none", "zstd" */
  uint16_t unit;             /* which of the module's sources */
  uint16_t ptx_isa;          /* PTX only: 78 for 7.8 */
  const unsigned char* data; /* as stored */
  size_t stored_size;        /* bytes at `data` */
  size_t size;               /* bytes once decompressed; PTX: with its final NUL */
  uint64_t digest;           /* first 8 bytes of SHA-256 of the image's file, big-endian */
} kiln_image_info;
size_t kiln_catalog_image_count(const kiln_catalog* catalog, size_t module);
void kiln_catalog_get_image(const kiln_catalog* catalog, size_t module, size_t image,
                            kiln_image_info* info);
/* The image as its compiler wrote it, checked: `size` is that of its kiln_image_info. */
kiln_error* kiln_catalog_unpack(const kiln_catalog* catalog, size_t module, size_t image,
                                void* bytes, size_t size);

/* --- numbers that C has no type for: their bits -------------------------------------------------- */

typedef struct kiln_f8 {
  uint8_t bits; /* OCP 8-bit float, 4 exponent and 3 mantissa bits */
} kiln_f8;
typedef struct kiln_f16 {
  uint16_t bits; /* IEEE 754 binary16 */
} kiln_f16;
typedef struct kiln_bf16 {
  uint16_t bits; /* bfloat16: the upper half of a float */
} kiln_bf16;

#ifdef __cplusplus
}
#endif

#endif
