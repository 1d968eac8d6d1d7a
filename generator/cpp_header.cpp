#include "generator/cpp_header.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/demangle.hpp"
#include "base/on_all_cores.hpp"
#include "base/text.hpp"
#include "base/version_text.hpp"
#include "formats/image_format.hpp"
#include "generator/head_comment.hpp"
#include "generator/identifiers.hpp"
#include "generator/literal.hpp"
#include "generator/names.hpp"
#include "generator/source_names.hpp"
#include "generator/text_layout.hpp"

namespace kiln::generator {
namespace {

std::string braced(const std::string& line, const std::vector<std::string>& elements) {
  return listed(line + '{', elements, '}');
}

// Parameter lists without duplicates: most kernels of a module share a few.
class ParameterLists {
 public:
  explicit ParameterLists(const Catalog& catalog) {
    for (const Module& module : catalog.modules) {
      for (const Kernel& kernel : module.kernels) {
        if (kernel.parameters.empty()) continue;
        const auto [found, is_new] = numbers_.emplace(elements(kernel), numbers_.size());
        if (is_new) order_.push_back(&found->first);
      }
    }
  }

  std::string name(const Kernel& kernel) const {
    return kernel.parameters.empty() ? "{}" : "detail::" + name(elements(kernel));
  }

  std::string definitions() const {
    std::string out;
    for (const Elements* list : order_) {
      out += braced("inline constexpr Parameter " + name(*list) + "[] = ", *list) + ";\n";
    }
    return out;
  }

 private:
  using Elements = std::vector<std::string>;

  static Elements elements(const Kernel& kernel) {
    Elements list;
    for (const KernelParameter& parameter : kernel.parameters) list.push_back(element(parameter));
    return list;
  }

  static std::string element(const KernelParameter& parameter) {
    const Parameter& layout = parameter.layout;
    const std::string offset = std::to_string(layout.offset), type = cpp_spelling(parameter.type);
    if (!type.empty()) return "Parameter::of<" + type + ">(" + offset + ')';
    return '{' + offset + ", " + std::to_string(layout.size) + ", " + word(layout.kind) + '}';
  }

  static const char* word(ParameterKind kind) {
    switch (kind) {
      case ParameterKind::kValue: return "value";
      case ParameterKind::kPointer: return "pointer";
      case ParameterKind::kUnknown: break;
    }
    return "unknown";
  }

  std::string name(const Elements& list) const {
    return "parameters_" + std::to_string(numbers_.at(list));
  }

