// The commands that make images from sources, and the commands for Ninja files.
#include <set>

#include "tools/cli/program.hpp"

namespace kiln::tools {
namespace {

constexpr unsigned kMaxJobs = 1024;

void add_selection(CLI::App& command, Selection& selection) {
  command.add_option("MANIFEST", selection.manifest, "What to build (default: targets.json)");
  command.add_option("--out", selection.out, "The folder to build in (default: out)")
      ->type_name("DIR");
  command
      .add_option("--target", selection.targets,
                  "Build for this target, instead of the manifest's; may be repeated")
      ->type_name("TARGET")
      ->expected(1)
      ->take_all();
  command.add_option("--module", selection.modules, "Build this module alone; may be repeated")
      ->type_name("MODULE")
      ->expected(1)
      ->take_all();
  command.add_flag_callback(
      "--allow-missing", [&selection] { selection.missing_targets = MissingTargets::kLeaveOut; },
      "Leave out targets whose tools this machine lacks, instead of failing");
}

// Option values of `build` that need more than CLI11's parsing. Empty if not given.
struct BuildWords {
  BuildOptions options;
  std::optional<std::string> jobs, embed, compression, embed_source;
  std::vector<std::string> outputs;
  bool amalgamate = false;
};

Result<unsigned> parse_jobs(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 4 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned jobs = is_number ? static_cast<unsigned>(std::stoul(text)) : 0;
  if (jobs == 0 || jobs > kMaxJobs) {
    return usage_error("--jobs cannot be " + quote(text))
        .hint("it is a number from 1 to " + std::to_string(kMaxJobs));
  }
  return jobs;
}

Result<std::vector<EmbedOutput>> parse_outputs(const BuildWords& words) {
  std::set<EmbedOutput> outputs;
  for (const std::string& word : words.outputs) {
    if (word == "python") return usage_error("--emit cannot be 'python'").hint(kEmitForPython);
    KILN_TRY_ASSIGN(const EmbedOutput output, choice("--emit", word, kEmitWords));
    outputs.insert(output);
  }
  if (words.amalgamate) outputs.insert(EmbedOutput::kAmalgamation);
  return std::vector<EmbedOutput>(outputs.begin(), outputs.end());
}

Result<Invocation> finish_build(const BuildWords& words) {
  BuildOptions options = words.options;
  if (words.jobs) {
    KILN_TRY_ASSIGN(options.jobs, parse_jobs(*words.jobs));
  }
  if (words.embed) {
    KILN_TRY_ASSIGN(options.embed, choice("--embed", *words.embed, kEmbedModeWords));
  }
  KILN_TRY_ASSIGN(options.outputs, parse_outputs(words));
  if (words.compression) {
    KILN_TRY_ASSIGN(options.compression,
                    choice("--compress", *words.compression, kCompressionWords));
  }
  if (words.embed_source) {
    KILN_TRY_ASSIGN(options.embed_source,
                    choice("--embed-source", *words.embed_source, kEmbedSourceWords));
  }
  return Invocation(std::move(options));
}

}  // namespace

Subcommand declare_build(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "build", "Compile every module for every target; write images, bundles, catalog and header");
  const auto words = std::make_shared<BuildWords>();
  BuildOptions& options = words->options;
  add_selection(command, options.selection);
  command.add_option("-j,--jobs", words->jobs, "Steps at a time (default: one per core)")
      ->type_name("N");
  command.add_flag("--keep-going", options.keep_going,
                   "After a failed step, still run all steps that do not need it");
  command.add_flag("--json", options.json, "Print the result as JSON");
  command.add_flag("--explain", options.explain, "Say for each step why it runs");
  command.add_flag("--dry-run", options.dry_run, "Say which steps would run, and why; run none");
  command.add_flag("--no-cache", options.no_cache,
                   "Neither read nor write the cache that all builds of a user share");
  command
      .add_option("--depfile", options.depfile,
                  "Write what the header's stamp depends on, for make and ninja")
      ->type_name("FILE");
  command
      .add_option("--trace", options.trace, "Write what ran when, for chrome://tracing or Perfetto")
      ->type_name("FILE");
  command
      .add_option("--locked", options.locked,
                  "Refuse to make anything but what this file says; 'kiln lock' writes it")
      ->type_name("FILE");
  command
      .add_option("--embed", words->embed,
                  "Where the bytes of the images lie (default: the manifest's)")
      ->type_name(help_of(kEmbedModeWords));
  command
      .add_option("--emit", words->outputs,
                  "What to write for programs (default: the manifest's, else cpp); may be repeated")
      ->type_name(help_of(kEmitWords))
      ->expected(1)
      ->take_all();
  command.add_flag(
      "--amalgamate", words->amalgamate,
      "Write <stem>_amalgamated.hpp, a C++ header with kiln's loader in it, instead of the "
      "header, or beside what --emit says");
  command.add_option("--namespace", options.name_space, "The header's C++ namespace")
      ->type_name("NS");
  command.add_option("--compress", words->compression, "How the images are stored in the header")
      ->type_name(help_of(kCompressionWords));
  command
      .add_flag("--embed-source{beside}", words->embed_source,
                "Put the sources into the header too, for the runtime to compile; "
                "=instead leaves the images out")
      ->type_name(help_of(kEmbedSourceWords));
  command.footer(
      "Example: everything, then one module for one GPU\n"
      "  kiln build targets.json --out out\n"
      "  kiln build targets.json --out out --module affine --target sm_90");
  return {"build", [words] { return finish_build(*words); }};
}

