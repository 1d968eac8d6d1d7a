/* kiln's runtime for C, and for every language that calls C: Python's ctypes, Rust, and others.
 *
 * This is the runtime of <kiln/runtime.hpp>; docs/RUNTIME.md has the rules. Library:
 * libkiln_runtime.so.
 *
 * Errors:     a function that can fail returns NULL on success, otherwise an error that the caller
 *             frees. If it fails, it does not write its output parameter.
 * Ownership:  the caller owns what a function gives out through its last parameter, and frees it
 *             with the matching _free function. Freeing NULL does nothing. Objects may be freed in
 *             any order. Errors of freeing are ignored.
 * NULL:       NULL for a required object, text or memory is an error with the code
 *             KILN_INVALID_INPUT. A function that returns no error returns 0, NULL or empty texts
 *             instead.
 * Threads:    every function may be called from any thread. Do not free an object that another
 *             thread uses.
 * Texts:      UTF-8, NUL-terminated.
 * Versions:   while the major version is 0, structs and functions change only with the minor
 *             version. The library's soname has both: libkiln_runtime.so.0.1. A program that opens
 *             the library with dlopen checks kiln_version().
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

/* Returns KILN_VERSION (<kiln/version.hpp>) of the library: 10000 * major + 100 * minor + patch. */
uint32_t kiln_version(void);

/* --- errors ---------------------------------------------------------------------------------- */

/* <kiln/result.hpp> explains each code. */
typedef enum kiln_error_code {
  KILN_OK = 0, /* the code of NULL, which is no error */
  KILN_INVALID_INPUT = 1,
  KILN_BUILD_FAILED = 2,
  KILN_UNAVAILABLE = 3, /* this machine has no such device or driver: often normal */
  KILN_ENVIRONMENT = 4,
  KILN_NOT_FOUND = 5,
  KILN_NO_IMAGE = 6,
  KILN_DRIVER = 7,
  KILN_INTERRUPTED = 8,
  KILN_INTERNAL = 9
} kiln_error_code;

kiln_error_code kiln_error_get_code(const kiln_error* error);
/* Returns the whole error as text for a person: what failed and where, and a line for each note
 * and hint. These say what was expected and what to do next. The text lives as long as the
 * error. */
const char* kiln_error_get_text(const kiln_error* error);
void kiln_error_free(kiln_error* error);

/* --- runtime and devices ---------------------------------------------------------------------- */

/* Opens the runtime. `default_device` names a device as KILN_DEVICE does ("cuda:1", "hip",
 * "host"). If it is NULL, KILN_DEVICE decides. */
kiln_error* kiln_runtime_open(const char* default_device, kiln_runtime** runtime);
void kiln_runtime_free(kiln_runtime* runtime);

/* Returns the number of devices. The first call opens the drivers. If memory runs out meanwhile, it
 * returns 0, and the next call tries again. */
size_t kiln_runtime_device_count(const kiln_runtime* runtime);
/* Returns a device's id, such as "cuda:0", or NULL after the last. The text lives as long as the
 * runtime. */
const char* kiln_runtime_device_id(const kiln_runtime* runtime, size_t index);

/* Opens the device with this id, or the default device if `id` is NULL. */
kiln_error* kiln_device_open(const kiln_runtime* runtime, const char* id, kiln_device** device);
/* Opens the same device in a context that the caller made, a CUcontext. The context must outlive
 * everything that the new device gives out. */
kiln_error* kiln_device_open_in_context(const kiln_device* device, void* native_context,
                                        kiln_device** in_context);
void kiln_device_free(kiln_device* device);

typedef struct kiln_device_info {
  const char* id;     /* "cuda:0"; all texts live as long as the device */
  const char* name;   /* "NVIDIA H200" */
  const char* target; /* "sm_90", "gfx90a:sramecc+:xnack-", "host" */
  const char* driver; /* "CUDA 12.8" */
  uint32_t wave_width;       /* lanes of a warp or wavefront */
  uint32_t multiprocessors;  /* SMs or compute units */
  uint32_t max_threads_per_block;
  uint32_t max_shared_bytes; /* per block, including what a kernel must opt in to */
  uint64_t memory_bytes;
} kiln_device_info;
void kiln_device_get_info(const kiln_device* device, kiln_device_info* info);

/* Waits for all work of the device, and returns the errors of that work. */
kiln_error* kiln_device_synchronize(const kiln_device* device);

/* --- memory ----------------------------------------------------------------------------------- */

/* Allocates memory, uninitialised and aligned to at least 256 bytes. If the driver has a pool,
 * the memory comes from it in the order of the default stream, and freeing does not wait
 * (docs/RUNTIME.md, "Memory"). */