  std::map<Elements, std::size_t> numbers_;
  std::vector<const Elements*> order_;
};

// Returns an #if chain that refuses a <kiln/catalog.hpp> for which this header was not written. The
// header's body is in its #else, so that the refusal is the only error.
std::string version_guard(const Options& options) {
  std::string out;
  const std::string format = std::to_string(KILN_CATALOG_FORMAT);
  out += "#if !defined(KILN_CATALOG_FORMAT) || KILN_CATALOG_FORMAT != " + format + '\n';
  out += "#error \"" + options.header + " has catalog format " + format +
         ", and the <kiln/catalog.hpp> found has another: generate it with the kiln of that "
         "release\"\n";
  if (options.minimum_runtime != 0) {
    out += "#elif KILN_VERSION < " + std::to_string(options.minimum_runtime) + '\n';
    out += "#error \"" + options.header + " needs kiln " + version_text(options.minimum_runtime) +
           " or newer, and the <kiln/catalog.hpp> found is older: update it, or lower "
           "minimum_runtime in the manifest\"\n";
  }
  return out + "#else\n";
}

std::string kernel_table(const Module& module, const ParameterLists& parameters) {
  if (module.kernels.empty()) return {};
  std::string out = "inline constexpr ::kiln::KernelEntry kernels[] = {\n";
  for (const Kernel& kernel : module.kernels) {
    out += "    {" + literal(kernel.name) + ", " + std::to_string(kernel.unit) + ", " +
           parameters.name(kernel) + "},\n";
  }
  return out + "};\n";
}

// One byte longer than the stored bytes: a literal ends with a NUL, for which C++ demands room.
std::string array(const Module& module, const Artifact& image) {
  return "alignas(" + std::to_string(alignment(image)) + ") inline constexpr unsigned char " +
         array_name(module, image) + '[' + std::to_string(image.stored.size()) + " + 1] =\n";
}

std::string external_array(const Module& module, const Artifact& image, const Digest& digest) {
  return "extern \"C\" [[gnu::visibility(\"hidden\")]] const unsigned char\n    " +
         symbol(digest, module, image) + '[' + std::to_string(image.stored.size()) + " + 1];\n";
}

std::string image_table(const Module& module, const Options& options, const Digest& digest) {
  if (module.images.empty()) return {};
  std::string out = "inline constexpr ::kiln::ImageEntry images[] = {\n";
  for (const Artifact& image : module.images) {
    const std::string data = options.storage == Storage::kArray ? array_name(module, image)
                                                                : symbol(digest, module, image);
    out += "    {" + literal(target_name(image)) +
           ", detail::Format::" + std::string(enumerator(image.info.format)) +
           ", detail::Compression::" + std::string(enumerator(image.compression)) + ", " +
           std::to_string(image.unit) + ", " + std::to_string(image.info.ptx_isa) + ",\n     " +
           data + ", " + std::to_string(image.stored.size()) + ", " +
           std::to_string(decompressed_size(image)) + ", 0x" + short_digest(image.digest) + "},\n";
  }
  return out + "};\n";
}

void append_module_data(std::string& out, const Module& module, const ParameterLists& parameters,
                        const Options& options, const std::vector<std::string>* literals,
                        const Digest& digest) {
  out += "\nnamespace " + identifier(module.name) + " {\n\n";
  out += kernel_table(module, parameters);
  for (std::size_t i = 0; i < module.images.size(); ++i) {
    if (literals != nullptr) {
      out.append("\n").append(array(module, module.images[i])).append((*literals)[i]).append(";\n");
    } else {
      out += external_array(module, module.images[i], digest);
    }
  }
  if (!module.images.empty()) out += '\n';
  out += image_table(module, options, digest);
  out += "\n}  // namespace " + identifier(module.name) + '\n';
}

std::string module_constant(const Module& module, std::size_t id) {
  const std::string space = "data::" + identifier(module.name) + "::";
  return "inline constexpr Module " + identifier(module.name) + "{" + literal(module.name) + ", " +
         std::to_string(id) + ", " + std::to_string(module.sources.size()) + ", " +
         (module.kernels.empty() ? "{}" : space + "kernels") + ", " +
         (module.images.empty() ? "{}" : space + "images") + ",\n    0x" +
         short_digest(module.source_digest) + "};\n";
}

// Returns the type of an argument, or its size if the type is unknown.
std::string argument_type(const KernelParameter& parameter) {
  if (std::string type = cpp_spelling(parameter.type); !type.empty()) return type;
  const bool is_value = parameter.layout.kind == ParameterKind::kValue;
  return std::string("::kiln::Untyped") + (is_value ? "Value" : "") + '<' +
         std::to_string(parameter.layout.size) + '>';
}

// Returns the information that the constant does not contain: the parameters' names and, if the
// kernel's name is no identifier, that name and its readable form.
std::string kernel_comment(const Kernel& kernel, const std::string& constant) {
  const std::string readable = demangled(kernel.name);
  const std::string name =
      in_comment(kernel.name) + (readable.empty() ? "" : ", " + in_comment(readable));
  std::vector<std::string> names;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (!parameter.name.empty()) names.push_back(in_comment(parameter.name));
  }
  if (!names.empty() && names.size() == kernel.parameters.size()) {
    return listed("// " + name + '(', names, ')', "//") + '\n';
  }
  return constant == kernel.name ? std::string() : "// " + name + '\n';
}

// Returns the first names, for a message.
std::string listing(std::vector<std::string> names) {
  constexpr std::size_t kMaxNames = 12;
  const std::size_t omitted = names.size() > kMaxNames ? names.size() - kMaxNames : 0;
  names.resize(names.size() - omitted);
  return join(names, ", ") + (omitted == 0 ? "" : " and " + std::to_string(omitted) + " more");
}

// Declares scale or scale<float> for a kernel's constant, which is in `inside` of the header's
// namespace `header`. An instance that does not exist fails to compile, with a message that lists
// the existing ones.
std::string source_constants(const Module& module, const SourceName& source,
                             const std::string& header, const std::string& inside) {
  const auto constant = [&](const SourceInstance& instance) {
    return " = " + header + inside + identifier(module.kernels[instance.kernel].name) + ";\n";
  };
  if (!source.is_template()) {
    return "inline constexpr auto " + source.name + constant(source.instances[0]);
  }
  const std::string none = "no_such_kernel_" + source.name;
  std::vector<std::string> parameters, names, known;
  for (const std::string& parameter : source.parameters) {
    names.push_back("P" + std::to_string(names.size()));
    parameters.push_back(parameter + ' ' + names.back());
  }
  for (const SourceInstance& instance : source.instances) {
    known.push_back(source.name + '<' + join(instance.arguments, ", ") + '>');
  }
  // The assertion depends on the instance, so that it is evaluated only for an instance that is
  // used. nvcc's front end would evaluate it for the specializations, too.
  const std::string head = "template <" + join(parameters, ", ") + "> ";
  std::string out =
      head + "struct " + none + " {\n#if !defined(__NVCC__) && !defined(__EDG__)\n" +
      "  static_assert(sizeof(" + none + "*) == 0,\n    " +
      literal("the sources do not instantiate this kernel: they have " + listing(known)) +
      ");\n#endif\n};\n";
  out += head + "extern const " + none + '<' + join(names, ", ") + "> " + source.name + ";\n";
  for (const SourceInstance& instance : source.instances) {
    out += "template <> inline constexpr auto " + source.name + '<' +
           join(instance.arguments, ", ") + '>' + constant(instance);
  }
  return out;
}

// Constants for kernels in namespaces. They are outside the modules' own namespaces, because
// modules may share a namespace.
std::string namespaced_constants(const Catalog& catalog, const Options& options) {
  std::string out;
  for (const NameOfModule& entry : names_in_namespaces(catalog)) {
    out += "namespace " + entry.name.space + " {\n" +
           source_constants(*entry.module, entry.name, "::" + options.name_space + "::",
                            namespace_name(catalog, *entry.module) + "::") +
           "}\n\n";
  }
  return out;
}

std::string kernel_constants(const Catalog& catalog, const Module& module) {
  const std::string space = namespace_name(catalog, module);
  std::string out = "inline namespace " + space + " {\n";
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const Kernel& kernel = module.kernels[i];
    std::vector<std::string> types;
    for (const KernelParameter& parameter : kernel.parameters) {
      types.push_back(argument_type(parameter));
    }
    const std::string constant = identifier(kernel.name);
    out += kernel_comment(kernel, constant);
    const std::string type = listed("inline constexpr ::kiln::Kernel<", types, '>');
    const std::string value =
        constant + "{&modules::" + identifier(module.name) + ", " + std::to_string(i) + "};\n";
    const bool fits = type.size() + value.size() <= kColumns;
    out += type + (fits ? " " : "\n    ") + value;
  }
  for (const SourceName& source : source_names_of(module)) {
    if (source.space.empty()) out += source_constants(module, source, "", "");
  }
  return out + "}  // namespace " + space + '\n';
}

