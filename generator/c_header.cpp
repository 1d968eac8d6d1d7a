#include "generator/c_header.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/demangle.hpp"
#include "formats/image_format.hpp"
#include "generator/assembly.hpp"
#include "generator/head_comment.hpp"
#include "generator/identifiers.hpp"
#include "generator/literal.hpp"
#include "generator/names.hpp"
#include "generator/source_names.hpp"
#include "generator/text_layout.hpp"

namespace kiln::generator {
namespace {

// Returns the prefix of every name in the header: "app::gpu" -> "app_gpu".
std::string prefix(const Options& options) {
  std::string name;
  for (const char c : options.name_space) {
    if (c != ':') name += c;
    if (c == ':' && name.back() != '_') name += '_';
  }
  return name;
}

// Returns the macro that the source file with the bytes defines.
std::string implementation(const Options& options) {
  return upper_case(prefix(options)) + "_IMPLEMENTATION";
}

// Returns the symbol of the catalog file with this digest, so that a program may contain two
// versions of a file. If no file of the program defines it, its name in the linker's message says
// what to do.
std::string bytes_symbol(const Options& options, const Digest& digest) {
  const std::string name = "kiln_catalog_" + short_digest(digest);
  switch (options.storage) {
    case Storage::kArray: return name + "_needs_" + implementation(options);
    case Storage::kAsm: return name + "_needs_" + identifier(stem(options)) + "_c_S";
    case Storage::kSplit: return name + "_needs_" + identifier(stem(options)) + "_c";
  }
  return name;
}

std::string c_element(ElementType element) {
  switch (element) {
    case ElementType::kF8: return "kiln_f8";
    case ElementType::kF16: return "kiln_f16";
    case ElementType::kBf16: return "kiln_bf16";
    default: break;
  }
  std::string text(info(element).cpp);
  return text.starts_with("std::") ? text.substr(5) : text;
}

// Returns the type before a parameter's name: "const float* " or "uint64_t ". A value of unknown
// type is passed by the address of its bytes, and a pointer of unknown type as any pointer.
std::string c_type(const KernelParameter& parameter) {
  const ParameterType& type = parameter.type;
  if (!type.is_known() || type.element == ElementType::kUnknown) return "const void* ";
  return (type.is_const ? "const " : "") + c_element(type.element) + (type.is_pointer ? "* " : " ");
}

// True for a name that the functions themselves use: a variable, a word of C, a type, and every name
// of <kiln/kiln.h>.
bool is_taken(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kWords = {"arguments", "complex",  "config",
                                                             "function",  "restrict", "kernel"};
  return std::ranges::find(kWords, name) != kWords.end() || name.starts_with("kiln_") ||
         std::ranges::any_of(kElementTypes, [name](const ElementTypeInfo& element) {
           return name == c_element(element.type);
         });
}

std::string parameter_name(const KernelParameter& parameter, std::size_t position) {
  if (parameter.name.empty() || identifier(parameter.name) != parameter.name) {
    return "argument_" + std::to_string(position + 1);  // messages count from 1, too
  }
  return parameter.name + (is_taken(parameter.name) ? "_" : "");
}

// Names of the functions of each kernel, without "_load" and "_launch". If two modules have kernels
// with the same name, the module's name comes first.
class FunctionNames {
 public:
  FunctionNames(const Catalog& catalog, const Options& options) : prefix_(prefix(options)) {
    for (const Module& module : catalog.modules) {
      for (const std::string& name : plain_[&module] = plain_names_of(module)) ++uses_[name];
    }
  }
  // Takes the kernel's position in Module::kernels.
  std::string operator()(const Module& module, std::size_t position) const {
    const std::string& kernel = plain_.at(&module)[position];
    const std::string name = prefix_ + '_';
    if (uses_.at(kernel) == 1) return name + identifier(kernel);
    const std::string both = identifier(module.name) + '_' + identifier(kernel);
    return name + (uses_.contains(both) ? spelt_out(both) : both);
  }