kiln_error* kiln_buffer_allocate(const kiln_device* device, size_t bytes, kiln_buffer** buffer);
/* Allocates memory in the order of a stream, which the buffer keeps open; NULL means the default
 * stream. Work on other streams must wait for it. Fails if the stream is being captured into a
 * graph. */
kiln_error* kiln_buffer_allocate_on(const kiln_device* device, size_t bytes,
                                    const kiln_stream* stream, kiln_buffer** buffer);
/* Frees the memory after all work that its stream was given before, and does not wait for it. Waits
 * for the device if the driver has no pool, or if the program has used a stream of its own that does
 * not wait for the default stream. May be called while a stream is captured. */
void kiln_buffer_free(kiln_buffer* buffer);
/* Returns the address on the device, an argument for kernels and copies. The host must not read
 * it. */
void* kiln_buffer_data(const kiln_buffer* buffer);
size_t kiln_buffer_size(const kiln_buffer* buffer);

/* Wait for the device's earlier work, copy `bytes` bytes, and return when the copy is done. Errors
 * of the earlier work are returned, too. */
kiln_error* kiln_copy_to_device(const kiln_device* device, void* device_target,
                                const void* host_source, size_t bytes);
kiln_error* kiln_copy_to_host(const kiln_device* device, void* host_target,
                              const void* device_source, size_t bytes);

/* Copy in the order of a stream, given by the driver's own handle (NULL: the default stream),
 * and return at once. The host memory must stay valid and unchanged until the stream has done
 * the copy. Copies from and to pinned memory run while the program goes on. */
kiln_error* kiln_copy_to_device_async(const kiln_device* device, void* device_target,
                                      const void* host_source, size_t bytes, void* stream);
kiln_error* kiln_copy_to_host_async(const kiln_device* device, void* host_target,
                                    const void* device_source, size_t bytes, void* stream);

/* Sets each byte to the lowest 8 bits of `value`, in the order of the stream. Returns at once. */
kiln_error* kiln_device_fill(const kiln_device* device, void* device_target, int value, size_t bytes, void* stream);

/* Page-locked memory of the program. Free it only when no copy from or to it is under way. */
kiln_error* kiln_pinned_allocate(const kiln_device* device, size_t bytes, kiln_pinned** pinned);
void kiln_pinned_free(kiln_pinned* pinned);
/* Returns the address, which the program reads and writes like any other, but not while a copy from
 * or to it is under way. NULL if `pinned` has 0 bytes. Valid until kiln_pinned_free. */
void* kiln_pinned_data(const kiln_pinned* pinned);
size_t kiln_pinned_size(const kiln_pinned* pinned); /* bytes */

/* --- streams ---------------------------------------------------------------------------------- */

/* Creates a stream. Work on it runs in the order of the calls; work on different streams may
 * overlap. The default stream waits for it, and makes it wait. */
kiln_error* kiln_stream_create(const kiln_device* device, kiln_stream** stream);
/* Does not wait: the work that the stream was given is still done. The stream stays open until the
 * buffers allocated on it are freed, but must not be given more work. */
void kiln_stream_free(kiln_stream* stream);
/* Waits until all work given to the stream is done, and returns the errors of that work. */
kiln_error* kiln_stream_synchronize(const kiln_stream* stream);
/* Returns the driver's own handle, for kiln_launch_config; NULL, which is the default stream there,
 * for NULL. */
void* kiln_stream_native(const kiln_stream* stream);

/* --- kernels ---------------------------------------------------------------------------------- */

/* Finds a kernel in an image: cubin, fatbin or PTX; AMD code object or offload bundle; host
 * shared object. The image is copied and identified by its content, so two kernels of one image
 * load it only once. */
kiln_error* kiln_function_load(const kiln_device* device, const char* name, const void* image,
                               size_t image_bytes, kiln_function** function);
/* Finds a kernel of a generated C++ header. `module` points to its kiln::ModuleEntry. */
kiln_error* kiln_function_find(const kiln_device* device, const char* name, const void* module,
                               kiln_function** function);
void kiln_function_free(kiln_function* function);
/* Does in advance what the first launch would have to do, for use before a graph capture. */
kiln_error* kiln_function_prepare(const kiln_function* function);

typedef struct kiln_launch_config {
  uint32_t grid[3];  /* blocks */
  uint32_t block[3]; /* threads per block */
  uint32_t shared_bytes; /* dynamic shared memory per block */
  void* stream; /* the driver's own handle; NULL: the default stream */
} kiln_launch_config;

/* Starts the kernel and returns. `arguments` holds `count` addresses of values, which are
 * copied. The count is compared with the number of the kernel's parameters, as given by the
 * header, the image or the driver. */
kiln_error* kiln_function_launch(const kiln_function* function, const kiln_launch_config* config,
                                 const void* const* arguments, size_t count);
/* Does the same with `sizes`, the size of each value in bytes, which is compared with the
 * parameter's size. */