std::string string_table(const char* name, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::vector<std::string> elements;
  for (const std::string& word : words) elements.push_back(literal(word));
  return braced("inline constexpr std::string_view " + std::string(name) + "[] = ", elements) +
         ";\n";
}

std::string catalog_constant(const Catalog& catalog, const Digest& digest) {
  std::string out = "namespace detail {\n";
  out += string_table("targets", catalog.targets);
  out += string_table("missing_targets", catalog.missing_targets);
  if (!catalog.modules.empty()) {
    std::vector<std::string> elements;
    for (const Module& module : catalog.modules) {
      elements.push_back("&modules::" + identifier(module.name));
    }
    out += braced("inline constexpr const Module* all_modules[] = ", elements) + ";\n";
  }
  out += "inline constexpr ::kiln::Catalog all{\n    " + literal(catalog.name) + ",\n    " +
         literal(digest.hex()) + ",\n    " + (catalog.targets.empty() ? "{}" : "targets") + ", " +
         (catalog.missing_targets.empty() ? "{}" : "missing_targets") + ", " +
         (catalog.modules.empty() ? "{}" : "all_modules") + "};\n";
  return out + "}  // namespace detail\n";
}

constexpr std::string_view kFunctions = R"(
constexpr const ::kiln::Catalog& catalog() { return detail::all; }

// The module called `name`, or nullptr.
constexpr const Module* find(std::string_view name) { return catalog().find(name); }

// The module with this id.
constexpr const Module& get(Id id) { return *catalog().modules[static_cast<std::size_t>(id)]; }
)";

// Slightly more than the literals and the text about each need.
std::size_t total_size(const Literals& literals) {
  std::size_t size = std::size_t{1} << 16;
  for (const std::vector<std::string>& module : literals) {
    for (const std::string& literal : module) size += literal.size() + 512;
  }
  return size;
}

}  // namespace

Literals write_literals(const Catalog& catalog, const Options& options) {
  Literals literals(catalog.modules.size());
  if (options.storage == Storage::kAsm) return literals;
  std::vector<std::pair<const Artifact*, std::string*>> tasks;
  for (std::size_t i = 0; i < catalog.modules.size(); ++i) {
    const std::vector<Artifact>& images = catalog.modules[i].images;
    literals[i].resize(images.size());
    for (std::size_t j = 0; j < images.size(); ++j) {
      tasks.emplace_back(&images[j], &literals[i][j]);
    }
  }
  on_all_cores(tasks.size(),
               [&](std::size_t i) { append_literal(*tasks[i].second, tasks[i].first->stored, 4); });
  return literals;
}

