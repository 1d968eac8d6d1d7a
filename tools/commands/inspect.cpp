#include "tools/commands/inspect.hpp"

#include <algorithm>

#include "base/demangle.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "formats/elf.hpp"
#include "tools/commands/opened_folder.hpp"
#include "tools/commands/table.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/inspect.hpp"
#include "tools/stages/recognize.hpp"
#include "tools/system/sandboxed_files.hpp"

namespace kiln::tools {
namespace {

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

// Returns the sizes in order, with a star for a pointer: "8 8 8* 8* 2".
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
  out << (name.empty() ? "" : printable_line(name) + ": ") << to_string(image.info.target) << ", "
      << image.info.format_version << ", " << image.size << " bytes, " << image.info.kernels.size()
      << (image.info.kernels.size() == 1 ? " kernel" : " kernels") << "\n";
  const bool is_amd = image.info.format == ImageFormat::kHsaco;
  Table table({"kernel", is_amd ? "vgprs" : "registers", is_amd ? "sgprs" : "constants",
               is_amd ? "scratch" : "stack", is_amd ? "lds" : "shared", "wave", "threads", "spills",
               "parameters"});
  for (const KernelInfo& kernel : image.info.kernels) {
    table.add({printable_line(with_demangled(kernel.name)), cell(kernel.registers),
               cell(is_amd ? kernel.scalar_registers : kernel.constant_bytes),
               cell(kernel.stack_bytes), cell(kernel.shared_bytes), cell(kernel.wave_width),
               cell(kernel.max_threads), spills(kernel), parameters(kernel)});
  }
  table.print(out);
}

// Explains the column headings, for the formats that were shown.
void print_legend(const std::vector<ImageSummary>& images, std::ostream& out) {
  bool has_amd = false, has_others = false;
  for (const ImageSummary& image : images) {
    (image.info.format == ImageFormat::kHsaco ? has_amd : has_others) |=
        !image.info.kernels.empty();
  }
  if (!has_amd && !has_others) return;
  out << "\ncolumns, with - for what an image does not tell:\n";
  if (has_amd) {
    out << "  vgprs, sgprs     registers of a lane, and of a wave\n"
           "  scratch, lds     bytes of a thread, and of a block before any that a launch adds\n";
  }
  if (has_others) {
    out << "  registers        of a thread\n"
           "  constants        bytes of the kernel's constants, its parameters among them\n"
           "  stack, shared    bytes of a thread, and of a block before any that a launch adds\n";
  }
  out << "  wave, threads    lanes of a wave or warp, and the most threads of a block\n"
         "  spills           "
      << (has_amd ? "AMD: vgprs/sgprs that went to memory" : "")
      << (has_amd && has_others ? "; " : "") << (has_others ? "NVIDIA: bytes stored/loaded" : "")
      << "\n"
         "  parameters       bytes of each, in order; * marks a pointer\n";
}

constexpr const char* kExpected = "an image or the folder of a build";

// `file` names the text in messages.
Result<Json> read_catalog(std::string_view text, const std::filesystem::path& file) {
  constexpr JsonLimits kLimits{.bytes = 256U << 20, .depth = 32};
  Result<Json> read = read_json(text, file.generic_string(), kLimits);
  if (!read) {
    Error error = std::move(read).error();
    if (file.filename() == "kiln.json") error.hint(kMakeItAgain);
    return error;
  }
  Json document = std::move(read).value();
  if (document.find("images") == nullptr && document.find("modules") != nullptr) {
    return misplaced(recognize(text, file), kExpected, file);
  }
  KILN_TRY(read_images(document, file.generic_string()));
  return document;
}

Result<Json> inspect_folder(const std::filesystem::path& folder, const World& world) {
  const std::filesystem::path catalog = folder / "kiln.json";
  Result<std::string> text = world.files.read(world.environment.current_directory / catalog);
  if (!text) {
    if (text.error().code != ErrorCode::kInvalidInput) return std::move(text).error();
    return no_build((world.environment.current_directory / folder).lexically_normal(), folder, world.files);
  }
  return read_catalog(*text, catalog);
}

// The error lists the images in the folder that differ from the catalog.
Result<void> check_images(const Json& document, const std::filesystem::path& folder,
                          const World& world) {
  const std::filesystem::path root = world.environment.current_directory / folder;
  Error error{.code = ErrorCode::kBuildFailed, .message = {}};
  const Json* images = document.find("images");
  const Json::Array* items = images != nullptr ? images->array() : nullptr;
  if (items == nullptr) return {};
  for (const Json& image : *items) {
    const Json* path = image.find("path");
    const Json* digest = image.find("digest");
    if (!path || !path->text() || !digest || !digest->text()) continue;
    const std::string shown = quote(*path->text());
    if (!is_inner_path(*path->text()) || world.files.leads_outside(root, root / *path->text())) {
      error.note(shown + " lies outside the folder");
      continue;
    }
    const Result<std::string> bytes = world.files.read(root / *path->text());
    if (!bytes) {
      error.note(shown + " is missing");
    } else if (sha256(*bytes).hex() != *digest->text()) {
      error.note(shown + " was changed");
    }
  }
  if (error.notes.empty()) return {};
  error.message = quote((folder / "kiln.json").lexically_normal().string()) +
                  " does not match the images beside it: " + counted(error.notes.size(), "image") + " of " +
                  std::to_string(items->size()) + (error.notes.size() == 1 ? " differs" : " differ");
  return error.hint("build or merge it again: what was changed is then made again");
}

// Returns the hint for an ELF file of the host that is not a host image.
std::string hint_for(std::string_view bytes) {
  const Result<Elf> elf = read_elf(std::as_bytes(std::span(bytes)));
  for (const char* section : {".nv_fatbin", ".hip_fatbin"}) {
    if (!elf || elf->find_section(section) == nullptr) continue;
    return std::string("'objcopy -O binary --only-section=") + section +
           " FILE OUT' takes out its GPU images, which inspect reads";
  }
  return "'kiln build' makes host images for the targets 'host' and 'host:wave64'";
}

// Reads an image, a container, or the catalog of a build, which stands for the build.
Result<Json> inspect_one_file(const std::filesystem::path& path, const World& world) {
  const std::filesystem::path absolute = world.environment.current_directory / path;
  Result<std::string> read = world.files.read(absolute);
  if (!read && read.error().code == ErrorCode::kInvalidInput && !world.files.status(absolute)) {
    return Error{.code = ErrorCode::kInvalidInput,
                 .message = "there is no file or folder " + quote(path.string())}
        .hint("name an image, or a folder that 'kiln build' has filled");
  }
  KILN_TRY_ASSIGN(const std::string bytes, std::move(read));
  if (trim(bytes).starts_with("{")) return read_catalog(bytes, path);
  Result<InspectedFile> file = inspect_file(std::as_bytes(std::span(bytes)));
  if (file) return file_json(*file);
  Error error = std::move(file).error();
  const FileKind kind = detect_kind(std::as_bytes(std::span(bytes)));
  if (kind == FileKind::kUnknown) {
    const Recognized recognized = recognize(bytes, path);
    if (!recognized.what.empty()) return misplaced(recognized, kExpected, path);
    error.hint("inspect reads cubins, PTX, HSACO, bundles, fatbins, host images and build folders");
  } else if (kind == FileKind::kHost && !is_damaged(error)) {
    error.hint(hint_for(bytes));
  }
  if (is_damaged(error)) error.hint(kMakeItAgain);
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options, World& world) {
  const bool is_folder = bool(world.files.list(world.environment.current_directory / options.path));
  const BuildPath build = build_path(options.path, world.environment.current_directory);
  KILN_TRY_ASSIGN(const FolderLock lock, hold_built_folder(build.shown, world));
  KILN_TRY_ASSIGN(const Json document, is_folder ? inspect_folder(options.path, world)
                                                 : inspect_one_file(options.path, world));
  // Shows the result in any case, and then reports what is wrong with it.
  Result<void> checked;
  if (is_folder || options.path.filename() == "kiln.json") {
    checked = check_images(document, build.shown, world);
  }
  if (options.json) {
    world.out << write_json(document);
    KILN_TRY(std::move(checked));
    return 0;
  }
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> images,
                  read_images(document, options.path.string()));
  for (const ImageSummary& image : images) {
    if (&image != images.data()) world.out << "\n";
    print_image(image, world.out);
  }
  print_legend(images, world.out);
  KILN_TRY(std::move(checked));
  return 0;
}

}  // namespace kiln::tools
