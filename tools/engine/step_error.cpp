#include "tools/engine/step_error.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/parse_integer.hpp"
#include "base/text.hpp"
#include "tools/engine/computed_include.hpp"
#include "tools/system/own_folder.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

// True if the host compiler's log shows words that only CUDA compilers know.
bool is_plain_cuda(std::string_view log) {
  const auto has = [&](std::string_view text) { return log.find(text) != std::string_view::npos; };
  if (has("platform.cuh")) return false;
  return has("__global__") || has("cuda_fp16.h") || has("cuda_bf16.h") || has("cuda_runtime.h");
}

struct Word {
  std::string_view cuda, kiln;
};

// kiln's replacements for CUDA's words on the host. docs/HOST.md has the whole table.
constexpr std::array<Word, 10> kWords = {
    {{"__shared__", "KILN_SHARED(tile, float[256])"},
     {"__device__", "KILN_DEVICE"},
     {"__syncthreads", "kiln::device::barrier()"},
     {"threadIdx", "kiln::device::thread_index()"},
     {"blockIdx", "kiln::device::block_index()"},
     {"blockDim", "kiln::device::block_size()"},
     {"gridDim", "kiln::device::block_count()"},
     {"atomicAdd", "kiln::device::atomic_sum() of device/atomics.cuh"},
     {"__shfl_down_sync", "device/wave.cuh"},
     {"__shfl_xor_sync", "device/wave.cuh"}}};

// Replacements for the words that the log complains about: "__shared__: KILN_SHARED(tile,
// float[256])".
std::string kiln_for_cuda(std::string_view log) {
  std::vector<std::string> found;
  for (const Word& word : kWords) {
    if (log.find(quote(word.cuda)) == std::string_view::npos) continue;
    found.push_back(std::string(word.cuda) + ": " + std::string(word.kiln));
  }
  return join(found, "; ");
}

// Returns the header that the compiler did not find, or an empty string. Clang prints "a.cu:1:10:
// fatal error: 'b.cuh' file not found", GCC and nvcc "a.cu:1:10: fatal error: b.cuh: No such file
// or directory".
std::string_view missing_header(std::string_view log) {
  constexpr std::string_view kError = "fatal error: ";
  const std::size_t error = log.find(kError);
  if (error == std::string_view::npos) return {};
  std::string_view line = log.substr(error + kError.size());
  line = line.substr(0, line.find('\n'));
  if (line.starts_with('\'') && line.ends_with("' file not found")) return line.substr(1, line.rfind('\'') - 1);
  return line.ends_with(": No such file or directory") ? line.substr(0, line.rfind(':')) : std::string_view();
}

// True if the tool could not write for lack of space, or of the user's share of it.
bool is_disk_full(std::string_view log) {
  return log.find("No space left on device") != std::string_view::npos ||
         log.find("Disk quota exceeded") != std::string_view::npos;
}

