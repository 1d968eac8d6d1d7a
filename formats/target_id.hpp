// Names of targets: in manifests, of images, and as reported by devices.
//
//   target    = amd | nvidia | host
//   amd       = processor [":sramecc" sign] [":xnack" sign]     features in any order when read
//   processor = "gfx" hex-digits | "gfx" family "-generic"      gfx90a  gfx1100  gfx11-generic
//   nvidia    = "sm_" digits [suffix] | "compute_" digits [suffix]        sm_90a  compute_80
//   host      = "host" [":wave64"]
//
// A name is not valid by its form alone: tables list the processors and their generic families
// (processors(), nvidia_chips() below). Specs: LLVM, "User Guide for AMDGPU Backend", sections
// Processors and Target ID; CUDA, "nvcc", section GPU Feature List.
//
// compatibility.hpp decides which image runs on which device.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln {

enum class TargetKind : std::uint8_t { kAmd, kCubin, kPtx, kHost };

// An AMD feature of a target. kAny means that the image runs with the feature on or off.
enum class Feature : std::uint8_t { kAny, kOff, kOn };

struct TargetId {
  TargetKind kind = TargetKind::kAmd;
  std::string processor;  // "gfx90a", "gfx11-generic", "sm_90a", "compute_80", "host"
  Feature sramecc = Feature::kAny;
  Feature xnack = Feature::kAny;
  bool wave64 = false;  // only for host: 64 lanes per wave instead of 32

  auto operator<=>(const TargetId&) const = default;

  bool is_generic() const;         // gfx11-generic
  int compute_capability() const;  // NVIDIA: 90 for sm_90a; otherwise 0
  char nvidia_suffix() const;      // 'a' (only this chip), 'f' (its family), or NUL
};

// Parses a target. The error names the text and the nearest known target.
Result<TargetId> parse_target_id(std::string_view text);

// Returns the canonical spelling: features in the order sramecc, xnack; "gfx90a:sramecc-:xnack+".
std::string to_string(const TargetId& target);

// Returns a spelling for file names: only letters, digits, '.', '_' and '-'. Distinct targets have
// distinct names: "gfx90a:sramecc-:xnack+" -> "gfx90a.sramecc-off.xnack-on".
std::string file_name(const TargetId& target);

// One AMD processor as LLVM knows it.
struct Processor {
  std::string_view name;            // "gfx1100"
  std::uint32_t elf_mach;           // EF_AMDGPU_MACH
  std::string_view generic_family;  // "gfx11-generic"; empty if there is none
  bool has_sramecc;                 // the target may say ":sramecc+" or ":sramecc-"
  bool has_xnack;
  std::uint8_t wave_width;          // the default: 64 on GCN and CDNA, 32 on RDNA
};
std::span<const Processor> processors();                 // sorted by name
const Processor* find_processor(std::string_view name);  // null: no such processor
const Processor* find_processor(std::uint32_t elf_mach);

// A compute capability that some CUDA toolkit supports.
struct NvidiaChip {
  int compute_capability;  // 10 * major + minor: 90, 121
  bool has_arch_specific;  // "sm_90a": code for only this chip
  int family;              // "sm_100f": code also for later chips of the family; 0: no such target
};
std::span<const NvidiaChip> nvidia_chips();  // sorted
const NvidiaChip* find_nvidia_chip(int compute_capability);

}  // namespace kiln
