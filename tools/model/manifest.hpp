// The manifest: what to build, as the user wrote it, checked.
//
// Every value keeps the place it was written at, so that a later stage can point at it. Produced by
// stages/parse_manifest; nothing changes it afterwards.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "base/words.hpp"
#include "formats/target_id.hpp"
#include "kiln/catalog.hpp"
#include "kiln/result.hpp"
#include "tools/model/kernel.hpp"
#include "tools/model/limits.hpp"
#include "tools/model/toolchain.hpp"

namespace kiln::tools {

// A value and where it stands.
template <typename T>
struct Located {
  T value{};
  Location where;
};

enum class DebugInfo : std::uint8_t { kNone, kLines, kFull };
inline constexpr Words<DebugInfo, 3> kDebugInfoWords = {
    {{"none", DebugInfo::kNone}, {"lines", DebugInfo::kLines}, {"full", DebugInfo::kFull}}};
enum class EmbedMode : std::uint8_t { kArray, kAsm, kSplit };
inline constexpr Words<EmbedMode, 3> kEmbedModeWords = {
    {{"array", EmbedMode::kArray}, {"asm", EmbedMode::kAsm}, {"split", EmbedMode::kSplit}}};
// What a build writes for programs: the C++ header, the C header, the Rust module, the catalog file.
enum class EmbedOutput : std::uint8_t { kCpp, kC, kRust, kCatalog, kAmalgamation };
inline constexpr Words<EmbedOutput, 5> kEmbedOutputWords = {{{"cpp", EmbedOutput::kCpp},
                                                             {"c", EmbedOutput::kC},
                                                             {"rust", EmbedOutput::kRust},
                                                             {"catalog", EmbedOutput::kCatalog},
                                                             {"amalgamation", EmbedOutput::kAmalgamation}}};
// Those of a manifest and of --emit; the last has an option of its own.
inline constexpr auto kEmitWords = std::span(kEmbedOutputWords).first<4>();
inline constexpr const char* kEmitForPython = "Python reads the catalog file: 'catalog'";  // a hint
// Whether the header holds what a module is compiled from, for the runtime to compile.
enum class EmbedSource : std::uint8_t { kNone, kBeside, kInstead };  // ... of the images
inline constexpr Words<EmbedSource, 3> kEmbedSourceWords = {
    {{"none", EmbedSource::kNone}, {"beside", EmbedSource::kBeside}, {"instead", EmbedSource::kInstead}}};
inline constexpr Words<Compression, 2> kCompressionWords = {{{"zstd", Compression::kZstd}, {"none", Compression::kNone}}};

// The include directory that stands for the folder of kiln's own kernels, with device/platform.cuh; commands
// put the folder in its place.
inline constexpr std::string_view kKilnsOwnHeaders = "{kiln}";

// Options that reach a compiler. A module's are added after the manifest's own.
struct CompileOptions {
  std::vector<Located<std::string>> include_directories;  // relative to the manifest
  std::vector<Located<std::string>> defines;              // "NAME" or "NAME=VALUE"
  std::vector<Located<std::string>> flags;                // for every compiler
  std::vector<Located<std::string>> amd_flags;            // hipcc / clang only
  std::vector<Located<std::string>> nvidia_flags;         // nvcc only
  std::vector<Located<std::string>> host_flags;           // the host's own compiler only
};

// Whether a module of several sources also gets one PTX of them all, for loaders that take one text.
enum class JoinedPtx : bool { kNo, kYes };

// How many of the kernels that the abi files list for a module its images must export.
enum class AbiCoverage : bool { kAll, kSome };

struct ModuleSpec {
  Located<std::string> name;                        // an identifier
  std::vector<Located<std::string>> sources;        // relative to the manifest; at least one
  std::vector<Located<TargetId>> targets;           // empty: the manifest's
  CompileOptions options;
  AbiCoverage coverage = AbiCoverage::kAll;
  Budgets budgets = {};
};

struct EmbedOptions {
  std::string header = "kernels.hpp";  // file name, under out/include; the others have its stem
  std::string name_space = "kernels";
  EmbedMode mode = EmbedMode::kArray;
  std::vector<EmbedOutput> outputs = {EmbedOutput::kCpp};  // sorted, each once; at least one
  Compression compression = Compression::kZstd;
  EmbedSource source = EmbedSource::kNone;
};

// The versions of a tool that the manifest allows; an empty bound is none.
struct ToolBounds {
  ToolKind tool = ToolKind::kNvcc;
  Located<std::string> least, greatest;
};

struct Manifest {
  std::filesystem::path path;       // as given on the command line
  std::filesystem::path directory;  // what relative paths are relative to
  Located<std::string> name;        // an identifier
  std::vector<Located<TargetId>> targets;
  std::vector<ModuleSpec> modules;  // sorted by name
  CompileOptions options;
  DebugInfo debug = DebugInfo::kNone;
  JoinedPtx joined_ptx = JoinedPtx::kNo;
  EmbedOptions embed;
  std::vector<Located<std::string>> abi_paths;
  std::map<std::string, std::vector<AbiKernel>> abi;  // by module, kernels sorted by name
  std::uint32_t minimum_runtime = 0;                  // KILN_VERSION form; 0: any
  Floors floors;
  Budgets budgets;
  std::vector<ToolBounds> tool_bounds;
  // The files that all this was read from, as the manifest spells them, with digests of what was
  // read.
  std::map<std::string, Digest> read;
};

// What a module is built for: its own targets, or else the manifest's.
inline const std::vector<Located<TargetId>>& targets_of(const Manifest& manifest,
                                                        const ModuleSpec& module) {
  return module.targets.empty() ? manifest.targets : module.targets;
}

}  // namespace kiln::tools
