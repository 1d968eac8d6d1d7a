#include "tools/stages/embed.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/zstd.hpp"

namespace kiln::tools {
namespace {

Result<void> check_namespace(std::string_view name) {
  std::string_view rest = name;
  while (true) {
    const std::size_t end = rest.find("::");
    if (!is_identifier(rest.substr(0, end))) {
      return Error{ErrorCode::kInvalidInput, "not a C++ namespace: " + quote(name), {}, {}}.hint(
          "use identifiers joined by '::', such as 'my_app::kernels'");
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 2);
  }
  if (name == "kiln" || name == "std" || name.starts_with("std::")) {
    return Error{ErrorCode::kInvalidInput, "the namespace " + quote(name) + " is taken", {}, {}}.hint(
        "choose one of your own, such as 'kernels'");
  }
  return {};
}

// The name also lands in an assembly file and in #error lines, so it keeps to a portable alphabet.
Result<void> check_header_name(std::string_view name) {
  const auto is_portable = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.' || c == '-';
  };
  const std::string_view extension = name.substr(std::min(name.rfind('.'), name.size()));
  const bool is_header =
      extension == ".h" || extension == ".hh" || extension == ".hpp" || extension == ".hxx";
  if (!is_header || name.front() == '.' || name.front() == '-' ||
      !std::ranges::all_of(name, is_portable)) {
    return Error{ErrorCode::kInvalidInput, "not a header's file name: " + quote(name), {}, {}}.hint(
        "use letters, digits, '_', '.' and '-', and end in .h, .hh, .hpp or .hxx: 'kernels.hpp'");
  }
  return {};
}

Result<void> check_order(const BuiltCatalog& built) {
  const auto broken = [](const std::string& what) {
    return Error{ErrorCode::kInternal, "embed: " + what, {}, {}};
  };
  const auto ascending = [](const auto& range, auto projection) {
    return std::ranges::adjacent_find(range, std::greater_equal<>{}, projection) == range.end();
  };
  if (!ascending(built.modules, &BuiltModule::name)) return broken("modules are not sorted");
  for (const BuiltModule& module : built.modules) {
    if (!ascending(module.kernel_names, std::identity{})) {
      return broken("the kernels of module " + quote(module.name) + " are not sorted");
    }
    if (module.parameters.size() != module.kernel_names.size() ||
        module.units.size() != module.kernel_names.size()) {
      return broken("the tables of module " + quote(module.name) + " differ in length");
    }
  }
  return {};
}

// What a unit is compiled from, in the place of an image.
generator::Image describe_source(const std::string& bundle, std::uint16_t unit) {
  return {.target = "source",
          .format = ImageFormat::kSource,
          .compression = Compression::kNone,
          .unit = unit,
          .ptx_isa = 0,
          .stored = bundle,
          .size = bundle.size(),
          .digest = sha256(bundle)};
}

generator::Catalog describe(const BuiltCatalog& built, EmbedSource embed_source) {
  generator::Catalog catalog{built.name, built.targets, built.missing_targets, {}};
  for (const BuiltModule& source : built.modules) {
    generator::Module module{.name = source.name, .unit_count = 1, .kernels = {}, .images = {}};
    for (std::size_t i = 0; i < source.kernel_names.size(); ++i) {
      module.kernels.push_back({source.kernel_names[i], source.units[i], source.parameters[i]});
    }
    for (const Artifact& artifact : source.images) {
      module.unit_count = std::max<std::uint16_t>(module.unit_count,
                                                  static_cast<std::uint16_t>(artifact.unit + 1));
      generator::Image image{.target = to_string(artifact.target),
                             .format = artifact.format,
                             .compression = Compression::kNone,
                             .unit = artifact.unit,
                             .ptx_isa = artifact.info.ptx_isa,
                             .stored = artifact.bytes,
                             .size = artifact.bytes.size(),
                             .digest = artifact.digest};
      if (image.format == ImageFormat::kPtx) {
        image.stored += '\0';  // the driver reads PTX as a C string
        image.size += 1;
      }
      if (embed_source != EmbedSource::kInstead) module.images.push_back(std::move(image));
    }
    for (std::size_t unit = 0; unit < source.source_bundles.size(); ++unit) {
      module.images.push_back(
          describe_source(source.source_bundles[unit], static_cast<std::uint16_t>(unit)));
    }
    std::ranges::stable_sort(module.images, {}, &generator::Image::unit);
    catalog.modules.push_back(std::move(module));
  }
  return catalog;
}

// One frame, from the store or made. The store's own troubles never fail a build.
Result<std::string> compress(const generator::Image& image, CacheStore* store) {
  const Digest key = KeyHasher()
                         .add("zstd frame", zstd_version())
                         .add("level", std::to_string(kZstdLevel))
                         .add("size", std::to_string(image.size))  // PTX has a NUL more than its file
                         .add("image", image.digest)
                         .finish();
  if (store != nullptr) {
    if (auto kept = store->find(key)) return std::move(kept->output);
  }
  KILN_TRY_ASSIGN(std::string frame, zstd_compress(image.stored));
  if (store != nullptr) (void)store->store(key, {.output = frame, .log = {}});
  return frame;
}

Result<void> compress_all(generator::Catalog& catalog, CacheStore* store) {
  std::vector<generator::Image*> images;
  for (generator::Module& module : catalog.modules) {
    for (generator::Image& image : module.images) images.push_back(&image);
  }
  // The largest first, so that no core is left with a long one at the end.
  std::ranges::stable_sort(images, std::greater<>{}, &generator::Image::size);

  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < images.size(); i = next++) {
      auto frame = compress(*images[i], store);
      if (!frame) {
        const std::lock_guard lock(mutex);
        failure = std::move(frame).error();
        return;
      }
      images[i]->stored = std::move(frame).value();
      images[i]->compression = Compression::kZstd;
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < std::min(cores, images.size()); ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that started, and this one, do the work.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) return *std::move(failure);
  return {};
}

}  // namespace

Result<std::vector<GeneratedFile>> embed(const BuiltCatalog& built, const EmbedOptions& options,
                                         std::uint32_t minimum_runtime, CacheStore* store) {
  KILN_TRY(check_namespace(options.name_space));
  KILN_TRY(check_header_name(options.header));
  KILN_TRY(check_order(built));
  generator::Catalog catalog = describe(built, options.source);
  if (options.compression == Compression::kZstd) KILN_TRY(compress_all(catalog, store));
  return generator::generate(
      catalog, {.header = options.header,
                .name_space = options.name_space,
                .storage = options.mode == EmbedMode::kAsm ? generator::Storage::kAsm
                                                           : generator::Storage::kArray,
                .minimum_runtime = minimum_runtime});
}

}  // namespace kiln::tools
