// Looks up kernels in a catalog file for Device, and makes the errors for unknown names.
#include <string>
#include <utility>
#include <vector>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "kiln/device.hpp"
#include "runtime/src/device_state.hpp"
#include "runtime/src/no_such_kernel.hpp"

namespace kiln {
namespace {

bool is_instance(std::string_view name) { return name.find('<') != std::string_view::npos; }

std::string_view template_of(std::string_view name) { return name.substr(0, name.find('<')); }

// Lists the instances of the same template in `names`: "saxpy<double>, saxpy<float>". Empty if
// there are none.
std::string instances_of(std::string_view name, const std::vector<std::string>& names) {
  const std::string_view wanted = template_of(name);
  std::string found;
  for (const std::string& other : names) {
    if (!is_instance(other) || template_of(other) != wanted) continue;
    found += (found.empty() ? "" : ", ") + other;
  }
  return found;
}

// Returns the name in `names` that is nearest to `name`. If none is near, compares only the parts
// before template arguments. May be empty.
std::string similar_to(std::string_view name, const std::vector<std::string>& names) {
  std::string similar = nearest(name, names);
  if (similar.empty()) {
    std::vector<std::string> without_arguments;
    for (const std::string& other : names) without_arguments.emplace_back(template_of(other));
    similar = nearest(template_of(name), without_arguments);
    if (std::string instances = instances_of(similar, names); !instances.empty()) return instances;
  }
  return similar.empty() ? similar : "'" + similar + "'";
}

// Returns the error "<kind> '<owner>' has no <what> '<name>'". Its hint lists the instances of the
// template, or the nearest of `names` if one is near.
Error missing(std::string kind, std::string_view owner, std::string_view what,
              std::string_view name, const std::vector<std::string>& names) {
  std::string message = std::move(kind);
  message.append(" '").append(owner).append("' has no ").append(what).append(" '").append(name);
  Error error{ErrorCode::kNotFound, message + '\'', {}, {}};
  const std::string instances = instances_of(name, names);
  if (!instances.empty()) {
    error.hint("the sources instantiate " + instances + (is_instance(name) ? "; add the instance to them" : ""));
  } else if (const std::string similar = similar_to(name, names); !similar.empty()) {
    error.hint("did you mean " + similar + "?");
  }
  return error;
}

void add_names(const ModuleEntry& module, std::vector<std::string>& names) {
  for (const KernelEntry& kernel : module.kernels) names.push_back(readable_name(kernel.name));
}

// Returns the kernel's index in the module, by its own name or as users write it, or a negative
// number.
Result<std::ptrdiff_t> find_in(const ModuleEntry& module, std::string_view name) {
  const std::ptrdiff_t found = module.find(name);
  if (found >= 0) return found;
  return runtime::find_by_readable_name(name, module);
}

// Returns the module named `module`, or if that is empty, the module that has the kernel.
Result<const ModuleEntry*> module_of(std::string_view name, const Catalog& catalog, std::string_view module) {
  const ModuleEntry* owner = module.empty() ? nullptr : catalog.find(module);
  if (owner != nullptr) return owner;
  std::vector<std::string> names;
  if (!module.empty()) {
    for (const ModuleEntry* candidate : catalog.modules) names.emplace_back(candidate->name);
    return missing("catalog", catalog.name, "module", module, names);
  }
  for (const ModuleEntry* candidate : catalog.modules) {
    KILN_TRY_ASSIGN(const std::ptrdiff_t found, find_in(*candidate, name));
    if (found < 0) continue;
    if (owner != nullptr) {
      return Error{ErrorCode::kInvalidInput,
                   "modules '" + std::string(owner->name) + "' and '" +
                       std::string(candidate->name) + "' both have a kernel '" + std::string(name) +
                       "'",
                   {},
                   {}}
          .hint("say which module's is meant");
    }
    owner = candidate;
  }
  if (owner != nullptr) return owner;
  for (const ModuleEntry* candidate : catalog.modules) add_names(*candidate, names);
  return missing("catalog", catalog.name, "kernel", name, names);
}

}  // namespace

Result<std::ptrdiff_t> runtime::find_by_readable_name(std::string_view name,
                                                      const ModuleEntry& module) {
  std::ptrdiff_t found = -1;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    if (!matches_readable_name(module.kernels[i].name, name)) continue;
    if (found < 0) {
      found = static_cast<std::ptrdiff_t>(i);
      continue;
    }
    std::string message = "'";
    message.append(name).append("' may be two kernels of module '").append(module.name) += '\'';
    Error error{ErrorCode::kInvalidInput, std::move(message), {}, {}};
    return error.note(std::string(module.kernels[static_cast<std::size_t>(found)].name))
        .note(std::string(module.kernels[i].name))
        .hint("name the one that is meant by its mangled name");
  }
  return found;
}

Error runtime::no_such_kernel(std::string_view name, const ModuleEntry& module) {
  std::vector<std::string> names;
  add_names(module, names);
  return missing("module", module.name, "kernel", name, names);
}

Result<Function> Device::function(std::string_view name, const Catalog& catalog,
                                  std::string_view module) const {
  KILN_TRY_ASSIGN(const ModuleEntry* const owner, module_of(name, catalog, module));
  return function(name, *owner);
}

Result<Function> Device::function(std::string_view name, const CatalogFile& file,
                                  std::string_view module) const {
  KILN_TRY_ASSIGN(const ModuleEntry* const owner, module_of(name, file.catalog(), module));
  state_->files().add(file.state_);
  return function(name, *owner);
}

}  // namespace kiln