 private:
  std::string prefix_;
  std::map<const Module*, std::vector<std::string>> plain_;
  std::map<std::string, int> uses_;
};

std::string load_function(const Module& module, const Kernel& kernel, const std::string& name) {
  return listed("static inline kiln_error* " + name + "_load(",
                {"const kiln_device* device", "const kiln_catalog* catalog",
                 "kiln_function** function"},
                ')') +
         " {\n  return kiln_catalog_function(device, catalog, " + literal(module.name) + ",\n" +
         "                               " + literal(kernel.name) + ", function);\n}\n";
}

std::string launch_function(const Kernel& kernel, const std::string& name) {
  std::vector<std::string> parameters = {"const kiln_function* function",
                                         "const kiln_launch_config* config"};
  std::string body;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter& parameter = kernel.parameters[i];
    const std::string argument = parameter_name(parameter, i);
    const bool is_address = tools::is_untyped(parameter);
    std::string declared = c_type(parameter) + argument;
    if (is_address) {
      declared += " /* the address of " + std::to_string(parameter.layout.size) + " bytes */";
    }
    parameters.push_back(std::move(declared));
    body += "  arguments[" + std::to_string(i) + "] = " + (is_address ? "" : "&") + argument + ";\n";
  }
  const std::string count = std::to_string(kernel.parameters.size());
  std::string out =
      listed("static inline kiln_error* " + name + "_launch(", parameters, ')') + " {\n";
  const std::string call = "  return kiln_function_launch_named(function, config, " +
                           literal(kernel.name) + ", ";
  if (kernel.parameters.empty()) {
    return out + call + "NULL, 0);\n}\n";
  }
  out += "  const void* arguments[" + count + "];\n" + body;
  return out + call + "arguments, " + count + ");\n}\n";
}

std::string kernel_functions(const Catalog& catalog, const FunctionNames& name_of) {
  std::string out;
  for (const Module& module : catalog.modules) {
    for (std::size_t i = 0; i < module.kernels.size(); ++i) {
      const Kernel& kernel = module.kernels[i];
      const std::string name = name_of(module, i);
      out += "\n// Kernel " + in_comment(readable_name(kernel.name)) + " of module " +
             in_comment(module.name) + ".\n";
      out += load_function(module, kernel, name) + launch_function(kernel, name);
    }
  }
  return out;
}

std::string image_table(const Catalog& catalog, const Options& options,
                        const CatalogFileText& file, const std::string& bytes) {
  if (file.offsets.empty()) return {};
  std::string out =
      "\n// Every image, for a loader of your own: module by module, by unit, then target.\n";
  out += "#define " + upper_case(prefix(options)) + "_IMAGE_COUNT " +
         std::to_string(file.offsets.size()) + "\nstatic const kiln_image_info " + prefix(options) +
         "_images[] = {\n";
  std::size_t position = 0;
  for (const Module& module : catalog.modules) {
    for (const Artifact& image : module.images) {
      out += "    {" + literal(module.name) + ", " + literal(target_name(image)) + ", " +
             literal(to_string(image.info.format)) + ", " +
             (image.compression == Compression::kZstd ? "\"zstd\"" : "\"none\"") + ", " +
             std::to_string(image.unit) + ", " + std::to_string(image.info.ptx_isa) + ",\n     " +
             bytes + " + " + std::to_string(file.offsets[position++]) + ", " +
             std::to_string(image.stored.size()) + ", " + std::to_string(decompressed_size(image)) +
             ", 0x" + short_digest(image.digest) + "u},\n";
    }
  }
  return out + "};\n";
}

std::string module_enum(const Catalog& catalog, const Options& options) {
  if (catalog.modules.empty()) return {};
  const std::string name = prefix(options);
  std::string out =
      "\n// The position of a module in the catalog.\ntypedef enum " + name + "_id {\n";
  for (const Module& module : catalog.modules) {
    out += "  " + name + "_id_" + identifier(module.name) + ",\n";
  }
  out += "} " + name + "_id;\n";
  return out + "#define " + upper_case(name) + "_MODULE_COUNT " +
         std::to_string(catalog.modules.size()) + '\n';
}

// Returns the bytes, for a source file that includes the header.
std::string definition(const CatalogFileText& file, const std::string& bytes) {
  std::string out =
      "#if defined(__GNUC__)\n#pragma GCC diagnostic push\n"
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n";
  out += "const unsigned char " + bytes + '[' + std::to_string(file.bytes.size()) + " + 1] =\n";
  append_literal(out, file.bytes, 4);
  return out + ";\n#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n";
}

std::string usage(const Catalog& catalog, const Options& options, const FunctionNames& name_of) {
  const std::string name = prefix(options);
  std::string out = "//   " + name +
                    "_catalog(&catalog)   opens it: <kiln/kiln.h> tells what can be done with it\n";
  for (const Module& module : catalog.modules) {
    if (module.kernels.empty()) continue;
    const std::string kernel = name_of(module, 0);
    out += "//   " + kernel + "_load(device, catalog, &function)\n";
    out += "//   " + kernel + "_launch(function, &config, ...)   with the kernel's own arguments\n";
    break;
  }
  return out;
}

}  // namespace

