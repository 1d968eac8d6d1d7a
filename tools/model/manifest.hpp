// The manifest: what to build, as the user wrote it, checked.
//
// Every value keeps its place in the file, so that later stages can point at it.
// stages/parse_manifest makes it; it does not change afterwards.
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

// A value and its place in the file.
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
// The outputs of a build for programs: the C++ header, the C header, the Rust module, the catalog
// file, or one header that contains the loader.
enum class EmbedOutput : std::uint8_t { kCpp, kC, kRust, kCatalog, kAmalgamation };
inline constexpr Words<EmbedOutput, 5> kEmbedOutputWords = {{{"cpp", EmbedOutput::kCpp},
                                                             {"c", EmbedOutput::kC},
                                                             {"rust", EmbedOutput::kRust},
                                                             {"catalog", EmbedOutput::kCatalog},
                                                             {"amalgamation", EmbedOutput::kAmalgamation}}};
// The words of the manifest and of --emit. The last output has an option of its own.
inline constexpr auto kEmitWords = std::span(kEmbedOutputWords).first<4>();
inline constexpr const char* kEmitForPython = "Python reads the catalog file: 'catalog'";  // a hint
// Selects whether the header contains the source of modules, for the runtime to compile: not at
// all, in addition to the images, or instead of them.
enum class EmbedSource : std::uint8_t { kNone, kBeside, kInstead };
inline constexpr Words<EmbedSource, 3> kEmbedSourceWords = {
    {{"none", EmbedSource::kNone}, {"beside", EmbedSource::kBeside}, {"instead", EmbedSource::kInstead}}};
inline constexpr Words<Compression, 2> kCompressionWords = {{{"zstd", Compression::kZstd}, {"none", Compression::kNone}}};

// Stands for the folder of kiln's own kernels, with device/platform.cuh, in include directories.
// Commands replace it by the folder.
inline constexpr std::string_view kKilnsOwnHeaders = "{kiln}";

// Options for compilers. A module's options follow the manifest's.
struct CompileOptions {
  std::vector<Located<std::string>> include_directories;  // relative to the manifest
  std::vector<Located<std::string>> defines;              // "NAME" or "NAME=VALUE"
  std::vector<Located<std::string>> flags;                // for every compiler
  std::vector<Located<std::string>> amd_flags;            // hipcc / clang only
  std::vector<Located<std::string>> nvidia_flags;         // nvcc only
  std::vector<Located<std::string>> host_flags;           // only for the host's compiler
};

// Selects whether a module with several sources also gets one joined PTX, for loaders that take one
// text.
enum class JoinedPtx : bool { kNo, kYes };

// Selects whether a module's images must export all kernels that the abi files list for the module,
// or only some.
enum class AbiCoverage : bool { kAll, kSome };

struct ModuleSpec {
  Located<std::string> name;                        // an identifier
  std::vector<Located<std::string>> sources;        // relative to the manifest; at least one
  std::vector<Located<TargetId>> targets;           // empty: the manifest's targets
  CompileOptions options;
  AbiCoverage coverage = AbiCoverage::kAll;
  Budgets budgets = {};
};

struct EmbedOptions {
  // file name below out/include; other files have the same stem
  std::string header = "kernels.hpp";
  std::string name_space = "kernels";
  EmbedMode mode = EmbedMode::kArray;
  // sorted, without duplicates; at least one
  std::vector<EmbedOutput> outputs = {EmbedOutput::kCpp};
  Compression compression = Compression::kZstd;
  EmbedSource source = EmbedSource::kNone;
};

// The versions of a tool that the manifest allows. An empty bound is no limit.
struct ToolBounds {
  ToolKind tool = ToolKind::kNvcc;
  Located<std::string> min, max;
};

struct Manifest {
  std::filesystem::path path;       // as given on the command line
  std::filesystem::path directory;  // base of relative paths
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
  // The files that were read, as the manifest spells them, with digests of their content.
  std::map<std::string, Digest> read;
};

// Returns the targets of a module: its own, or the manifest's if it has none.
inline const std::vector<Located<TargetId>>& targets_of(const Manifest& manifest,
                                                        const ModuleSpec& module) {
  return module.targets.empty() ? manifest.targets : module.targets;
}

}  // namespace kiln::tools
