// The commands about this machine: its tools, its cache, its emulated GPUs, its source folders.
#include <array>

#include "base/parse_integer.hpp"
#include "tools/cli/program.hpp"

namespace kiln::tools {
namespace {

constexpr Words<CacheAction, 3> kCacheActionWords = {
    {{"show", CacheAction::kShow}, {"trim", CacheAction::kTrim}, {"clear", CacheAction::kClear}}};

// Parses "256", "16,16" or "8,8,4".
Result<std::array<std::uint32_t, 3>> parse_sizes(const std::string& option, const std::string& text) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  const std::vector<std::string_view> parts = split(text, ',');
  bool fits = parts.size() <= result.size();
  for (std::size_t i = 0; fits && i < parts.size(); ++i) {
    result[i] = parse_integer<std::uint32_t>(parts[i]).value_or(0);
    fits = result[i] > 0;
  }
  if (!fits) return usage_error(option + " cannot be " + quote(text)).hint("it is X, X,Y or X,Y,Z: numbers from 1 to 4294967295");
  return result;
}

}  // namespace

Subcommand declare_doctor(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "doctor", "Show the tools found, what they can build, and how to install what is missing");
  const auto options = std::make_shared<DoctorOptions>();
  command.add_option("MANIFEST", options->manifest,
                     "Whose targets to check (default: targets.json, where there is one)");
  command.add_flag("--json", options->json, "Print the findings as JSON");
  command.footer("Example:\n  kiln doctor targets.json");
  return parsed_command(command, options);
}

Subcommand declare_cache(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "cache", "Show, trim or clear the cache of step outputs that all builds share");
  const auto options = std::make_shared<CacheOptions>();
  const auto action = std::make_shared<std::string>("show");
  command.add_option("ACTION", *action, "show (default), trim or clear")->type_name(help_of(kCacheActionWords));
  command.add_option("--size", options->size, "Trim to this size (default: KILN_CACHE_SIZE)")
      ->type_name("SIZE");
  command.add_option("--age", options->age, "Trim what was last used before that: 30d, 12h, 90m")
      ->type_name("AGE");
  command.add_flag("--json", options->json, "Print what it holds and was asked as JSON");
  command.footer(
      "KILN_CACHE=off turns it off, KILN_CACHE_SIZE=4G sets its limit, KILN_CACHE_DIR its place.\n"
      "KILN_CACHE_URL names an HTTP cache behind it, KILN_CACHE_HTTP=read only reads that one.\n"
      "Example:\n  kiln cache trim --size 500M --age 30d");
  return {"cache", [options, action]() -> Result<Invocation> {
            KILN_TRY_ASSIGN(options->action, choice("the action", *action, kCacheActionWords));
            if (options->action != CacheAction::kTrim && !(options->size.empty() && options->age.empty())) {
              return usage_error("--size and --age say how far 'kiln cache trim' trims")
                  .hint("did you mean 'kiln cache trim'?");
            }
            return Invocation(*options);
          }};
}

Subcommand declare_run(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "run", "Run one kernel of an AMD code object on an emulated GPU, or list its kernels");
  struct RunWords {
    RunOptions options;
    std::optional<std::string> grid, block;
  };
  const auto words = std::make_shared<RunWords>();
  RunOptions& options = words->options;
  command.add_option("FILE", options.file, "A .hsaco file")->required();
  command.add_option("KERNEL", options.kernel, "The kernel; without one, all are listed");
  command.add_option("ARG", options.arguments, "Its arguments, in order");
  command.add_option("-g,--grid", words->grid, "Workgroups")->type_name("X[,Y[,Z]]");
  command.add_option("-b,--block", words->block, "Threads in a workgroup")->type_name("X[,Y[,Z]]");
  command.add_option("--lds", options.dynamic_lds, "Bytes of LDS beyond the kernel's own");
  command.add_option("--threads", options.threads, "CPU threads (default: one a core)");
  command.add_flag("--check", options.check, "Look for uninitialised values, races and divergent barriers");
  command.add_option("--seed", options.seed, "Run the waves of a workgroup in random order and turns");
  command.add_option("--limit", options.instruction_limit, "Instructions that a workgroup may take");
  command.footer(
      "ARG is TYPE:VALUE, hex:BYTES, null, or buf:TYPE:COUNT:CONTENTS[@OUTPUT]\n"
      "  TYPE      i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
      "  CONTENTS  zeros ones const=V arange rand[=SEED] randint=LO,HI[,SEED] file=PATH none\n"
      "  OUTPUT    a file for the bytes that the kernel left, or - to print them\n"
      "Example: out[i] = value, 8 times\n"
      "  kiln run out/images/fill/gfx1100.hsaco fill_f32 -b 32 buf:f32:8:none@- f32:1.5 u64:8");
  return {"run", [words]() -> Result<Invocation> {
            RunOptions result = words->options;
            if (words->grid) {
              KILN_TRY_ASSIGN(result.grid, parse_sizes("--grid", *words->grid));
            }
            if (words->block) {
              KILN_TRY_ASSIGN(result.block, parse_sizes("--block", *words->block));
            }
            return Invocation(std::move(result));
          }};
}

Subcommand declare_init(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "init", "Write a manifest and a first program for the sources of a folder, or a first kernel");
  const auto options = std::make_shared<InitOptions>();
  command.add_option("DIR", options->folder, "The folder (default: this one)");
  command.footer("Example: a kernel of one's own, built\n  kiln init demo && cd demo && kiln build --allow-missing");
  return parsed_command(command, options);
}

}  // namespace kiln::tools
