#include "tools/stages/embed.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/on_all_cores.hpp"
#include "base/text.hpp"
#include "formats/zstd.hpp"
#include "generator/names.hpp"
#include "tools/stages/parse_embed.hpp"

namespace kiln::tools {
namespace {

Result<void> check_order(const Catalog& catalog) {
  const auto broken = [](const std::string& what) {
    return Error{ErrorCode::kInternal, "embed: " + what, {}, {}};
  };
  const auto ascending = [](const auto& range, auto projection) {
    return std::ranges::adjacent_find(range, std::greater_equal<>{}, projection) == range.end();
  };
  if (!ascending(catalog.modules, &Module::name)) return broken("modules are not sorted");
  for (const Module& module : catalog.modules) {
    if (!ascending(module.kernels, &Kernel::name)) {
      return broken("the kernels of module " + quote(module.name) + " are not sorted");
    }
  }
  return {};
}

// Returns the sources of a unit, in the form of an image.
Artifact source_artifact(const Module& module, std::uint16_t unit) {
  Artifact source;
  source.module = module.name;
  source.unit = unit;
  source.bytes = module.source_bundles[unit];
  source.digest = sha256(source.bytes);
  source.info.format = ImageFormat::kSource;
  return source;
}

// Selects what the header holds of a module: images, sources or both, uncompressed.
void store_plain(Module& module, EmbedSource embed_source) {
  if (embed_source == EmbedSource::kInstead) module.images.clear();
  for (std::size_t unit = 0; unit < module.source_bundles.size(); ++unit) {
    module.images.push_back(source_artifact(module, static_cast<std::uint16_t>(unit)));
  }
  std::ranges::stable_sort(module.images, {}, &Artifact::unit);
  for (Artifact& image : module.images) image.compression = Compression::kNone;
}

// Returns the bytes to embed. PTX gets a terminating NUL.
std::string plain(const Artifact& image) {
  std::string bytes;
  bytes.reserve(generator::decompressed_size(image));
  bytes = image.bytes;
  bytes.resize(generator::decompressed_size(image));
  return bytes;
}

// Returns the compressed frame of an image, from the store or newly made. Errors of the store are
// ignored.
Result<std::string> compress(const Artifact& image, CacheStore* store) {
  const Digest key = KeyHasher()
                         .add("zstd frame", zstd_version())
                         .add("level", std::to_string(kZstdLevel))
                         .add("matches", zstd_strategy())
                         // PTX has one byte more than its file, the NUL
                         .add("size", std::to_string(generator::decompressed_size(image)))
                         .add("image", image.digest)
                         .finish();
  if (store != nullptr) {
    std::optional<CachedOutput> cached = store->find(key);
    store->count(cached ? cached->found_in : FoundIn::kNowhere, cached ? cached->output.size() : 0);
    if (cached) return std::move(cached->output);
  }
  KILN_TRY_ASSIGN(std::string frame, zstd_compress(plain(image)));
  if (store != nullptr) (void)store->store(key, {.output = frame, .log = {}});
  return frame;
}

generator::Options generator_options(const EmbedOptions& options, std::uint32_t minimum_runtime) {
  generator::Options result{.header = options.header,
                            .name_space = options.name_space,
                            .outputs = {},
                            .minimum_runtime = minimum_runtime};
  switch (options.mode) {
    case EmbedMode::kArray: break;
    case EmbedMode::kAsm: result.storage = generator::Storage::kAsm; break;
    case EmbedMode::kSplit: result.storage = generator::Storage::kSplit; break;
  }
  for (const EmbedOutput output : options.outputs) {
    switch (output) {
      case EmbedOutput::kCpp: result.outputs.push_back(generator::Output::kCpp); break;
      case EmbedOutput::kC: result.outputs.push_back(generator::Output::kC); break;
      case EmbedOutput::kRust: result.outputs.push_back(generator::Output::kRust); break;
      case EmbedOutput::kCatalog: result.outputs.push_back(generator::Output::kCatalog); break;
      case EmbedOutput::kAmalgamation:
        result.outputs.push_back(generator::Output::kAmalgamation);
        break;
    }
  }
  return result;
}

// Refuses two generated files with the same name.
Result<void> check_names(const EmbedOptions& options) {
  const auto has = [&](EmbedOutput output) {
    return std::ranges::find(options.outputs, output) != options.outputs.end();
  };
  const bool collide =
      has(EmbedOutput::kCpp) && has(EmbedOutput::kC) && options.header.ends_with(".h");
  if (!collide) return {};
  return Error{ErrorCode::kInvalidInput,
               "the C++ header and the C header would both be called " + quote(options.header)}
      .hint("let the manifest's embed.header end in .hpp, or emit one of them");
}

Result<void> compress_all(Catalog& catalog, CacheStore* store) {
  std::vector<Artifact*> images;
  for (Module& module : catalog.modules) {
    for (Artifact& image : module.images) images.push_back(&image);
  }
  // The largest first, so that no long one is left for the end while other cores are idle.
  std::ranges::stable_sort(images, std::greater<>{},
                           [](const Artifact* image) { return image->bytes.size(); });
  std::vector<std::optional<Error>> failures(images.size());
  on_all_cores(images.size(), [&](std::size_t i) {
    auto frame = compress(*images[i], store);
    if (!frame) {
      failures[i] = std::move(frame).error();
      return;
    }
    images[i]->stored = std::move(frame).value();
    images[i]->compression = Compression::kZstd;
  });
  // Reports the first error in the order of the images, not of time.
  for (std::optional<Error>& failure : failures) {
    if (failure) return *std::move(failure);
  }
  return {};
}

}  // namespace

std::vector<std::string> embedded_files(const EmbedOptions& options) {
  return generator::file_names(generator_options(options, 0));
}

Result<std::vector<GeneratedFile>> embed(Catalog catalog, const EmbedOptions& options,
                                         std::uint32_t minimum_runtime, CacheStore* store) {
  KILN_TRY(parse_namespace(options.name_space));
  if (!is_header_name(options.header)) {
    return Error{ErrorCode::kInvalidInput, "not a header's file name: " + quote(options.header)};
  }
  KILN_TRY(check_names(options));
  KILN_TRY(check_order(catalog));
  for (Module& module : catalog.modules) store_plain(module, options.source);
  // An amalgamated header stores images uncompressed.
  const bool is_packed = options.compression == Compression::kZstd &&
                         options.outputs != std::vector{EmbedOutput::kAmalgamation};
  if (is_packed) {
    KILN_TRY(compress_all(catalog, store));
  } else {
    for (Module& module : catalog.modules) {
      for (Artifact& image : module.images) image.stored = plain(image);
    }
  }
  return generator::generate(catalog, generator_options(options, minimum_runtime));
}

}  // namespace kiln::tools