std::string write_header(const Catalog& catalog, const Options& options, const Literals& literals,
                         const Digest& digest) {
  return write_head_comment(catalog, options, digest,
                            "C++17, <kiln/catalog.hpp> and the standard library") +
         "#pragma once\n\n#include <kiln/catalog.hpp>\n\n" +
         write_header_body(catalog, options, literals, digest);
}

std::string write_header_body(const Catalog& catalog, const Options& options,
                              const Literals& literals, const Digest& digest) {
  const ParameterLists parameters(catalog);
  const std::string versioned = "catalog_" + short_digest(digest);

  std::string out;
  if (options.storage == Storage::kArray) out.reserve(total_size(literals));
  out += "#include <cstddef>\n#include <cstdint>\n#include <string_view>\n\n";
  out += version_guard(options);
  if (options.storage == Storage::kArray) {
    out +=
        "\n#if defined(__clang__)\n#pragma clang diagnostic push\n"
        "#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n";
  }

  out += "\nnamespace " + options.name_space + " {\ninline namespace " + versioned + " {\n\n";
  out += "using Module = ::kiln::ModuleEntry;\n\n";
  out += "// The position of a module in catalog().modules.\nenum class Id : std::uint32_t {\n";
  for (const Module& module : catalog.modules) out += "  " + identifier(module.name) + ",\n";
  out += "};\n\n";

  out += "namespace detail {\n\n";
  out +=
      "using ::kiln::Compression;\nusing Format = ::kiln::ImageFormat;\nusing ::kiln::Parameter;\n";
  out += "inline constexpr auto unknown = ::kiln::ParameterKind::kUnknown;\n";
  out += "inline constexpr auto value = ::kiln::ParameterKind::kValue;\n";
  out += "inline constexpr auto pointer = ::kiln::ParameterKind::kPointer;\n\n";
  out += "// Each argument: its type and offset, or {offset, size, kind}.\n" +
         parameters.definitions();
  out += "\n}  // namespace detail\n\n";
  out += "// The tables and the bytes of each module.\nnamespace data {\n";
  for (std::size_t i = 0; i < catalog.modules.size(); ++i) {
    append_module_data(out, catalog.modules[i], parameters, options,
                       options.storage == Storage::kArray ? &literals[i] : nullptr, digest);
  }
  out += "\n}  // namespace data\n\n";

  out += "namespace modules {\n";
  for (std::size_t id = 0; id < catalog.modules.size(); ++id) {
    out += module_constant(catalog.modules[id], id);
  }
  out += "}  // namespace modules\n\n";

  out +=
      "// The kernels. Where two modules have one of the same name, say <namespace>::<kernel>.\n";
  for (const Module& module : catalog.modules) {
    out += kernel_constants(catalog, module) + '\n';
  }
  out += namespaced_constants(catalog, options);

  out += catalog_constant(catalog, digest);
  out += kFunctions;
  out += "\n}  // namespace " + versioned + "\n}  // namespace " + options.name_space + '\n';
  if (options.storage == Storage::kArray) {
    out += "\n#if defined(__clang__)\n#pragma clang diagnostic pop\n#endif\n";
  }
  out += "\n#endif\n";
  return out;
}

std::string write_cpp_source(const Catalog& catalog, const Options& options,
                             const Literals& literals, const Digest& digest) {
  std::string out = "// " + stem(options) + ".cpp: the images of " + options.header +
                    ", made by kiln with it. Do not edit.\n//\n" +
                    "// Compile it, and link it into what includes the header.\n\n";
  out +=
      "#if defined(__clang__)\n#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n";
  out.reserve(out.size() + total_size(literals));
  for (std::size_t i = 0; i < catalog.modules.size(); ++i) {
    const Module& module = catalog.modules[i];
    for (std::size_t j = 0; j < module.images.size(); ++j) {
      const Artifact& image = module.images[j];
      const std::string size = std::to_string(image.stored.size()) + " + 1]";
      const std::string name = symbol(digest, module, image) + '[' + size;
      out += "\nextern \"C\" [[gnu::visibility(\"hidden\"), gnu::weak]] const unsigned char\n    " +
             name + ";\n";
      out +=
          "alignas(" + std::to_string(alignment(image)) + ") const unsigned char " + name + " =\n";
      out.append(literals[i][j]).append(";\n");
    }
  }
  return out;
}

}  // namespace kiln::generator
