// Checks the folder of a finished build against its catalog and lists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/image_sources.hpp"
#include "kiln/result.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/model/manifest.hpp"
#include "tools/stages/check_limits.hpp"

namespace kiln::tools {

// One run over a folder. Each check passes on the images without errors to the next.
class Verification {
 public:
  // `sizes` are the catalog's sizes, by path.
  Verification(BuildFolder& build, std::map<std::string, std::uint64_t> sizes, const std::filesystem::path& folder,
               const std::filesystem::path& shown, const Files& files);
  void read_files();
  // The files that programs include.
  void check_included();
  // The lists of sources against which the runtime checks images of KILN_IMAGE_PATH.
  void check_sources();
  // Images that are neither in the catalog nor in the list of an earlier build from the same
  // sources.
  void check_no_others();
  // Reads each image and compares it with the catalog.
  void read_images();
  // Modules of the manifest that are missing for a target that was built.
  void check_modules(const Manifest& manifest);
  // Kernels of each target that has all its images. Other targets' missing kernels are already
  // explained.
  void check_kernels(const Manifest* manifest);
  void check_limits();
  std::vector<Error> errors() { return std::move(errors_); }
  std::size_t images() const { return images_; }
  // Returns the oldest software that can load everything in the folder.
  Floors floors() const;

 private:
  std::string name(const std::string& path) const;
  static std::string sources_list(const std::string& module);
  const ImageSources& sources_of(const std::string& module);
  void add(std::vector<Error> errors);
  void note_need(const std::string& path, Need need);
  std::optional<std::string> read(const std::string& path, const Digest& digest,
                                  const char* teller = "the catalog");
  bool check_image(Artifact& image);
  std::string nvcc() const;

  BuildFolder& build_;
  const std::map<std::string, std::uint64_t> sizes_;
  const std::filesystem::path& folder_;
  const std::filesystem::path& shown_;
  const Files& files_;
  std::map<Digest, std::string> owners_;
  std::set<std::string> listed_;                 // images and bundles of the catalog, by path
  std::map<std::string, ImageSources> sources_;  // by module, as in the module's list
  std::set<std::pair<std::string, TargetId>> incomplete_;  // modules, by target, with a wrong image
  std::vector<std::pair<std::string, Need>> needs_;
  std::vector<Error> errors_;
  std::size_t images_ = 0;
};

}  // namespace kiln::tools
