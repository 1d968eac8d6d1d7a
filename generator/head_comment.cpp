#include "generator/head_comment.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "base/version_text.hpp"
#include "formats/image_format.hpp"
#include "generator/identifiers.hpp"
#include "generator/names.hpp"
#include "generator/source_names.hpp"
#include "generator/text_layout.hpp"

namespace kiln::generator {
namespace {

std::string grouped(std::size_t number) {  // 1234567 -> "1,234,567"
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

// Returns "// label word word", wrapped, with further lines indented to the first word.
std::string wrapped(const std::string& label, const std::vector<std::string>& list) {
  std::string text, line = "// " + label;
  for (const std::string& word : list) {
    if (line.size() + 1 + word.size() > kColumns) {
      text += line + '\n';
      line = "//" + std::string(label.size() + 1, ' ');
    }
    line += ' ' + word;
  }
  return text + line + '\n';
}

std::string path_of(const SourceName& source) {  // "ns::scale", "saxpy<float>"
  const std::string name = (source.space.empty() ? "" : source.space + "::") + source.name;
  if (!source.is_template()) return name;
  return name + '<' + join(source.instances.front().arguments, ", ") + '>';
}

// Returns the constant of a kernel whose name the image, or otherwise the source, spells the same
// way. If there is none, returns the constant of any kernel; empty if there are no kernels.
std::string example_constant(const Catalog& catalog) {
  std::string other;
  for (const Module& module : catalog.modules) {
    for (const Kernel& kernel : module.kernels) {
      if (identifier(kernel.name) == kernel.name) return kernel.name;
      if (other.empty()) other = identifier(kernel.name);
    }
  }
  for (const Module& module : catalog.modules) {
    for (const SourceName& source : source_names_of(module)) {
      if (source.space.empty()) return path_of(source);
    }
  }
  const std::vector<NameOfModule> in_namespaces = names_in_namespaces(catalog);
  return in_namespaces.empty() ? other : path_of(in_namespaces.front().name);
}

// Explains the use of the header with names from it.
std::string usage(const Catalog& catalog, const Options& options) {
  const std::string space = options.name_space + "::";
  std::vector<std::pair<std::string, std::string>> rows;
  if (!catalog.modules.empty()) {
    const std::string& module = catalog.modules.front().name;
    rows.push_back({"find(\"" + module + "\")", "the module of that name, or nullptr"});
    rows.push_back({"modules::" + identifier(module), "a module: its kernels and its images"});
  }
  if (std::string kernel = example_constant(catalog); !kernel.empty()) {
    rows.push_back({std::move(kernel), "a kernel, with its parameters' types in its own"});
  }
  rows.push_back({"catalog()", "all of it"});

  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const auto& [name, meaning] : rows) {
    text += "//   " + space + name + std::string(width - name.size() + 2, ' ') + meaning + '\n';
  }
  return text;
}

constexpr std::size_t kColumnCount = 8;
using Row = std::array<std::string, kColumnCount>;

// Numbers are aligned to the right: kernels, bytes, stored.
constexpr bool is_number(std::size_t column) { return column >= 4 && column <= 6; }

std::string table(const std::vector<Row>& rows, bool show_units) {
  std::array<std::size_t, kColumnCount> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumnCount; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "//  ";
    for (std::size_t i = 0; i < kColumnCount; ++i) {
      if (i == 1 && !show_units) continue;
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += is_number(i) ? ' ' + gap + row[i] + ' ' : ' ' + row[i] + gap + ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string image_table(const Catalog& catalog) {
  std::vector<Row> rows = {
      {"module", "unit", "target", "format", "kernels", "bytes", "stored", "sha256"}};
  std::size_t size = 0, stored = 0;
  bool show_units = false;
  for (const Module& module : catalog.modules) {
    show_units |= module.sources.size() > 1;
    for (const Artifact& image : module.images) {
      const auto kernels = std::ranges::count(module.kernels, image.unit, &Kernel::unit);
      rows.push_back({module.name, std::to_string(image.unit), target_name(image),
                      std::string(to_string(image.info.format)), std::to_string(kernels),
                      grouped(decompressed_size(image)), grouped(image.stored.size()),
                      short_digest(image.digest)});
      size += decompressed_size(image);
      stored += image.stored.size();
    }
  }
  rows.push_back({"total", "", "", "", "", grouped(size), grouped(stored), ""});
  return table(rows, show_units);
}

}  // namespace

std::string untyped_comment(const Catalog& catalog, std::string_view text) {
  bool has_any = false, needs_any = false;
  for (const Module& module : catalog.modules) {
    has_any |= std::ranges::any_of(module.kernels, tools::has_untyped);
    needs_any |= std::ranges::any_of(module.kernels, tools::needs_abi);
  }
  if (!has_any) return {};
  std::string comment = "//\n" + std::string(text) + '\n';
  if (needs_any) comment += "// Drop extern \"C\", or name an abi file.\n";
  return comment;
}

std::string title_comment(const Catalog& catalog, const std::string& file) {
  std::size_t kernels = 0;
  for (const Module& module : catalog.modules) kernels += module.kernels.size();

  std::string out = "// " + file + ": " + counted(kernels, "GPU kernel") + " in " +
                    counted(catalog.modules.size(), "module") + " for " +
                    counted(catalog.targets.size(), "target") + ".\n//\n";
  out += "// Made by kiln " + version_text(KILN_VERSION) + " from the manifest of '" + catalog.name +
         "'. Do not edit: `kiln build` writes it again.\n";
  return out;
}

std::string contents_comment(const Catalog& catalog) {
  std::string out = wrapped("Targets:", catalog.targets);
  if (!catalog.missing_targets.empty()) {
    out +=
        wrapped("Left out (--allow-missing; their tools were not there):", catalog.missing_targets);
  }
  return out + "//\n" + image_table(catalog) + "//\n";
}

std::string write_head_comment(const Catalog& catalog, const Options& options, const Digest& digest,
                               std::string_view needs) {
  std::string out = title_comment(catalog, options.header);
  out.append("// Needs ").append(needs).append("; no CUDA, no HIP.\n");
  switch (options.storage) {
    case Storage::kArray: out += "// The images are in it, as string literals.\n"; break;
    case Storage::kAsm: out += "// The images are in " + stem(options) + ".S: link that, too.\n"; break;
    case Storage::kSplit:
      out += "// The images are in " + stem(options) + ".cpp: compile and link that, too.\n";
      break;
  }
  out += "//\n";
  out += usage(catalog, options) +
         untyped_comment(catalog,
                         "// Of an argument of unknown type only the size is checked: an int for a float compiles.") +
         "//\n";
  out += contents_comment(catalog);
  out += "// Catalog " + digest.hex() + '\n';
  return out;
}

}  // namespace kiln::generator
