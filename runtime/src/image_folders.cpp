#include "runtime/src/image_folders.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "formats/image.hpp"
#include "formats/image_format.hpp"
#include "formats/image_head.hpp"
#include "formats/image_sources.hpp"
#include "runtime/src/file.hpp"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

// Returns the files below a module's folder, at most one subfolder deep.
std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
    if (entry.depth() > 0) entry.disable_recursion_pending();
  }
  std::sort(files.begin(), files.end());
  return files;
}

// True if a name appears in the image as a whole word: among an ELF file's symbols, or in text.
bool has_word(std::string_view image, std::string_view word) {
  const auto is_part = [&](std::size_t at) {
    const char c = at < image.size() ? image[at] : '\0';
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  for (std::size_t at = 0; (at = image.find(word, at)) != std::string_view::npos; ++at) {
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

// Returns the first kernel of the unit that the image lacks, or an empty string.
std::string_view missing_kernel(std::string_view image, const ModuleEntry& module,
                                std::uint16_t unit) {
  for (const KernelEntry& kernel : module.kernels) {
    if (kernel.unit == unit && !has_word(image, kernel.name)) return kernel.name;
  }
  return {};
}

// Reads what the folder says about the sources of the module's images.
ImageSources read_sources(const std::string& folder, const ModuleEntry& module) {
  const Result<std::string> text =
      read_file((fs::path(folder) / image_sources_path(module.name)).string());
  return text ? read_image_sources(*text) : ImageSources();
}

// Reads a file as an image of the module's unit. Returns nothing if it is an image of another unit.
Result<std::optional<FolderImage>> read_folder_image(const std::string& path, const ModuleEntry& module,
                                                     std::uint16_t unit, const ImageSources& sources) {
  KILN_TRY_ASSIGN(const std::string bytes, read_file(path));
  KILN_TRY_ASSIGN(const ImageHead head, read_image_head(as_bytes(bytes)));
  if (!head.target) {
    return malformed("is no image for one device: " +
                     std::string(to_string(detect_kind(as_bytes(bytes)))));
  }
  if (const auto missing = missing_kernel(bytes, module, unit); !missing.empty()) {
    if (module.unit_count > 1) return std::nullopt;
    return malformed("has no kernel '" + std::string(missing) + "'");
  }
  const auto origin = sources.find(sha256(bytes));
  const bool is_recorded = module.source_digest != 0 && origin != sources.end();
  if (is_recorded && origin->second.prefix64() != module.source_digest) {
    return malformed("was built from other sources than this program's");
  }
  FolderImage image;
  image.path = path;
  image.has_matching_sources = is_recorded;
  image.target = to_string(*head.target);
  image.format = format_of(head.target->kind);
  image.ptx_isa = head.ptx_isa;
  image.image = copy_image(as_bytes(bytes), image.format);
  return std::optional(std::move(image));
}

}  // namespace

ImageEntry FolderImage::entry(std::uint16_t unit) const {
  ImageEntry entry;
  entry.target = target;
  entry.format = format;
  entry.unit = unit;
  entry.ptx_isa = ptx_isa;
  entry.data = reinterpret_cast<const unsigned char*>(image.bytes.data());
  entry.stored_size = entry.size = image.bytes.size();
  return entry;
}

FolderImages find_folder_images(std::span<const std::string> folders, const ModuleEntry& module,
                                std::uint16_t unit) {
  FolderImages found;
  for (const std::string& folder : folders) {
    const fs::path module_folder = fs::path(folder) / module.name;
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      found.notes.push_back("KILN_IMAGE_PATH: there is no folder '" + folder + "'");
    } else if (!fs::is_directory(module_folder, error)) {
      found.notes.push_back("KILN_IMAGE_PATH: '" + folder + "' has no folder '" + std::string(module.name) + "'");
    }
    const ImageSources sources = read_sources(folder, module);
    for (const std::string& path : files_of(module_folder)) {
      Result<std::optional<FolderImage>> image = read_folder_image(path, module, unit, sources);
      if (!image) {
        found.refusals.push_back({path, std::move(image).error().message});
      } else if (*image) {
        found.images.push_back(std::move(**image));
      }
    }
  }
  return found;
}

}  // namespace kiln::runtime
