#include "formats/image_sources.hpp"

#include <cstddef>

namespace kiln {
namespace {

constexpr std::string_view kHead = "kiln image sources 1\n";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kLine = 2 * kDigits + 2;  // two digests, a space, a newline

}  // namespace

std::string image_sources_path(std::string_view module) { return std::string(module) + ".sources"; }

std::string write_image_sources(const ImageSources& sources) {
  std::string text(kHead);
  for (const auto& [image, source] : sources) text += image.hex() + ' ' + source.hex() + '\n';
  return text;
}

ImageSources read_image_sources(std::string_view text) {
  ImageSources sources;
  if (text.substr(0, kHead.size()) != kHead) return {};
  text.remove_prefix(kHead.size());
  for (; !text.empty(); text.remove_prefix(kLine)) {
    Digest image, source;
    if (text.size() < kLine || text[kDigits] != ' ' || text[kLine - 1] != '\n') return {};
    if (!Digest::parse(text.substr(0, kDigits), image)) return {};
    if (!Digest::parse(text.substr(kDigits + 1, kDigits), source)) return {};
    sources[image] = source;
  }
  return sources;
}

}  // namespace kiln