kiln_error* kiln_function_launch_sized(const kiln_function* function,
                                       const kiln_launch_config* config,
                                       const void* const* arguments, const size_t* sizes,
                                       size_t count);
/* Like kiln_function_launch, but fails if `function` is not the kernel `name`. Generated headers
 * call it. */
kiln_error* kiln_function_launch_named(const kiln_function* function,
                                       const kiln_launch_config* config, const char* name,
                                       const void* const* arguments, size_t count);

/* --- catalog files ----------------------------------------------------------------------------- */

/* A catalog file, <name>.kiln, holds the kernels of a build; `kiln build --emit catalog` writes
 * it. Opening maps the file and checks its table. An image is checked against its digest when a
 * device first loads it. */
kiln_error* kiln_catalog_open(const char* path, kiln_catalog** catalog);
/* Opens a catalog file in memory, at a multiple of 4096. The bytes must outlive everything made
 * from them. */
kiln_error* kiln_catalog_open_memory(const void* bytes, size_t size, kiln_catalog** catalog);
/* A device that loaded from the catalog keeps it open after this call. */
void kiln_catalog_free(kiln_catalog* catalog);

/* Finds a kernel by name in the module of that name, or in all modules if `module` is NULL. An
 * instance of a template has a mangled name, and is also found as "saxpy<float>".
 * kiln_function_find finds it by both, too. */
kiln_error* kiln_catalog_function(const kiln_device* device, const kiln_catalog* catalog,
                                  const char* module, const char* name, kiln_function** function);
/* Loads every module, so that no later launch has to load anything. */
kiln_error* kiln_catalog_load(const kiln_device* device, const kiln_catalog* catalog);

/* Contents of a catalog. Modules, kernels and images are numbered from 0; modules and kernels
 * are in the order of their names. For a number after the last, functions return NULL, 0 or an
 * empty struct. Texts live as long as the catalog. */
const char* kiln_catalog_name(const kiln_catalog* catalog);
const char* kiln_catalog_digest(const kiln_catalog* catalog); /* SHA-256, in hexadecimal */
size_t kiln_catalog_module_count(const kiln_catalog* catalog);
const char* kiln_catalog_module_name(const kiln_catalog* catalog, size_t module);
/* Returns the kernel of that name (mangled or not) in the module, or SIZE_MAX if there is none
 * or several. */
size_t kiln_catalog_find_kernel(const kiln_catalog* catalog, size_t module, const char* name);
size_t kiln_catalog_kernel_count(const kiln_catalog* catalog, size_t module);
const char* kiln_catalog_kernel_name(const kiln_catalog* catalog, size_t module, size_t kernel);
/* Writes the name that the source gives the kernel, "saxpy<float>" for an instance of a
 * template, to `text`: as much of it as `size` bytes hold, with a NUL at the end. Returns the
 * length of the whole name. */
size_t kiln_catalog_kernel_readable_name(const kiln_catalog* catalog, size_t module, size_t kernel,
                                         char* text, size_t size);
size_t kiln_catalog_parameter_count(const kiln_catalog* catalog, size_t module, size_t kernel);

typedef struct kiln_parameter_info {
  const char* type; /* "u64", "f32", "const f32*", "ptr": docs/MANIFEST.md; empty if unknown */
  const char* name; /* empty if unknown */
  uint32_t size;    /* bytes */
  uint32_t is_pointer; /* 1: an address; 0: a value, or unknown */
  uint32_t is_value;   /* 1: a value, such as a struct; 0: an address, or unknown */
} kiln_parameter_info;
void kiln_catalog_get_parameter(const kiln_catalog* catalog, size_t module, size_t kernel,
                                size_t parameter, kiln_parameter_info* info);

typedef struct kiln_image_info {
  const char* module;
  const char* target;        /* "gfx90a:xnack+", "sm_90", "compute_80", "host", "source" */
  const char* format;        /* "hsaco", "cubin", "ptx", "host", "source" */
  const char* compression;   /* "none", "zstd" */
  uint16_t unit;             /* which of the module's sources it was made from */
  uint16_t ptx_isa;          /* PTX only: 78 for 7.8 */
  const unsigned char* data; /* as stored */
  size_t stored_size;        /* number of bytes at `data` */
  size_t size;               /* bytes once decompressed; PTX includes its final NUL */
  uint64_t digest;           /* first 8 bytes, big-endian, of the SHA-256 of the image's file */
} kiln_image_info;
size_t kiln_catalog_image_count(const kiln_catalog* catalog, size_t module);
void kiln_catalog_get_image(const kiln_catalog* catalog, size_t module, size_t image,
                            kiln_image_info* info);
/* Writes the image as its compiler wrote it, and checks it. `size` must be the kiln_image_info's
 * size. */
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
