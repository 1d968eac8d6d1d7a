// Small files that could make a reader work long or use much memory. Each of them is read, or
// refused with a reason, within the budget: memory of at most 8 times the file size plus 64 MB, and
// time that is linear in the file size.
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>

#include "formats/cubin.hpp"
#include "formats/elf.hpp"
#include "formats/hsaco.hpp"
#include "formats/image.hpp"
#include "formats/image_head.hpp"
#include "formats/msgpack.hpp"
#include "formats/ptx.hpp"
#include "formats/zstd.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/memory_meter.hpp"
#include "tests/support/sample_images.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

// Returns the error of reading the file, or "" if it was read.
template <typename Read>
std::string read_within_budget(const std::string& file, Read&& read) {
  constexpr double kSeconds = 4.0;  // a debug build takes less than one second for each file here
  const MemoryMeter meter;
  const double start = processor_seconds();
  const auto result = read(as_bytes(file));
  CHECK(processor_seconds() - start < kSeconds);
  if (kMetersMemory) CHECK(meter.peak() < memory_budget(file.size()));
  return result ? "" : result.error().message;
}

// The expected refusal is in tests/golden/messages/costly.
template <typename Read>
void check_refused(const std::string& name, const std::string& file, Read&& read) {
  check_golden("messages/costly/" + name + ".txt", read_within_budget(file, read) + "\n");
}

Result<ContainerHead> read_entries(Bytes file) {
  return read_container(file, [](const ContainerEntry& entry) -> Result<void> {
    (void)read_image(entry.bytes);
    return {};
  });
}

struct RawSection {
  std::uint32_t name = 0;  // offset in the first section, which has the strings
  std::uint32_t type = 1;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;
};

// Returns an ELF file with exactly these sections, after the empty one. `strings` are at
// kStringsAt.
constexpr std::size_t kStringsAt = 64;
std::string raw_elf(std::uint16_t machine, const std::string& strings,
                    const std::vector<RawSection>& sections) {
  std::string file =
      "\x7f"
      "ELF\x02\x01\x01";
  file += machine == kElfMachineCuda ? '\x41' : '\x40';
  file += machine == kElfMachineCuda ? '\x08' : '\x03';
  file.resize(16);
  put(file, std::uint16_t{2});
  put(file, machine);
  put(file, std::uint32_t{1});
  put(file, std::uint64_t{0});
  put(file, std::uint64_t{0});
  put(file, static_cast<std::uint64_t>(kStringsAt + strings.size()));
  put(file, machine == kElfMachineCuda ? std::uint32_t{0x06005004} : std::uint32_t{0x53f});
  put(file, std::uint16_t{64});
  put(file, std::uint16_t{56});
  put(file, std::uint16_t{0});
  put(file, std::uint16_t{64});
  put(file, std::uint16_t{0});  // the number of sections is in section 0
  put(file, std::uint16_t{1});
  file += strings;
  const auto add = [&](const RawSection& section) {
    put(file, section.name);
    put(file, section.type);
    put(file, std::uint64_t{0});
    put(file, std::uint64_t{0});
    put(file, section.offset);
    put(file, section.size);
    put(file, section.link);
    put(file, std::uint32_t{0});
    put(file, std::uint64_t{0});
    put(file, section.entry_size);
  };
  add({.type = 0, .size = sections.size() + 2});
  add({.type = 3, .offset = kStringsAt, .size = strings.size()});
  for (const RawSection& section : sections) add(section);
  return file;
}

}  // namespace