// Returns the path relative to `here` if it lies below it, and the whole path otherwise.
std::string path_seen_from(const fs::path& here, const fs::path& path) {
  const fs::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

// Rewrites a line of a compiler so that the file that it is about is named relative to `here`:
// "dir/a.cu:3:5: error", "a.cu(3): error", "In file included from a.cu:3,".
std::string line_seen_from(const fs::path& here, std::string_view line, const Plan& plan, const Files& files) {
  constexpr std::string_view kFrom = "from ";
  const std::size_t blank = line.find_first_not_of(' ');
  std::size_t begin = 0;
  if (blank != 0 || line.starts_with("In file included ")) {
    const std::size_t from = line.find(kFrom);
    if (from == std::string_view::npos) return std::string(line);
    begin = from + kFrom.size();
  }
  const std::size_t end = line.find_first_of(":(,", begin);
  if (end == std::string_view::npos || end == begin || line[begin] == '/') return std::string(line);
  const fs::path path = (plan.source_root / line.substr(begin, end - begin)).lexically_normal();
  if (files.kind(path) != PathKind::kFile) return std::string(line);
  std::string text(line.substr(0, begin));
  return text.append(path_seen_from(here, path)).append(line.substr(end));
}

std::string seen_from(const fs::path& here, std::string_view log, const Plan& plan, const Files& files) {
  if (here == plan.source_root) return std::string(log);
  std::vector<std::string> lines;
  for (const std::string_view line : split(log, '\n')) {
    lines.push_back(line_seen_from(here, line, plan, files));
  }
  return join(lines, "\n");
}

// Returns the number between the last `open` in `text` and its end, and cuts it off. Returns 0 if
// there is none.
std::uint32_t cut_number(std::string_view& text, char open) {
  const std::size_t at = text.rfind(open);
  if (at == std::string_view::npos) return 0;
  const auto number = parse_integer<std::uint32_t>(text.substr(at + 1));
  if (!number) return 0;
  text = text.substr(0, at);
  return *number;
}

// Returns the location of the compiler's first error: GCC and Clang print "a.cu:3:5: error: ...",
// nvcc "a.cu(3): error: ...".
Location first_error(std::string_view log) {
  for (const std::string_view line : split(log, '\n')) {
    for (const std::string_view word : {": error: ", ": fatal error: "}) {
      std::string_view position = line.substr(0, std::min(line.find(word), line.size()));
      if (position.size() == line.size()) continue;
      Location where;
      if (position.ends_with(')')) {
        position.remove_suffix(1);
        where.line = cut_number(position, '(');
      } else {
        where.column = cut_number(position, ':');
        where.line = cut_number(position, ':');
        if (where.line == 0) std::swap(where.line, where.column);
      }
      where.file = position;
      if (where.line != 0) return where;
    }
  }
  return {};
}

constexpr std::string_view kPrinted = " printed:\n";

}  // namespace

bool is_printed(const Note& note) { return note.text.find(kPrinted) < note.text.find('\n'); }

std::string log_for_user(std::string_view log, const BuildContext& context, const Files& files) {
  return seen_from(context.environment.current_directory, log, context.plan, files);
}

Error step_error(const Step& step, const BuildContext& context, const Files& files, std::string message,
                 std::string_view log) {
  const Plan& plan = context.plan;
  Error error;
  error.code = ErrorCode::kBuildFailed;
  error.message = quote(step.id) + " failed: " + std::move(message);
  const std::string_view text = trim(log);
  if (!text.empty()) {
    const std::string seen = log_for_user(text, context, files);
    error.where = first_error(seen);
    error.note(std::string(to_string(step.tool)) + std::string(kPrinted) + seen);
  }
  if (step.tool == ToolKind::kHipCompiler) {
    error.note("what was compiled is what hipify-perl made of the sources, in " +
               (plan.out_root / "hip").string());
  }
  error.note("command, run in " + plan.source_root.string() + ":\n  " +
             shell_line(command_line(step, plan)));
  if (is_disk_full(text)) return error.hint("free some disk space and run the command again");
  const std::string_view header = missing_header(text);
  if (!header.empty() && files.kind(kernels_folder() / header) == PathKind::kFile) {
    return error.hint(quote(header) +
                      " is kiln's own: add \"{kiln}\" to \"include_directories\" in the manifest");
  }
  if (!header.empty() &&
      is_unconverted(header, context.environment.current_directory / error.where.file, step, plan,
                     files)) {
    error.note(quote(header) +
               " is not converted for AMD: it is included by a name that kiln cannot tell");
    explain_computed_include(error, header);
  }
  if (step.tool == ToolKind::kHostCompiler && is_plain_cuda(text)) {
    error.hint(
        "the host takes no plain CUDA, but sources that include device/platform.cuh and spell "
        "kernels with KILN_KERNEL: " + page("HOST.md"));
    error.hint(
        "without a GPU, plain CUDA runs on an emulated one: build for --target gfx1100, run with "
        "KILN_DEVICE=emulated:gfx1100");
  } else if (step.tool == ToolKind::kHostCompiler && !kiln_for_cuda(text).empty()) {
    error.hint("on every target, in place of " + kiln_for_cuda(text) + "; " + page("HOST.md") + " has more");
  }
  if (step.kind == StepKind::kJoin) {
    error.hint(
        "'joined_ptx' compiles all sources of the module as one: a header that several of them "
        "include needs '#pragma once', and each name may have one meaning");
  }
  for (const std::string& word : step.argv) {
    if (!word.starts_with('-') || word.find(" -") == std::string::npos) continue;
    error.hint(quote(word) + " is one word to a compiler: in the manifest, each option is an entry of its own");
  }
  return error;
}

}  // namespace kiln::tools