Subcommand declare_plan(Program& program) {
  CLI::App& command =
      *program.app.add_subcommand("plan", "Print the steps that build would run; run none");
  const auto options = std::make_shared<PlanOptions>();
  add_selection(command, options->selection);
  CLI::Option* json = command.add_flag("--json", options->json, "Print the steps as JSON");
  command
      .add_option("--ninja", options->ninja,
                  "Write the steps as a Ninja file, which ninja then runs")
      ->type_name("FILE")
      ->excludes(json);
  command.footer(
      "Example: what is run for one GPU; then all steps, run by ninja\n"
      "  kiln plan targets.json --target gfx1100\n"
      "  kiln plan targets.json --ninja build.ninja && ninja");
  return parsed_command(command, options);
}

Subcommand declare_step(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "step", "Run one step of a plan, as the Ninja file of 'kiln plan --ninja' does");
  const auto options = std::make_shared<StepOptions>();
  command
      .add_option("--src", options->source_root, "The folder of the manifest (default: this one)")
      ->type_name("DIR");
  command.add_option("--out", options->out, "The out folder (default: out)")->type_name("DIR");
  command.add_option("--kind", options->kind, "What it does")
      ->type_name("hipify|compile|bundle|fatbin|join")
      ->required();
  command.add_option("--tool", options->tool, "Which tool the command runs: nvcc, hipcc, ...")
      ->type_name("NAME")
      ->required();
  command.add_option("--id", options->id, "What messages call it")->type_name("TEXT")->required();
  command.add_option("--output", options->output, "What it makes, below the out folder")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--depfile", options->depfile, "Where it says what it read, below the out folder")
      ->type_name("FILE");
  command.add_option("--source", options->source, "What a hipify step converts")->type_name("FILE");
  command
      .add_option("--converted", options->converted,
                  "A file made by a hipify step that it may read; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  command
      .add_option("--set", options->variables,
                  "A variable of the command's environment, NAME=VALUE; may be repeated")
      ->type_name("VARIABLE")
      ->expected(1)
      ->take_all();
  command.add_option("COMMAND", options->command, "After --, the tool and its arguments");
  command.footer(
      "Example: one image, as a line of that file makes it\n"
      "  kiln step --kind compile --tool nvcc --id 'compile fill sm_80' --output "
      "out/images/fill/sm_80.cubin \\\n"
      "    -- nvcc -cubin -arch=sm_80 -o out/images/fill/sm_80.cubin fill.cu");
  return {"step", [options, &program]() -> Result<Invocation> {
            if (!program.tool_words.empty()) options->command = program.tool_words;
            if (options->command.empty()) {
              return usage_error("'kiln step' was given no command").hint("it follows --");
            }
            return Invocation(*options);
          }};
}

Subcommand declare_assemble(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "assemble", "Write catalog and header of images that ninja has made; run no tool");
  const auto options = std::make_shared<AssembleOptions>();
  add_selection(command, options->selection);
  command.footer(
      "Example: what the Ninja file of 'kiln plan --ninja' runs at its end\n"
      "  kiln assemble targets.json --out out");
  return parsed_command(command, options);
}

}  // namespace kiln::tools