TEST_CASE("a cubin with 20000 kernels of one long name is refused", "[budget]") {
  const std::string name(400'000, 'k');
  std::string strings(1, '\0');
  const auto place = [&](const std::string& text) {
    const std::size_t at = strings.size();
    strings += text;
    return static_cast<std::uint32_t>(at);
  };
  const std::uint32_t info = place(".nv.info." + name + '\0');
  const std::uint32_t code = place(".text." + name + '\0');
  std::string symbols(24, '\0');
  for (int i = 0; i < 20'000; ++i) {
    put(symbols, info + 9);
    put(symbols, std::uint8_t{0x12});
    put(symbols, std::uint8_t{0x10});
    put(symbols, std::uint16_t{1});
    put(symbols, std::uint64_t{0});
    put(symbols, std::uint64_t{0});
  }
  const std::uint32_t table = place(symbols);
  std::string file = raw_elf(kElfMachineCuda, strings,
                             {{.name = info, .type = 0x70000000},
                              {.name = code},
                              {.type = 2,
                               .offset = kStringsAt + table,
                               .size = symbols.size(),
                               .link = 1,
                               .entry_size = 24}});
  poke(file, kStringsAt + strings.size() + 64 + 32, std::uint64_t{table});  // no overlap
  check_refused("cubin_of_one_long_name", file, read_cubin);
}

TEST_CASE("a cubin that names one kernel twice is refused", "[budget]") {
  ElfBuilder elf;
  elf.type = 2;
  elf.os_abi = 0x41;
  elf.abi_version = 8;
  elf.machine = 190;
  elf.flags = 0x06005004;
  elf.add({.name = ".nv.info.k", .type = 0x70000000});
  const auto text = elf.add({.name = ".text.k"});
  for (int i = 0; i < 2; ++i) {
    elf.add_symbol({.name = "k", .type = 2, .other = 0x10, .section = text});
  }
  check_refused("cubin_with_a_kernel_twice", elf.build(), read_cubin);
}

TEST_CASE("300000 sections with one long name are refused, by the loader's check too", "[budget]") {
  const std::string name(200'000, 's');
  std::vector<RawSection> sections(300'000, RawSection{.name = 1});
  const std::string file = raw_elf(kElfMachineCuda, '\0' + name + '\0', sections);
  check_refused("sections_of_one_long_name", file, read_elf);
  check_refused("sections_of_one_long_name", file, read_elf_without_symbols);
  check_refused("sections_of_one_long_name", file, read_image_head);
}

TEST_CASE("symbols with one long name are refused", "[budget]") {
  const std::string name(500'000, 's');
  std::string strings = '\0' + name + '\0';
  std::string symbols(24, '\0');
  for (int i = 0; i < 50'000; ++i) {
    put(symbols, std::uint32_t{1});
    symbols.resize(symbols.size() + 20);
  }
  const std::string file =
      raw_elf(kElfMachineCuda, symbols + strings,
              {{.type = 2, .offset = kStringsAt, .size = symbols.size(), .entry_size = 24}});
  std::string linked = file;  // the names are in section 1, which now starts after the symbols
  const std::size_t headers = kStringsAt + symbols.size() + strings.size();
  poke(linked, headers + 64 + 24, static_cast<std::uint64_t>(kStringsAt + symbols.size()));
  poke(linked, headers + 64 + 32, static_cast<std::uint64_t>(strings.size()));
  poke(linked, headers + 128 + 40, std::uint32_t{1});
  check_refused("symbols_of_one_long_name", linked, read_elf);
}

TEST_CASE("notes that overlap are refused, and small ones take little", "[budget]") {
  std::string notes;
  for (int i = 0; i < 400'000; ++i) notes += note("", 1, "");
  const auto file = [&](int times) {
    return raw_elf(
        kElfMachineAmdGpu, notes,
        std::vector<RawSection>(static_cast<std::size_t>(times),
                                RawSection{.type = 7, .offset = kStringsAt, .size = notes.size()}));
  };
  std::string once = file(1);
  poke(once, kStringsAt + notes.size() + 64 + 4, std::uint32_t{8});  // the strings: NOBITS
  poke(once, 62, std::uint16_t{0});                                  // no names
  CHECK(read_within_budget(once, read_elf).empty());
  CHECK(
      read_within_budget(file(1000), read_elf).starts_with("damaged ELF file: its sections over"));
}

TEST_CASE("an ELF file of more segments than images have is refused", "[budget]") {
  std::string file = ElfBuilder().build();
  poke(file, 56, std::uint16_t{1025});
  poke(file, 32, static_cast<std::uint64_t>(file.size()));
  file.resize(file.size() + 1025 * 56);
  check_refused("many_segments", file, read_elf);
}

TEST_CASE("metadata of ten million small values takes no memory", "[budget]") {
  const std::string numbers = msgpack::tagged(0xdd, 10'000'000, 4) + std::string(10'000'000, '\1');
  CHECK(read_within_budget(numbers, read_msgpack).empty());
  HsacoSpec spec;
  spec.metadata = msgpack::map({{"amdhsa.kernels", ""}}).substr(0, 16) + numbers;
  check_refused("metadata_of_many_kernels", make_hsaco(spec), read_hsaco);
}

TEST_CASE("a fatbin's compressed entries are decompressed one at a time, and not without bounds",
          "[budget]") {
  const std::string zeros(200 << 20, '\0');
  const FatbinEntrySpec bomb = {.kind = 2,
                                .flags = 0x8011,
                                .payload = zstd_compress(zeros, 1).value(),
                                .decompressed_size = zeros.size()};
  const std::string file = make_fatbin({bomb, bomb, bomb, bomb, bomb, bomb, bomb, bomb});
  CHECK(read_within_budget(file, read_entries) ==
        "bad zstd frame: it states 209715200 bytes, the limit is " +
            std::to_string(256 * bomb.payload.size()));

  // Decompressed bytes are held only once, however many entries there are.
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < (16 << 20); ++i) {
    x = x * 1664525 + 1013904223;
    noise += i % 16 == 0 ? static_cast<char>(x >> 24) : '\0';
  }
  const FatbinEntrySpec entry = {.kind = 2,
                                 .flags = 0x8011,
                                 .payload = zstd_compress(noise, 1).value(),
                                 .decompressed_size = noise.size()};
  std::vector<FatbinEntrySpec> entries(8, entry);
  const std::string many = make_fatbin(entries);
  const MemoryMeter meter;
  CHECK(read_within_budget(many, read_entries).empty());
  if (kMetersMemory) CHECK(meter.peak() < 2 * noise.size());
}

TEST_CASE("a bundle whose entries overlap, or have a very long name, is refused", "[budget]") {
  std::string bundle =
      make_bundle(std::vector<std::pair<std::string, std::string>>(1000, {"", ""}));
  for (std::size_t i = 0; i < 1000; ++i) {
    poke(bundle, 32 + 24 * i, std::uint64_t{0});
    poke(bundle, 32 + 24 * i + 8, static_cast<std::uint64_t>(bundle.size()));
  }
  check_refused("bundle_of_overlapping_entries", bundle, read_entries);
  check_refused("bundle_with_a_long_name", make_bundle({{std::string(5000, 'n'), ""}}),
                read_entries);
}

TEST_CASE("PTX takes time by its length, and memory too", "[budget]") {
  const std::string head = ".version 9.0 .target sm_90 .address_size 64\n";
  std::string shared = head;
  std::string body = ".entry k { ";
  for (int i = 0; i < 60'000; ++i) {
    const std::string name = "v" + std::to_string(i);
    shared += ".shared .b8 " + name + ";\n";
    body += name + " ";
  }
  CHECK(read_within_budget(shared + body + "}", [](Bytes text) {
          return read_ptx(as_text(text));
        }).empty());

  std::string kernels = head;
  for (int i = 0; i < 400'000; ++i) kernels += ".entry k{}";
  check_refused("ptx_of_many_kernels", kernels,
                [](Bytes text) { return read_ptx(as_text(text)); });
}
