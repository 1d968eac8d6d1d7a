// An open catalog file: its mapping, what was read of it, and which of its images were checked.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "formats/catalog_file.hpp"
#include "kiln/result.hpp"
#include "runtime/src/file.hpp"

namespace kiln::runtime {

// Thread-safety: everything.
class CatalogFileState {
 public:
  CatalogFileState(std::string path, MappedFile mapping, CatalogFileContents contents)
      : path_(std::move(path)), mapping_(std::move(mapping)), contents_(std::move(contents)) {}

  const CatalogFileContents& contents() const { return contents_; }

  // Checks the image's bytes against the file's digest: a SHA-256 each time. An image that is not of this file
  // passes. Errors: kInvalidInput.
  Result<void> check(const ImageEntry& image) const;

 private:
  std::string path_;  // empty: bytes of the program
  MappedFile mapping_;
  CatalogFileContents contents_;
};

}  // namespace kiln::runtime