std::string write_c_header(const Catalog& catalog, const Options& options,
                           const CatalogFileText& file) {
  const std::string name = prefix(options);
  const Digest digest = sha256(file.bytes);
  const std::string guard = upper_case(name) + "_H_" + upper_case(short_digest(digest));
  const std::string bytes = bytes_symbol(options, digest);
  const FunctionNames name_of(catalog, options);
  const std::string size = std::to_string(file.bytes.size());

  std::string out = title_comment(catalog, stem(options) + ".h");
  out += "// Needs C99 and <kiln/kiln.h>; no CUDA, no HIP.\n";
  switch (options.storage) {
    case Storage::kArray:
      out += "// The images are in it: one source file says #define " + implementation(options) +
             " before it includes it.\n";
      break;
    case Storage::kAsm:
      out += "// The images are in " + stem(options) + "_c.S: compile and link that, too.\n";
      break;
    case Storage::kSplit:
      out += "// The images are in " + stem(options) + ".c: compile and link that, too.\n";
      break;
  }
  out += "//\n" + usage(catalog, options, name_of) +
         untyped_comment(catalog,
                         "// An argument of unknown type is given by its address, &n, of a variable of the size that\n"
                         "// its launch tells: the compiler checks neither. A pointer is given so, too, where NVIDIA's\n"
                         "// images alone were built: they do not tell it from a value.") +
         "//\n" + contents_comment(catalog);
  out += "// Catalog file " + digest.hex() + '\n';
  out += "#ifndef " + guard + "\n#define " + guard + "\n\n";
  out +=
      "#include <kiln/kiln.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
  out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  out += "// The catalog file, whole: aligned to 4096 bytes, with a NUL behind it.\n";
  out += "#if defined(__GNUC__)\n__attribute__((aligned(4096), visibility(\"hidden\")))\n";
  if (options.storage == Storage::kArray) {
    out += "#if defined(" + implementation(options) +
           ")\n__attribute__((weak))  // several files may hold it\n#endif\n";
  }
  out += "#endif\n";
  out += "extern const unsigned char " + bytes + '[' + size + " + 1];\n";
  out += "#define " + upper_case(name) + "_SIZE " + size + "\n\n";
  out += "static inline kiln_error* " + name + "_catalog(kiln_catalog** catalog) {\n";
  out += "  return kiln_catalog_open_memory(" + bytes + ", " + size + ", catalog);\n}\n";
  out += module_enum(catalog, options) + image_table(catalog, options, file, bytes);
  out += kernel_functions(catalog, name_of);
  out += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  if (options.storage == Storage::kArray) {
    out += "\n#if defined(" + implementation(options) + ") && !defined(" + guard + "_BYTES)\n#define " + guard +
           "_BYTES\n";
    out += definition(file, bytes) + "#endif\n";
  }
  return out;
}

std::string write_c_source(const Options& options, const CatalogFileText& file) {
  return "// " + stem(options) + ".c: the images of " + stem(options) +
         ".h, made by kiln with it. Do not edit.\n//\n" +
         "// Compile it, and link it into what includes the header.\n#define " +
         implementation(options) + "\n#include \"" + stem(options) +
         ".h\"\n\n" + definition(file, bytes_symbol(options, sha256(file.bytes)));
}

std::string write_c_assembly(const Options& options, const CatalogFileText& file) {
  const std::string name = stem(options) + "_c.S";
  return "// " + name + ": the images of " + stem(options) +
         ".h, made by kiln with it. Do not edit.\n" +
         "//\n// Compile it with its folder on the include path, cc -c -I DIR DIR/" + name +
         ",\n// and link it into what includes the header.\n" + std::string(blob_macros()) +
         "\nkiln_blob " + bytes_symbol(options, sha256(file.bytes)) + ", " + literal(stem(options) + ".kiln") + ", 4096\n";
}

}  // namespace kiln::generator
