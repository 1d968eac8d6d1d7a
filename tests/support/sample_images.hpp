// One small, valid file of each format, made from a description, for tests that then damage it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/elf_builder.hpp"
#include "tests/support/msgpack_builder.hpp"

namespace kiln::testing {

struct HsacoSpec {
  std::uint8_t abi_version = 3;  // code object V5
  std::uint32_t flags = 0x53f;   // gfx90a, xnack any, sramecc any
  std::string kernel = "scale";
  std::string descriptor = "scale.kd";
  std::string metadata = {};  // empty: the metadata of one kernel
};

// Returns the metadata of a kernel with a pointer, an int and a hidden argument.
inline std::string hsaco_metadata(const std::string& name, const std::string& symbol) {
  using namespace msgpack;
  const auto argument = [](std::uint64_t offset, std::uint64_t size, const std::string& kind) {
    return map({{".offset", number(offset)}, {".size", number(size)}, {".value_kind", text(kind)}});
  };
  return map(
      {{"amdhsa.kernels",
        array({map({{".name", text(name)},
                    {".symbol", text(symbol)},
                    {".args", array({argument(0, 8, "global_buffer"), argument(8, 4, "by_value"),
                                     argument(16, 4, "hidden_block_count_x")})},
                    {".vgpr_count", number(5)},
                    {".sgpr_count", number(17)},
                    {".agpr_count", number(2)},
                    {".vgpr_spill_count", number(3)},
                    {".sgpr_spill_count", number(1)},
                    {".private_segment_fixed_size", number(272)},
                    {".group_segment_fixed_size", number(1024)},
                    {".wavefront_size", number(64)},
                    {".max_flat_workgroup_size", number(256)},
                    {".kernarg_segment_align", number(8)}})})},
       {"amdhsa.target", text("amdgcn-amd-amdhsa--gfx90a")},
       {"amdhsa.version", array({number(1), number(2)})}});
}

inline std::string make_hsaco(const HsacoSpec& spec = {}) {
  ElfBuilder elf;
  elf.os_abi = 64;
  elf.abi_version = spec.abi_version;
  elf.machine = 224;
  elf.flags = spec.flags;
  elf.symbol_table = 11;
  const std::string metadata =
      spec.metadata.empty() ? hsaco_metadata(spec.kernel, "scale.kd") : spec.metadata;
  elf.add({.name = ".note", .type = 7, .bytes = note("AMDGPU", 32, metadata)});
  std::string descriptor;
  put(descriptor, std::uint32_t{1024});  // LDS
  put(descriptor, std::uint32_t{272});   // scratch
  put(descriptor, std::uint32_t{20});    // arguments
  descriptor.resize(16);
  put(descriptor, std::int64_t{4096});  // code
  descriptor.resize(44);
  put(descriptor, std::uint32_t{3});
  put(descriptor, std::uint32_t{1});
  put(descriptor, std::uint32_t{2});
  put(descriptor, std::uint16_t{0x408});
  descriptor.resize(64);
  const std::uint16_t data = elf.add({.name = ".rodata", .bytes = descriptor});
  elf.add_symbol(
      {.name = spec.descriptor, .type = 1, .section = data, .value = elf.offset(data), .size = 64});
  return elf.build();
}

// Returns an attribute of .nv.info with a payload.
inline std::string cubin_attribute(std::uint8_t id, const std::vector<std::uint32_t>& words) {
  std::string bytes = {4, static_cast<char>(id)};
  put(bytes, static_cast<std::uint16_t>(4 * words.size()));
  for (const std::uint32_t word : words) put(bytes, word);
  return bytes;
}
// Returns an attribute without a payload; its value is in the header.
inline std::string cubin_attribute(std::uint8_t form, std::uint8_t id, std::uint16_t value) {
  std::string bytes = {static_cast<char>(form), static_cast<char>(id)};
  put(bytes, value);
  return bytes;
}
inline std::string cubin_parameter(std::uint32_t ordinal, std::uint32_t offset, std::uint32_t size,
                                   std::uint32_t space = 0) {
  return cubin_attribute(0x17, {0, ordinal | offset << 16, size << 18 | 0x1f000 | space << 8});
}

struct CubinSpec {
  std::uint8_t abi_version = 8;
  std::uint32_t flags = 0x06005004;  // 8.0
  std::string compat = {};           // content of .nv.compat; empty: no such section
  std::string command_line = "-arch sm_80 -m 64 ";
  std::string info = {};  // content of .nv.info.scale; empty: a pointer and an int
  std::uint64_t shared = 384;
};

inline std::string make_cubin(const CubinSpec& spec = {}) {
  ElfBuilder elf;
  elf.type = 2;
  elf.os_abi = spec.abi_version >= 8 ? 0x41 : 0x33;
  elf.abi_version = spec.abi_version;
  elf.machine = 190;
  elf.flags = spec.flags;
  std::string strings(1, '\0');
  std::string tool;
  put(tool, std::uint32_t{2});
  put(tool, std::uint32_t{0});
  put(tool, static_cast<std::uint32_t>(strings.size()));
  strings += std::string("ptxas") + '\0';
  put(tool, static_cast<std::uint32_t>(strings.size()));
  strings += std::string("Cuda compilation tools, release 13.0") + '\0';
  put(tool, static_cast<std::uint32_t>(0));
  put(tool, static_cast<std::uint32_t>(strings.size()));
  strings += spec.command_line + '\0';
  elf.add(
      {.name = ".note.nv.tkinfo", .type = 7, .bytes = note("NVIDIA Corp", 2000, tool + strings)});
  if (!spec.compat.empty()) {
    elf.add({.name = ".nv.compat", .type = 0x70000086, .bytes = spec.compat});
  }
  constexpr std::uint32_t kSymbol = 1;
  elf.add({.name = ".nv.info",
           .type = 0x70000000,
           .bytes = cubin_attribute(0x2f, {kSymbol, 31}) + cubin_attribute(0x11, {kSymbol, 256})});
  const std::string info = spec.info.empty()
                               ? cubin_attribute(3, 0x19, 12) + cubin_parameter(1, 8, 4) +
                                     cubin_parameter(0, 0, 8) + cubin_attribute(0x05, {128, 2, 1})
                               : spec.info;
  elf.add({.name = ".nv.info.scale", .type = 0x70000000, .bytes = info});
  const std::uint16_t text =
      elf.add({.name = ".text.scale", .bytes = std::string(16, 'x'), .info = 30u << 24});
  elf.add({.name = ".nv.constant0.scale", .bytes = std::string(364, 'c')});
  elf.add({.name = ".nv.constant2.scale", .bytes = std::string(8, 'c')});
  elf.add({.name = ".nv.shared.scale", .type = 8, .size = spec.shared});
  elf.add_symbol({.name = "scale", .type = 2, .other = 0x10, .section = text, .size = 16});
  elf.add_symbol({.name = "helper", .type = 2, .section = text, .size = 16});
  return elf.build();
}

inline std::string make_ptx() {
  return "//\n// a comment\n//\n"
         ".version 9.0\n.target sm_90a, debug\n.address_size 64\n\n"
         ".extern .shared .align 16 .b8 dynamic[];\n"
         ".visible .entry scale(\n"
         "\t.param .u64 .ptr .global .align 16 scale_param_0,\n"
         "\t.param .u8 scale_param_1,\n"
         "\t.param .align 8 .b8 scale_param_2[40],\n"
         "\t.param .f64 scale_param_3,\n"
         "\t.param .u64 scale_param_4\n"
         ")\n.maxntid 128, 2, 1\n.minnctapersm 4\n"
         "{\n\t.reg .b32 %r<3>;\n\t.shared .align 4 .b8 tile[384];\n\t{ .reg .b32 t; }\n"
         "\tst.shared.u32 [tile], %r1; // }\n\t.pragma \"no}unroll\";\n\tret;\n}\n";
}

// {id, code object} pairs; the first is that of the host.
inline std::string make_bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes = "__CLANG_OFFLOAD_BUNDLE__";
  std::size_t offset = bytes.size() + 8;
  for (const auto& [id, code] : entries) offset += 24 + id.size();
  put(bytes, static_cast<std::uint64_t>(entries.size()));
  std::string codes;
  for (const auto& [id, code] : entries) {
    put(bytes, static_cast<std::uint64_t>(offset + codes.size()));
    put(bytes, static_cast<std::uint64_t>(code.size()));
    put(bytes, static_cast<std::uint64_t>(id.size()));
    bytes += id;
    codes += code;
  }
  return bytes + codes;
}

