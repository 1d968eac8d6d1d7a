#include "generator/rust_module.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/demangle.hpp"
#include "formats/image_format.hpp"
#include "generator/head_comment.hpp"
#include "generator/identifiers.hpp"
#include "generator/names.hpp"
#include "generator/source_names.hpp"
#include "generator/text_layout.hpp"

namespace kiln::generator {
namespace {

// Keywords of Rust that C++ does not have, and names that the module itself uses, including Rust
// types.
constexpr std::array<std::string_view, 58> kReservedNames = {
    "Aligned", "BYTES",    "Format",  "Image",   "Self",  "ALL_IDS", "abstract", "as",    "async",
    "await",   "become",   "box",     "catalog", "crate", "dyn",     "final",    "fn",    "gen",
    "impl",    "in",       "kiln",    "let",     "loop",  "macro",   "match",    "mod",   "move",
    "mut",     "override", "priv",    "proc",    "pub",   "ref",     "self",     "super", "trait",
    "type",    "typeof",   "unsized", "use",     "where", "yield",   "std",      "Box",   "Option",
    "Vec",     "f32",      "f64",     "i8",      "i16",   "i32",     "i64",      "str",   "u8",
    "u16",     "u32",      "u64",     "usize"};

std::string rust_name(const std::string& name) {
  const bool is_taken = std::ranges::find(kReservedNames, name) != kReservedNames.end();
  return is_taken ? spelt_out(name) : identifier(name);
}

std::string rust_literal(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// "conv_transpose" -> "ConvTranspose"
std::string camel_case(std::string_view name) {
  std::string out;
  bool is_word_start = true;
  for (const char c : name) {
    if (c == '_') {
      is_word_start = true;
      continue;
    }
    out += is_word_start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    is_word_start = false;
  }
  return out;
}

// Returns names for the modules' constants and variants, by `spell`. A name that differs from
// another only in case or underscores is spelt out.
std::vector<std::string> module_names(const Catalog& catalog,
                                      std::string (*spell)(std::string_view)) {
  std::vector<std::string> names;
  for (const Module& module : catalog.modules) names.push_back(spell(module.name));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_unique = std::ranges::count(names, names[i]) == 1;
    if (!is_unique || rust_name(names[i]) != names[i]) {
      names[i] = spelt_out(catalog.modules[i].name, Spelling::kEveryByte);
    }
  }
  return names;
}

std::string rust_element(ElementType element) {
  switch (element) {
    case ElementType::kUnknown:
    case ElementType::kVoid: return "std::ffi::c_void";
    case ElementType::kF8: return "kiln::F8";
    case ElementType::kF16: return "kiln::F16";
    case ElementType::kBf16: return "kiln::Bf16";
    default: return std::string(info(element).name);
  }
}

std::string rust_type(const KernelParameter& parameter) {
  const ParameterType& type = parameter.type;
  const bool is_bytes = !type.is_known() && parameter.layout.kind != ParameterKind::kPointer;
  if (is_bytes) return "[u8; " + std::to_string(parameter.layout.size) + "]";
  if (!type.is_known()) return "*const std::ffi::c_void";
  if (!type.is_pointer) return rust_element(type.element);
  const bool is_constant = type.is_const || type.element == ElementType::kUnknown;
  return (is_constant ? "*const " : "*mut ") + rust_element(type.element);
}

std::string parameter_name(const KernelParameter& parameter, std::size_t position) {
  static constexpr std::array<std::string_view, 2> kOwn = {"launch", "self"};
  const bool is_ours = std::ranges::find(kOwn, parameter.name) != kOwn.end();
  if (parameter.name.empty() || is_ours || rust_name(parameter.name) != parameter.name) {
    return "argument_" + std::to_string(position + 1);  // messages count from 1, too
  }
  return parameter.name;
}

std::string kernel_type(const Module& module, const Kernel& kernel, const std::string& plain_name) {
  const std::string name = rust_name(plain_name);
  std::vector<std::string> parameters = {"&self", "launch: &kiln::Launch"}, addresses;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::string argument = parameter_name(kernel.parameters[i], i);
    parameters.push_back(argument + ": " + rust_type(kernel.parameters[i]));
    addresses.push_back("std::ptr::addr_of!(" + argument + ") as _");
  }
  std::string out;
  if (name != kernel.name) out += "\n    // " + in_comment(readable_name(kernel.name));
  // The field is named, because a tuple struct's name is also a value, and no parameter could then
  // have it.
  out += "\n    pub struct " + name + " { function: kiln::Function }\n    impl " + name + " {\n";
  out += "        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {\n";
  out += "            Ok(Self { function: super::catalog()?.function(device, " +
         rust_literal(module.name) + ", " + rust_literal(kernel.name) + ")? })\n        }\n";
  out +=
      "        /// # Safety\n        /// Pointers are to device memory that the kernel may use.\n";
  out += listed("        pub unsafe fn launch(", parameters, ')') + " -> kiln::Result<()> {\n";
  out += listed("            self.function.launch(launch, &[", addresses, ']') +
         ")\n        }\n    }\n";
  return out;
}

std::string module_text(const Module& module) {
  std::string out =
      "\n#[allow(dead_code, non_camel_case_types, non_snake_case, unsafe_op_in_unsafe_fn, clippy::all)]\npub mod " +
      rust_name(module.name) + " {\n";
  if (!module.kernels.empty()) out += "    use super::kiln;\n";
  const std::vector<std::string> names = plain_names_of(module);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += kernel_type(module, module.kernels[i], names[i]);
  }
  return out + "}\n";
}

