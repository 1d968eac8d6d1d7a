// One half of a program of two translation units that both include kernels.hpp.
#include <kernels.hpp>

#include <cstdint>
#include <cstdio>

const kiln::Catalog& second_catalog();    // program_second.cpp: the same header
const kiln::Catalog& another_catalog();   // program_another.cpp: another header of the same names

namespace {

int failures = 0;
void check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "does not hold: %s\n", what), ++failures;
}

}  // namespace

int main() {
  const kiln::Catalog& first = kernels::catalog();
  check(&first == &second_catalog(), "one header is one catalog in all translation units");
  check(&first != &another_catalog(), "two headers are two catalogs");
  check(first.digest != another_catalog().digest, "two headers differ in their digest");
  for (const kiln::ModuleEntry* module : first.modules) {
    for (const kiln::ImageEntry& image : module->images) {
      const auto address = reinterpret_cast<std::uintptr_t>(image.data);
      const bool in_place = image.format == kiln::ImageFormat::kHsaco &&
                            image.compression == kiln::Compression::kNone;
      check(address % (in_place ? 4096 : 64) == 0, "an image is aligned");
      check(image.data[image.stored_size] == 0, "an image is followed by a NUL");
      if (image.compression == kiln::Compression::kNone) {
        check(image.stored_size == image.size, "an uncompressed image is stored whole");
        check(image.data[0] == static_cast<unsigned char>(image.target[0] == 'c' ? '.' : module->name[0]),
              "an image starts with its own bytes");
      } else {
        check(image.data[0] == 0x28 && image.data[1] == 0xb5, "a compressed image is a zstd frame");
      }
    }
  }
  return failures == 0 ? 0 : 1;
}
