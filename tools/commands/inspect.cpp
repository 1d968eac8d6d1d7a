#include "tools/commands/inspect.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/inspect.hpp"

namespace kiln::tools {
namespace {

// Rows of cells, each column as wide as its widest cell. Numbers are set right, text left.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line = "  ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string padding(widths[i] - row[i].size(), ' ');
        const bool is_text = i == 0 || i + 1 == row.size();
        line += is_text ? row[i] + padding : padding + row[i];
        line += "  ";
      }
      out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string cell(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string spills(const KernelInfo& kernel) {
  if (!kernel.spill_stores && !kernel.scalar_spills) return "-";
  std::string text = cell(kernel.spill_stores);
  if (kernel.spill_loads) text += "/" + cell(kernel.spill_loads);
  if (kernel.scalar_spills) text += "/" + cell(kernel.scalar_spills);
  return text;
}

// "8 8 8* 8* 2": sizes in order, a star for a pointer.
std::string parameters(const KernelInfo& kernel) {
  std::string text;
  for (const Parameter& parameter : kernel.parameters) {
    if (!text.empty()) text += ' ';
    text += std::to_string(parameter.size);
    if (parameter.kind == ParameterKind::kPointer) text += '*';
  }
  return text;
}

void print_image(const ImageSummary& image, std::ostream& out) {
  const std::string name = !image.path.empty() ? image.path : image.entry;
  out << (name.empty() ? "" : name + ": ") << to_string(image.info.target) << ", "
      << image.info.format_version << ", " << image.size << " bytes, "
      << image.info.kernels.size() << (image.info.kernels.size() == 1 ? " kernel" : " kernels")
      << "\n";
  const bool is_amd = image.info.format == ImageFormat::kHsaco;
  Table table({"kernel", is_amd ? "vgprs" : "registers", is_amd ? "sgprs" : "constants",
               is_amd ? "scratch" : "stack", is_amd ? "lds" : "shared", "wave", "threads", "spills",
               "parameters"});
  for (const KernelInfo& kernel : image.info.kernels) {
    table.add({kernel.name, cell(kernel.registers),
               cell(is_amd ? kernel.scalar_registers : kernel.constant_bytes),
               cell(kernel.stack_bytes), cell(kernel.shared_bytes), cell(kernel.wave_width),
               cell(kernel.max_threads), spills(kernel), parameters(kernel)});
  }
  table.print(out);
}

Result<Json> inspect_folder(const std::filesystem::path& folder, const Files& files) {
  const std::filesystem::path catalog = folder / "kiln.json";
  Result<std::string> text = files.read(catalog);
  if (!text) {
    if (text.error().code != ErrorCode::kInvalidInput) return std::move(text).error();
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = quote(folder.string()) + " is not the folder of a finished build"}
        .note("there is no " + quote(catalog.string()) + " in it")
        .hint("run 'kiln build --out " + shell_quote(folder.string()) + "' first");
  }
  constexpr JsonLimits kLimits{.bytes = 256U << 20, .depth = 32};
  return read_json(*text, catalog.string(), kLimits);
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options, World& world) {
  const std::filesystem::path path = world.environment.current_directory / options.path;
  Json document;
  if (world.files.list(path)) {
    KILN_TRY_ASSIGN(document, inspect_folder(options.path, world.files));
  } else {
    KILN_TRY_ASSIGN(const std::string bytes, world.files.read(options.path));
    Result<InspectedFile> file = inspect_file(std::as_bytes(std::span(bytes)));
    if (!file) {
      Error error = std::move(file).error();
      if (error.where.file.empty()) error.where.file = options.path.string();
      return error;
    }
    document = file_json(*file);
  }
  if (options.json) {
    world.out << write_json(document);
    return 0;
  }
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> images,
                  read_images(document, options.path.string()));
  for (const ImageSummary& image : images) {
    if (&image != images.data()) world.out << "\n";
    print_image(image, world.out);
  }
  return 0;
}

}  // namespace kiln::tools
