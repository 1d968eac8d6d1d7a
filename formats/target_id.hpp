// Target names: what a manifest asks for, what an image is, and what a device reports.
//
//   target    = amd | nvidia | host
//   amd       = processor [":sramecc" sign] [":xnack" sign]     features in any order when read
//   processor = "gfx" hex-digits | "gfx" family "-generic"      gfx90a  gfx1100  gfx11-generic
//   nvidia    = "sm_" digits [suffix] | "compute_" digits [suffix]        sm_90a  compute_80
//   host      = "host" [":wave64"]
//
// A name's shape never implies membership: which processors there are, and which generic family
// each belongs to, is a table (processors(), nvidia_chips() below). Specs: LLVM, "User Guide for
// AMDGPU Backend", sections Processors and Target ID; CUDA, "nvcc", section GPU Feature List.
//
// Which image runs on which device is the business of compatibility.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln {

enum class TargetKind : std::uint8_t { kAmd, kCubin, kPtx, kHost };

// An AMD feature of a target: any means "runs on devices with it on and with it off".
enum class Feature : std::uint8_t { kAny, kOff, kOn };

struct TargetId {
  TargetKind kind = TargetKind::kAmd;
  std::string processor;  // "gfx90a", "gfx11-generic", "sm_90a", "compute_80", "host"
  Feature sramecc = Feature::kAny;
  Feature xnack = Feature::kAny;
  bool wave64 = false;  // host only: 64 lanes a wave; else 32

  auto operator<=>(const TargetId&) const = default;

  bool is_generic() const;         // gfx11-generic
  int compute_capability() const;  // NVIDIA: 90 for sm_90a; else 0
  char nvidia_suffix() const;      // 'a' (this chip alone), 'f' (its family), or NUL
};

// Reads a target. The error names the text and the nearest known target.
Result<TargetId> parse_target_id(std::string_view text);

// Canonical spelling: features in the order sramecc, xnack; "gfx90a:sramecc-:xnack+".
std::string to_string(const TargetId& target);

// A spelling for file names: letters, digits, '.', '_' and '-' only; distinct targets stay
// distinct. "gfx90a:sramecc-:xnack+" -> "gfx90a.sramecc-off.xnack-on".
std::string file_name(const TargetId& target);

// One AMD processor as LLVM knows it.
struct Processor {
  std::string_view name;            // "gfx1100"
  std::uint32_t elf_mach;           // EF_AMDGPU_MACH
  std::string_view generic_family;  // "gfx11-generic"; empty where there is none
  bool has_sramecc;                 // the target may say ":sramecc+" or ":sramecc-"
  bool has_xnack;
  std::uint8_t wave_width;          // the default: 64 on GCN and CDNA, 32 on RDNA
};
std::span<const Processor> processors();                 // sorted by name
const Processor* find_processor(std::string_view name);  // null: no such processor
const Processor* find_processor(std::uint32_t elf_mach);

// One compute capability that a CUDA toolkit knows, or knew.
struct NvidiaChip {
  int compute_capability;  // 10 * major + minor: 90, 121
  bool has_own;            // "sm_90a": code for this chip alone
  int family;              // "sm_100f": for later chips of the family too; 0: no such target
};
std::span<const NvidiaChip> nvidia_chips();  // sorted
const NvidiaChip* find_nvidia_chip(int compute_capability);

}  // namespace kiln