struct FatbinEntrySpec {
  std::uint16_t kind = 2;
  std::uint32_t capability = 80;
  std::uint64_t flags = 0x11;
  std::string payload;
  std::uint64_t decompressed_size = 0;
};

inline std::string make_fatbin(const std::vector<FatbinEntrySpec>& entries) {
  std::string body;
  for (const FatbinEntrySpec& entry : entries) {
    const bool is_compressed = entry.decompressed_size != 0;
    const std::size_t padded = (entry.payload.size() + 7) / 8 * 8;
    put(body, entry.kind);
    put(body, std::uint16_t{0x101});
    put(body, std::uint32_t{64});
    put(body, static_cast<std::uint64_t>(padded));
    put(body, static_cast<std::uint32_t>(is_compressed ? entry.payload.size() : 0));
    put(body, std::uint64_t{0});
    put(body, entry.capability);
    put(body, std::uint64_t{0});
    put(body, entry.flags);
    put(body, std::uint64_t{0});
    put(body, entry.decompressed_size);
    body += entry.payload;
    body.resize(body.size() + padded - entry.payload.size());
  }
  std::string bytes;
  put(bytes, std::uint32_t{0xBA55ED50});
  put(bytes, std::uint16_t{1});
  put(bytes, std::uint16_t{16});
  put(bytes, static_cast<std::uint64_t>(body.size()));
  return bytes + body;
}

}  // namespace kiln::testing
