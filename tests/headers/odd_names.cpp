// Names that are keywords, macros, names of the header or not identifiers: the header compiles with
// everything that C headers define, and each kernel is found by its own name.
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <kernels.hpp>

constexpr const kernels::Module& first = *kernels::find("first");
static_assert(first.kernels.size() == 50);

constexpr bool every_kernel_is_found() {
  for (const kiln::KernelEntry& kernel : first.kernels) {
    if (first.find(kernel.name) != &kernel - first.kernels.data()) return false;
  }
  return true;
}
static_assert(every_kernel_is_found());

static_assert(kernels::class_.name() == "class");
static_assert(kernels::errno_.name() == "errno");
static_assert(kernels::unix_.name() == "unix");
static_assert(kernels::a.name() == "a");
static_assert(kernels::a_3cb_2c_20c_3e_28d_2a_29_.name() == "a<b, c>(d*)");
static_assert(kernels::a_5f_.name() == "a_");
static_assert(kernels::a_5f5f_5f_.name() == "a_5f_");

// Kernels with the name of a module keep their constants; the namespaces of the modules are
// renamed.
static_assert(kernels::kernels.name() == "kernels");
static_assert(kernels::find_.name() == "find");
static_assert(kernels::kernels_::kernels_run.name() == "kernels_run");
static_assert(kernels::_66_69_6e_64_::find_run.name() == "find_run");

static_assert(kernels::modules::find_.name == "find");
static_assert(kernels::get(kernels::Id::get_).name == "get");
static_assert(kernels::_73_74_64_::run.name() == "run");
static_assert(kernels::linux_run.name() == "linux_run");
