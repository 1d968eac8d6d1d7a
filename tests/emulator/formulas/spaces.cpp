#include "tests/emulator/formulas/spaces.hpp"

#include <cstring>

#include "emulator/apertures.hpp"

namespace kiln::formulas {

using emulator::Bench;

Image::Image(Bench& bench, const u8* buffer)
    : width_(bench.width()),
      global_(buffer, buffer + kGlobalBytes),
      lds_(bench.lds()),
      scratch_(bench.scratch()) {}

u8& Image::at(Space space, u32 lane, u32 address) {
  if (space == Space::kGlobal) return global_.at(address);
  if (space == Space::kLds) return lds_.at(address);
  // The dwords of the lanes are interleaved.
  return scratch_.at((address / 4 * width_ + lane) * 4 + address % 4);
}
u64 Image::read(Space space, u32 lane, u32 address, u32 bytes) {
  u64 value = 0;
  for (u32 i = bytes; i > 0; --i) value = value << 8 | at(space, lane, address + i - 1);
  return value;
}
void Image::write(Space space, u32 lane, u32 address, u32 bytes, u64 value) {
  for (u32 i = 0; i < bytes; ++i) at(space, lane, address + i) = static_cast<u8>(value >> (8 * i));
}

std::vector<Form> forms_of(const std::string& prefix) {
  const std::vector<Form> forms = {
      {"global", Space::kGlobal, "v[0:1]", ", off", " offset:-16",
       [](Bench& bench, u32 lane, u64 begin, u32 address) {
         bench.set64(0, lane, begin + address + 16);
       }},
      {"global", Space::kGlobal, "v0", ", s[4:5]", " offset:64",
       [](Bench& bench, u32 lane, u64 begin, u32 address) {
         bench.set_scalar64(4, begin - 64);
         bench.vector(0, lane) = address;
       }},
      {"flat", Space::kGlobal, "v[0:1]", "", " offset:8",
       [](Bench& bench, u32 lane, u64 begin, u32 address) {
         bench.set64(0, lane, begin + address - 8);
       }},
      {"flat", Space::kLds, "v[0:1]", "", " offset:8",
       [](Bench& bench, u32 lane, u64, u32 address) {
         bench.set64(0, lane, (u64{emulator::kSharedAperture} << 32) + address - 8);
       }},
      {"flat", Space::kScratch, "v[0:1]", "", "",
       [](Bench& bench, u32 lane, u64, u32 address) {
         bench.set64(0, lane, (u64{emulator::kPrivateAperture} << 32) + address);
       }},
      {"scratch", Space::kScratch, "v0", ", off", " offset:4",
       [](Bench& bench, u32 lane, u64, u32 address) { bench.vector(0, lane) = address - 4; }},
      {"scratch", Space::kScratch, "v0", ", s4", " offset:-4",
       [](Bench& bench, u32 lane, u64, u32 address) {
         bench.scalar(4) = 12;
         bench.vector(0, lane) = address - 8;
       }},
      // A descriptor in bytes: base, its upper 16 bits and stride 0, size.
      {"buffer", Space::kGlobal, "v0", ", s[8:11], s4", " offen offset:12",
       [](Bench& bench, u32 lane, u64 begin, u32 address) {
         bench.set_scalar64(8, begin - 100);
         bench.scalar(10) = 100000;
         bench.scalar(11) = 0;
         bench.scalar(4) = 40;
         bench.vector(0, lane) = address + 100 - 40 - 12;
       }},
      // A descriptor of elements of 8 bytes: an index, and an offset in the element.
      {"buffer", Space::kGlobal, "v[0:1]", ", s[8:11], 0", " idxen offen",
       [](Bench& bench, u32 lane, u64 begin, u32 address) {
         bench.set_scalar64(8, begin | u64{8} << 48);
         bench.scalar(10) = 100000;
         bench.scalar(11) = 0;
         bench.vector(0, lane) = address / 8;
         bench.vector(1, lane) = address % 8;
       }},
      {"ds", Space::kLds, "v0", "", " offset:24",
       [](Bench& bench, u32 lane, u64, u32 address) { bench.vector(0, lane) = address - 24; }},
  };
  std::vector<Form> result;
  for (const Form& form : forms) {
    if (form.prefix == prefix) result.push_back(form);
  }
  return result;
}

std::string load_text(const Form& form, const std::string& name, const std::string& destination) {
  return name + " " + destination + ", " + form.vector + form.scalar + form.modifiers;
}
std::string store_text(const Form& form, const std::string& name, const std::string& data) {
  if (form.prefix == "buffer") return load_text(form, name, data);
  return name + " " + form.vector + ", " + data + form.scalar + form.modifiers;
}

std::string registers(u32 first, u32 count) {
  if (count == 1) return "v" + std::to_string(first);
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

void fill_memory(Bench& bench, u8* buffer) {
  u64 state = 3;
  const auto fill = [&](u8* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
      const u64 random = next_random(state);
      std::memcpy(bytes + i, &random, 8);
    }
  };
  fill(buffer, Image::kGlobalBytes);
  fill(bench.lds().data(), Image::kGlobalBytes);
  fill(bench.scratch().data(), bench.scratch().size());
}

}  // namespace kiln::formulas
