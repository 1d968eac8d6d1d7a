// CatalogFile: opens a catalog file and answers questions about its contents.
#include "kiln/catalog_file.hpp"

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "runtime/src/catalog_file_state.hpp"
#include "runtime/src/file.hpp"
#include "runtime/src/unpack_image.hpp"

namespace kiln {

using runtime::CatalogFileState;
using runtime::MappedFile;

namespace {

Error of_file(Error error, const std::string& path) {
  error.message = "cannot open '" + path + "': " + std::move(error.message);
  return error;
}

// The driver may use a code object in place, in whole pages.
constexpr std::uintptr_t kPage = 4096;

}  // namespace

Result<CatalogFile> Catalog::open(const std::string& path) { return CatalogFile::open(path); }

Result<CatalogFile> CatalogFile::open(const std::string& path) {
  Result<MappedFile> mapped = runtime::map_file(path);
  if (!mapped) {
    Error error = std::move(mapped).error();
    if (::access(path.c_str(), F_OK) != 0) error.hint("--emit catalog of 'kiln build', beside the others that it has, writes one");
    return error;
  }
  MappedFile mapping = std::move(*mapped);
  Result<CatalogFileContents> contents = read_catalog_file(mapping.bytes());
  if (!contents) return of_file(std::move(contents).error(), path);
  return CatalogFile(
      std::make_shared<CatalogFileState>(path, std::move(mapping), std::move(*contents)));
}

Result<CatalogFile> CatalogFile::open(const void* bytes, std::size_t size) {
  if (bytes == nullptr && size != 0) {
    return Error{ErrorCode::kInvalidInput,
                 "the " + std::to_string(size) + " bytes of a catalog file are at a null address",
                 {},
                 {}};
  }
  if (reinterpret_cast<std::uintptr_t>(bytes) % kPage != 0) {
    return Error{ErrorCode::kInvalidInput,
                 "the bytes of a catalog file lie at an address that is no multiple of 4096",
                 {},
                 {}}
        .hint("align the array: alignas(4096), or let 'kiln build --emit c' make it");
  }
  KILN_TRY_ASSIGN(CatalogFileContents contents,
                  read_catalog_file({static_cast<const std::byte*>(bytes), size}));
  return CatalogFile(
      std::make_shared<CatalogFileState>(std::string(), MappedFile(), std::move(contents)));
}

const Catalog& CatalogFile::catalog() const { return state_->contents().catalog; }

ArrayView<ParameterText> CatalogFile::parameters(const ModuleEntry& module,
                                                 std::size_t kernel) const {
  return state_->contents().texts(module.id, kernel);
}

Result<std::vector<std::byte>> CatalogFile::unpack(const ImageEntry& image) const {
  KILN_TRY(state_->check(image));
  KILN_TRY_ASSIGN(const runtime::ImageBytes unpacked, runtime::unpack_image(image));
  return std::vector<std::byte>(unpacked.bytes.begin(), unpacked.bytes.end());
}

namespace runtime {

Result<void> CatalogFileState::check(const ImageEntry& image) const {
  for (const CatalogFileContents::ModuleStorage& module : contents_.storage) {
    for (std::size_t i = 0; i < module.images.size(); ++i) {
      if (module.images[i].data != image.data) continue;
      const Bytes stored(reinterpret_cast<const std::byte*>(image.data), image.stored_size);
      if (sha256(stored) == module.stored_digests[i]) return {};
      return Error{ErrorCode::kInvalidInput,
                   "the image '" + std::string(image.target) + "' of " +
                       (path_.empty() ? "the catalog in memory" : "'" + path_ + "'") +
                       " is not what was written: its digest differs",
                   {},
                   {}}
          .hint("copy the file again, or build it again");
    }
  }
  return {};
}

}  // namespace runtime
}  // namespace kiln
