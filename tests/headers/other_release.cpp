// Must not compile against a header of a newer kiln, or with a library of another catalog format.
#if defined(OTHER_FORMAT)
#include <kiln/version.hpp>
#undef KILN_CATALOG_FORMAT
#define KILN_CATALOG_FORMAT 999
#endif
#include <kernels.hpp>
