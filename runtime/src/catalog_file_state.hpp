// An open catalog file: its mapping and its contents.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "formats/catalog_file.hpp"
#include "kiln/result.hpp"
#include "runtime/src/file.hpp"

namespace kiln::runtime {

// Thread-safe.
class CatalogFileState {
 public:
  CatalogFileState(std::string path, MappedFile mapping, CatalogFileContents contents)
      : path_(std::move(path)), mapping_(std::move(mapping)), contents_(std::move(contents)) {}

  const CatalogFileContents& contents() const { return contents_; }

  // Checks the image's bytes against the digest in the file, with a SHA-256 on each call. Accepts
  // images that are not part of this file. Errors: kInvalidInput.
  Result<void> check(const ImageEntry& image) const;

 private:
  std::string path_;  // empty if the catalog is in the program's memory
  MappedFile mapping_;
  CatalogFileContents contents_;
};

}  // namespace kiln::runtime