// In a function, because a constant may not refer to mutable data: each image caches its bytes.
std::string images(const Module& module, std::size_t index) {
  std::string out = "\nfn images_" + std::to_string(index) + "() -> &'static [Image] {\n" +
                    "    static IMAGES: [Image; " + std::to_string(module.images.size()) +
                    "] = [\n";
  for (std::size_t i = 0; i < module.images.size(); ++i) {
    const Artifact& image = module.images[i];
    out += "        Image { target: " + rust_literal(target_name(image)) +
           ", format: Format::" + std::string(enumerator(image.info.format)).substr(1) +
           ", unit: " + std::to_string(image.unit) + ", module: " + std::to_string(index) +
           ", position: " + std::to_string(i) +
           ", size: " + std::to_string(decompressed_size(image)) +
           ", unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },\n";
  }
  return out + "    ];\n    &IMAGES\n}\n";
}

}  // namespace

std::string write_rust_module(const Catalog& catalog, const Options& options) {
  const std::vector<std::string> ids = module_names(catalog, camel_case),
                                 constants = module_names(catalog, upper_case);
  const std::string count = std::to_string(catalog.modules.size());

  std::string out = title_comment(catalog, stem(options) + ".rs");
  out += "// Needs Rust 1.56, " + stem(options) +
         ".kiln beside it, and libkiln_runtime; no crate, no CUDA, no HIP.\n";
  out += "//\n" + contents_comment(catalog);
  out +=
      "\n// The position of a module in ALL_IDS.\n#[repr(u32)]\n#[derive(Clone, Copy, Debug, "
      "PartialEq, Eq, Hash)]\n";
  out += "#[allow(dead_code, non_camel_case_types)]\npub enum Id {\n";
  for (const std::string& id : ids) out += "    " + id + ",\n";
  out += "}\n#[allow(dead_code)]\npub const ALL_IDS: [Id; " + count + "] = [";
  for (const std::string& id : ids) out += (&id == &ids.front() ? "Id::" : ", Id::") + id;
  out += "];\n";
  for (std::size_t i = 0; i < catalog.modules.size(); ++i) {
    const Module& module = catalog.modules[i];
    out += images(module, i);
    out += "#[allow(dead_code, non_upper_case_globals)]\npub const " + constants[i] +
           ": Module =\n    Module { index: " + std::to_string(i) +
           ", name: " + rust_literal(module.name) + ", images: images_" + std::to_string(i) +
           " };\n";
  }
  for (const Module& module : catalog.modules) out += module_text(module);
  out += "\nstatic BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!(" +
         rust_literal(stem(options) + ".kiln") + "));\n\n";
  // Every item is unused in some programs.
  std::string_view rest = rust_runtime_text();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool is_item =
        line.starts_with("pub ") || line.starts_with("impl ") || line.starts_with("struct ") || line.starts_with("fn ");
    if (is_item) out += "#[allow(dead_code, clippy::all)]\n";
    out.append(line).append("\n");
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return out;
}

}  // namespace kiln::generator
