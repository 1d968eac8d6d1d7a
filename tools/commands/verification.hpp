// What is looked at in the folder of a finished build: what it holds is what its catalog and lists say.
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

// One run over a folder: every step leaves the images that passed it for the next.
class Verification {
 public:
  // `sizes` are those that the catalog tells, by path.
  Verification(BuildFolder& build, std::map<std::string, std::uint64_t> sizes, const std::filesystem::path& folder,
               const std::filesystem::path& shown, const Files& files);
  void read_files();
  // What programs include.
  void check_included();
  // What the runtime holds images of KILN_IMAGE_PATH to: the sources of each.
  void check_sources();
  // Images that neither the catalog nor, of an earlier build of the same sources, its list names.
  void check_no_others();
  // What each image says of itself, and what the catalog says of it.
  void read_images();
  // That no module is missing which the manifest has for a target that was built.
  void check_modules(const Manifest& manifest);
  // Of each target that has all its images: the others' kernels would be missing, which is said already.
  void check_kernels(const Manifest* manifest);
  void check_limits();
  std::vector<Error> errors() { return std::move(errors_); }
  std::size_t images() const { return images_; }
  // The newest software that anything here asks for.
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
  std::map<std::string, ImageSources> sources_;  // by module, as its list has them
  std::set<std::pair<std::string, TargetId>> incomplete_;  // modules, by target, of which an image is wrong
  std::vector<std::pair<std::string, Need>> needs_;
  std::vector<Error> errors_;
  std::size_t images_ = 0;
};

}  // namespace kiln::tools
