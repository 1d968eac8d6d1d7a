#include "runtime/src/source_compiler.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/digest.hpp"
#include "runtime/src/file.hpp"
#include "runtime/src/host_compiler.hpp"
#include "runtime/src/rtc_compiler.hpp"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestDigits = 64;

// A folder of its own for one compilation, gone with this object.
class WorkFolder {
 public:
  static Result<WorkFolder> make(const std::string& parent) {
    std::string path = parent + "/compile-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::kEnvironment,
                   "cannot make the folder '" + path + "': " + std::strerror(errno),
                   {},
                   {}};
    }
    return WorkFolder(std::move(path));
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  Result<void> put(const SourceBundle& bundle) const {
    for (const SourceBundle::File& file : bundle.files) {
      const fs::path path = fs::path(path_) / file.path;
      std::error_code ignored;  // write_file tells
      fs::create_directories(path.parent_path(), ignored);
      KILN_TRY(write_file(path.string(), file.text));
    }
    return {};
  }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The image of an entry, or empty when there is none that is whole.
std::string find_entry(const std::string& path) {
  Result<std::string> entry = read_file(path);
  if (!entry || entry->size() <= kDigestDigits) return {};
  const std::string digest = entry->substr(0, kDigestDigits);
  entry->erase(0, kDigestDigits + 1);
  return sha256(std::string_view(*entry)).hex() == digest ? std::move(*entry) : std::string();
}

void keep_entry(const std::string& path, const std::string& work_folder, const std::string& image) {
  const std::string aside = work_folder + "/.entry";
  if (!write_file(aside, sha256(std::string_view(image)).hex() + "\n" + image)) return;
  std::error_code ignored;
  fs::rename(aside, path, ignored);
}

}  // namespace

Result<CompiledImage> SourceCompiler::compile(std::string_view source_bundle, Backend backend,
                                              const TargetId& target) {
  KILN_TRY_ASSIGN(const SourceBundle bundle, read_source_bundle(source_bundle));
  KILN_TRY_ASSIGN(const std::shared_ptr<const Compiler> compiler, compiler_for(backend));
  CompiledImage compiled;
  compiled.compiler = compiler->name();

  std::string folder = options_.cache_folder, entry;
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !error) {
    entry = folder + "/" +
            KeyHasher()
                .add("compiled", "1")
                .add("compiler", compiler->identity())
                .add("target", to_string(target))
                .add("source", source_bundle)
                .finish()
                .hex() +
            ".image";
    compiled.bytes = find_entry(entry);
    compiled.is_from_cache = !compiled.bytes.empty();
    if (compiled.is_from_cache) return compiled;
  } else {
    folder = fs::temp_directory_path(error).string();
  }
  KILN_TRY_ASSIGN(const WorkFolder work, WorkFolder::make(folder));
  KILN_TRY(work.put(bundle));
  KILN_TRY_ASSIGN(compiled.bytes, compiler->compile(bundle, work.path(), target));
  if (!entry.empty()) keep_entry(entry, work.path(), compiled.bytes);
  return compiled;
}

Result<std::shared_ptr<const Compiler>> SourceCompiler::compiler_for(Backend backend) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Compiler>& slot = backend == Backend::kCuda   ? nvrtc_
                                          : backend == Backend::kHost ? host_
                                                                      : hiprtc_;
  if (slot == nullptr) {
    KILN_TRY_ASSIGN(slot, backend == Backend::kHost
                              ? find_host_compiler(options_.host_compiler)
                              : open_rtc_compiler(backend, backend == Backend::kCuda
                                                               ? options_.nvrtc_library
                                                               : options_.hiprtc_library));
  }
  return slot;
}

}  // namespace kiln::runtime
