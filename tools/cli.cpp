#include "tools/cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "kiln/version.hpp"
#include "tools/cli_text.hpp"
#include "tools/revision.hpp"

namespace kiln::tools {
namespace {

constexpr unsigned kMostJobs = 1024;

std::string version_text() {
  return "kiln " + std::to_string(KILN_VERSION_MAJOR) + "." + std::to_string(KILN_VERSION_MINOR) +
         "." + std::to_string(KILN_VERSION_PATCH) + " (" + std::string(source_revision()) + ")\n";
}

Error usage_error(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

template <typename Value>
Result<Value> choice(const std::string& option, const std::string& text,
                     const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(name);
  }
  Error error = usage_error(option + " cannot be " + quote(text));
  const std::string near = nearest(text, names);
  return error.hint(near.empty() ? "it is one of " + join(names, ", ")
                                 : "did you mean " + quote(near) + "?");
}

// "256", "16,16", "8,8,4"
Result<std::array<std::uint32_t, 3>> sizes(const std::string& option, const std::string& text) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  const std::vector<std::string_view> parts = split(text, ',');
  bool fits = parts.size() <= result.size();
  for (std::size_t i = 0; fits && i < parts.size(); ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [rest, error] = std::from_chars(parts[i].data(), end, result[i]);
    fits = error == std::errc{} && rest == end && result[i] > 0;
  }
  if (!fits) return usage_error(option + " cannot be " + quote(text)).hint("it is X, X,Y or X,Y,Z");
  return result;
}

Error unknown_command(const std::string& command, const std::vector<std::string>& names) {
  Error error = usage_error("unknown command " + quote(command));
  const std::string near = nearest(command, names);
  return error.hint(near.empty() ? "the commands are " + join(names, ", ")
                                 : "did you mean " + quote(near) + "?");
}

// All the options, filled by CLI11 through references, so this object outlives parsing.
struct CommandLine {
  CLI::App app{"Builds GPU kernels for every target of a manifest and embeds them in one C++ header.",
               "kiln"};
  BuildOptions build;
  PlanOptions plan;
  DoctorOptions doctor;
  InspectOptions inspect;
  CacheOptions cache;
  RunOptions run;
  MergeOptions merge;
  StripOptions strip;
  VerifyOptions verify;
  DiffOptions diff;
  ReportOptions report;
  InitOptions init;
  StepOptions step;
  AssembleOptions assemble;
  LockOptions lock;
  std::string doctor_manifest, asked_command, shell;
  std::string own_help;  // before anything was parsed: then it would be that of the command
  std::string cache_action = "show";
  bool allow_missing = false;
  std::string jobs, embed, name_space, compression, embed_source;
  std::vector<std::string> outputs;
  bool amalgamate = false;
  std::string grid = "1", block;

  CommandLine() {
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text());
    app.footer("Example:\n  kiln build targets.json --out out\n\nEach command explains itself: kiln build --help");
    declare_build();
    declare_plan();
    declare_ninja_steps();
    declare_doctor();
    declare_inspect();
    declare_lock();
    declare_verify();
    declare_diff();
    declare_report();
    declare_merge();
    declare_cache();
    declare_run();
    declare_init();
    declare_texts();
    own_help = app.help();
  }

  void declare_init() {
    CLI::App& command = *app.add_subcommand(
        "init", "Write a manifest and a first program for the sources of a folder, or a first kernel");
    command.add_option("DIR", init.folder, "The folder (default: this one)");
    command.footer("Example: a kernel of one's own, built and run\n  kiln init demo && kiln build demo/targets.json");
  }

  void declare_texts() {
    CLI::App& help = *app.add_subcommand("help", "Explain a command");
    help.add_option("COMMAND", asked_command, "Which one; without it, all are listed");
    CLI::App& completion =
        *app.add_subcommand("completions", "Print what lets a shell complete kiln's command line");
    completion.add_option("SHELL", shell, "bash, zsh or fish")->type_name("bash|zsh|fish")->required();
    completion.footer("Example:\n  kiln completions bash > ~/.local/share/bash-completion/completions/kiln");
    CLI::App& man = *app.add_subcommand("man", "Print a manual page");
    man.add_option("COMMAND", asked_command, "Of which command; without it, kiln's own");
    man.footer("Example:\n  kiln man build | man -l -");
  }

  static CommandText text_of(const CLI::App& command) {
    CommandText text{command.get_name(), command.get_description(), {}, {}, command.get_footer()};
    for (const CLI::Option* option : command.get_options()) {
      OptionText one{{}, option->get_type_name(), option->get_description()};
      if (option->get_items_expected_max() == 0) one.value.clear();
      if (option->get_positional()) {
        one.names.push_back(option->get_name(true));
        if (one.value.find('|') == std::string::npos) one.value.clear();
        text.positionals.push_back(std::move(one));
        continue;
      }
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      text.options.push_back(std::move(one));
    }
    return text;
  }

  std::vector<CommandText> command_texts() const {
    std::vector<CommandText> texts;
    for (const CLI::App* command : app.get_subcommands({})) texts.push_back(text_of(*command));
    return texts;
  }

  // The command that `help` and `man` were asked for; null: none.
  Result<const CLI::App*> find_asked_command() const {
    if (asked_command.empty()) return nullptr;
    for (const CLI::App* command : app.get_subcommands({})) {
      if (command->get_name() == asked_command) return command;
    }
    return unknown_command(asked_command, command_names());
  }

  void declare_selection(CLI::App& command, Selection& selection) {
    command.add_option("MANIFEST", selection.manifest, "What to build (default: targets.json)");
    command.add_option("--out", selection.out, "The folder to build in (default: out)")
        ->type_name("DIR");
    command.add_option("--target", selection.targets,
                       "Build for this target, instead of the manifest's; may be repeated")
        ->type_name("T")->expected(1)->take_all();
    command.add_option("--module", selection.modules, "Build this module alone; may be repeated")
        ->type_name("M")->expected(1)->take_all();
    command.add_flag("--allow-missing", allow_missing,
                     "Leave out targets whose tools this machine lacks, instead of failing");
  }

  void declare_build() {
    CLI::App& command = *app.add_subcommand(
        "build", "Compile every module for every target; write images, bundles, catalog and header");
    declare_selection(command, build.selection);
    command.add_option("-j,--jobs", jobs, "Steps at a time (default: one per core)")
        ->type_name("N");
    command.add_flag("--keep-going", build.keep_going,
                     "After a failed step, still run all steps that do not need it");
    command.add_flag("--json", build.json, "Print the result as JSON");
    command.add_flag("--explain", build.explain, "Say for each step why it runs");
    command.add_flag("--dry-run", build.dry_run, "Say which steps would run, and why; run none");
    command.add_flag("--no-cache", build.no_cache,
                     "Neither read nor write the cache that all builds of a user share");
    command
        .add_option("--depfile", build.depfile,
                    "Write what the header's stamp depends on, for make and ninja")
        ->type_name("F");
    command
        .add_option("--trace", build.trace,
                    "Write what ran when, for chrome://tracing or Perfetto")
        ->type_name("F");
    command
        .add_option("--locked", build.locked,
                    "Refuse to make anything but what this file says; 'kiln lock' writes it")
        ->type_name("F");
    command.add_option("--embed", embed, "Where the bytes of the images lie (default: the manifest's)")
        ->type_name("array|asm|split");
    command
        .add_option("--emit", outputs, "What to write for programs (default: the manifest's, else cpp); may be repeated")
        ->type_name("cpp|c|rust|catalog")->expected(1)->take_all();
    command.add_flag("--amalgamate", amalgamate,
                     "Write <stem>_amalgamated.hpp, a C++ header with kiln's loader in it, instead of the "
                     "header, or beside what --emit says");
    command.add_option("--namespace", name_space, "The header's C++ namespace")->type_name("NS");
    command.add_option("--compress", compression, "How the images are stored in the header")
        ->type_name("zstd|none");
    command.add_flag("--embed-source{beside}", embed_source,
                     "Put the sources into the header too, for the runtime to compile; "
                     "=instead leaves the images out");
    command.footer(
        "Example: everything, then one module for one GPU\n"
        "  kiln build targets.json --out out\n"
        "  kiln build targets.json --out out --module affine --target sm_90");
  }

  void declare_plan() {
    CLI::App& command =
        *app.add_subcommand("plan", "Print the steps that build would run; run none");
    declare_selection(command, plan.selection);
    CLI::Option* json = command.add_flag("--json", plan.json, "Print the steps as JSON");
    command.add_option("--ninja", plan.ninja, "Write the steps as a Ninja file, which ninja then runs")
        ->type_name("FILE")->excludes(json);
    command.footer(
        "Example: what is run for one GPU; then all steps, run by ninja\n"
        "  kiln plan targets.json --target gfx1100\n"
        "  kiln plan targets.json --ninja build.ninja && ninja");
  }

  // What such a Ninja file runs.
  void declare_ninja_steps() {
    CLI::App& one = *app.add_subcommand(
        "step", "Run one step of a plan, as the Ninja file of 'kiln plan --ninja' does");
    one.add_option("--src", step.source_root, "The folder of the manifest (default: this one)")
        ->type_name("DIR");
    one.add_option("--out", step.out, "The out folder (default: out)")->type_name("DIR");
    one.add_option("--kind", step.kind, "What it does")
        ->type_name("hipify|compile|bundle|fatbin|join")->required();
    one.add_option("--tool", step.tool, "Which tool the command runs: nvcc, hipcc, ...")
        ->type_name("NAME")->required();
    one.add_option("--id", step.id, "What messages call it")->type_name("TEXT")->required();
    one.add_option("--output", step.output, "What it makes, below the out folder")
        ->type_name("FILE")->required();
    one.add_option("--depfile", step.depfile, "Where it says what it read, below the out folder")
        ->type_name("FILE");
    one.add_option("--source", step.source, "What a hipify step converts")->type_name("FILE");
    one.add_option("--set", step.variables,
                   "A variable of the command's environment, NAME=VALUE; may be repeated")
        ->type_name("VARIABLE")->expected(1)->take_all();
    one.add_option("COMMAND", step.command, "After --, the tool and its arguments");
    CLI::App& last = *app.add_subcommand(
        "assemble", "Write catalog and header of images that ninja has made; run no tool");
    declare_selection(last, assemble.selection);
    last.footer("Example: what the Ninja file of 'kiln plan --ninja' runs at its end\n"
                "  kiln assemble targets.json --out out");
  }

  void declare_doctor() {
    CLI::App& command = *app.add_subcommand(
        "doctor", "Show the tools found, what they can build, and how to install what is missing");
    command.add_option("MANIFEST", doctor_manifest,
                       "Whose targets to check (default: targets.json, where there is one)");
    command.add_flag("--json", doctor.json, "Print the findings as JSON");
    command.footer("Example:\n  kiln doctor targets.json");
  }

  void declare_inspect() {
    CLI::App& command = *app.add_subcommand(
        "inspect", "Show the kernels, parameters and resources of an image or a build folder");
    command.add_option("FILE|DIR", inspect.path, "A cubin, PTX, HSACO, bundle, fatbin or out folder")
        ->required();
    command.add_flag("--json", inspect.json, "Print the findings as JSON");
    command.footer(
        "Example: one image, then a whole build\n"
        "  kiln inspect out/images/affine/sm_90.cubin\n"
        "  kiln inspect out --json");
  }

  void declare_lock() {
    CLI::App& command = *app.add_subcommand(
        "lock", "Write down what a build was made with: tools, options, sources and images");
    command.add_option("DIR", lock.folder, "The out folder of a build (default: out)");
    command.add_option("--file", lock.file, "The lock file to write (default: kiln.lock)")
        ->type_name("FILE");
    command.footer(
        "Example: a release, and the same again or not at all\n"
        "  kiln lock out --file kiln.lock\n"
        "  kiln build targets.json --locked kiln.lock --out again");
  }

  void declare_verify() {
    CLI::App& command = *app.add_subcommand(
        "verify", "Check that a build is whole, keeps its budgets and loads on old drivers");
    command.add_option("DIR", verify.folder, "The out folder of a build (default: out)");
    command.add_option("MANIFEST", verify.manifest,
                       "Hold it to this manifest's abi files, floors and budgets");
    command.footer("Example:\n  kiln verify out");
  }

  void declare_diff() {
    CLI::App& command = *app.add_subcommand(
        "diff", "Show what changed between two builds: kernels, parameters, sizes, resources");
    command.add_option("OLD", diff.before, "The out folder of a build, or its kiln.json")->required();
    command.add_option("NEW", diff.after, "Another one")->required();
    command.add_option("--fail-on", diff.fail_on,
                       "Exit with 1 when this got worse; may be repeated: removed, signature, "
                       "size[=PERCENT%], registers[=N], spills[=N], shared[=N], stack[=N]")
        ->type_name("WHAT")->expected(1)->take_all();
    command.add_flag("--json", diff.json, "Print the differences as JSON");
    command.footer("Example:\n  kiln diff release out --fail-on removed --fail-on spills --fail-on size=5%");
  }

  void declare_report() {
    CLI::App& command = *app.add_subcommand(
        "report", "Write a build as one HTML page: sizes, registers, spills, occupancy, timeline");
    command.add_option("DIR", report.folder, "The out folder of a build (default: out)");
    command.add_option("--page", report.page, "The page to write (default: report.html)")
        ->type_name("FILE");
    command.add_option("--trace", report.trace,
                       "The timeline, as 'kiln build --trace' wrote it (default: the last build's)")
        ->type_name("FILE");
    command.footer("Example:\n  kiln report out --page report.html");
  }

  void declare_merge() {
    CLI::App& merging = *app.add_subcommand(
        "merge", "Make one build of several that each made some of the targets; run no tool");
    merging.add_option("PART", merge.parts, "The out folder of a build")->required();
    merging.add_option("--out", merge.out, "The folder to write (default: out)")->type_name("DIR")
        ->expected(1);
    merging.footer(
        "Example: two machines build, a third merges\n"
        "  kiln build targets.json --target gfx1100 --out amd\n"
        "  kiln build targets.json --target sm_90 --out nvidia\n"
        "  kiln merge amd nvidia --out all");
    CLI::App& stripping =
        *app.add_subcommand("strip", "Copy a build without the targets that are not named");
    stripping.add_option("DIR", strip.folder, "The out folder of a build")->required();
    stripping.add_option("--keep", strip.keep, "Keep this target; may be repeated")
        ->type_name("T")->expected(1)->take_all()->required();
    stripping.add_option("--out", strip.out, "The folder to write")->type_name("DIR")->required();
    stripping.footer("Example:\n  kiln strip all --keep gfx1100 --out amd");
  }

  void declare_cache() {
    CLI::App& command = *app.add_subcommand(
        "cache", "Show, trim or clear the cache of step outputs that all builds share");
    command.add_option("ACTION", cache_action, "show (default), trim or clear")
        ->type_name("show|trim|clear");
    command.add_option("--size", cache.size, "Trim to this size (default: KILN_CACHE_SIZE)")
        ->type_name("SIZE");
    command.add_option("--age", cache.age, "Trim what was last used before that: 30d, 12h, 90m")
        ->type_name("AGE");
    command.footer(
        "KILN_CACHE=off turns it off, KILN_CACHE_SIZE=4G sets its limit, KILN_CACHE_DIR its place.\n"
        "KILN_CACHE_URL names an HTTP cache behind it, KILN_CACHE_HTTP=read only reads that one.\n"
        "Example:\n  kiln cache trim --size 500M --age 30d");
  }

  void declare_run() {
    CLI::App& command = *app.add_subcommand(
        "run", "Run one kernel of an AMD code object on an emulated GPU, or list its kernels");
    command.add_option("FILE", run.file, "A .hsaco file")->required();
    command.add_option("KERNEL", run.kernel, "The kernel; without one, all are listed");
    command.add_option("ARG", run.arguments, "Its arguments, in order");
    command.add_option("-g,--grid", grid, "Workgroups")->type_name("X[,Y[,Z]]");
    command.add_option("-b,--block", block, "Threads in a workgroup")->type_name("X[,Y[,Z]]");
    command.add_option("--lds", run.dynamic_lds, "Bytes of LDS beyond the kernel's own");
    command.add_option("--threads", run.threads, "CPU threads (default: one a core)");
    command.add_flag("--check", run.check, "Look for uninitialised values, races and divergent barriers");
    command.add_option("--seed", run.seed, "Run the waves of a workgroup in random order and turns");
    command.add_option("--limit", run.instruction_limit, "Instructions that a workgroup may take");
    command.footer(
        "ARG is TYPE:VALUE, hex:BYTES, null, or buf:TYPE:COUNT:CONTENTS[@OUTPUT]\n"
        "  TYPE      i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
        "  CONTENTS  zeros ones const=V arange rand[=SEED] randint=LO,HI[,SEED] file=PATH none\n"
        "  OUTPUT    a file for the bytes that the kernel left, or - to print them\n"
        "Example: out[i] = value, 8 times\n"
        "  kiln run out/images/fill/gfx1100.hsaco fill_f32 -b 32 buf:f32:8:none@- f32:1.5 u64:8");
  }

  std::vector<std::string> command_names() const {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    return names;
  }

  // The subcommand being parsed, or the program itself.
  const CLI::App& current() const {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    return parsed.empty() ? app : *parsed.front();
  }

  // An empty word is a shell's variable that was not set; no option means anything by it.
  Result<void> check_not_empty() const {
    if (current().get_name() == "step") return {};  // its words are another tool's
    for (const CLI::Option* option : current().get_options()) {
      for (const std::string& word : option->results()) {
        if (!word.empty()) continue;
        return usage_error("'' was given for " + option->get_name())
            .hint("leave it out, or see whether a variable of the shell is set");
      }
    }
    return {};
  }

  Result<Invocation> invocation() {
    KILN_TRY(check_not_empty());
    const std::string name = current().get_name();
    const MissingTargets missing =
        allow_missing ? MissingTargets::kLeaveOut : MissingTargets::kFail;
    if (name == "build") {
      KILN_TRY(finish_build());
      build.selection.missing_targets = missing;
      return Invocation(build);
    }
    if (name == "plan") {
      plan.selection.missing_targets = missing;
      return Invocation(plan);
    }
    if (name == "lock") return Invocation(lock);
    if (name == "step") {
      if (step.command.empty()) {
        return usage_error("'kiln step' was given no command").hint("it follows --");
      }
      return Invocation(step);
    }
    if (name == "assemble") {
      assemble.selection.missing_targets = missing;
      return Invocation(assemble);
    }
    if (name == "doctor") {
      if (!doctor_manifest.empty()) doctor.manifest = doctor_manifest;
      return Invocation(doctor);
    }
    if (name == "init") return Invocation(init);
    if (name == "help") {
      KILN_TRY_ASSIGN(const CLI::App* const asked, find_asked_command());
      return Invocation(Reply{asked != nullptr ? asked->help("kiln") : own_help});
    }
    if (name == "man") {
      KILN_TRY_ASSIGN(const CLI::App* const asked, find_asked_command());
      const std::string version = version_text().substr(5, version_text().find(' ', 5) - 5);
      return Invocation(Reply{asked != nullptr ? man_page(text_of(*asked), version)
                                               : man_page(text_of(app), command_texts(), version)});
    }
    if (name == "completions") {
      KILN_TRY_ASSIGN(const Shell chosen, choice<Shell>("the shell", shell,
                                                        {{"bash", Shell::kBash},
                                                         {"zsh", Shell::kZsh},
                                                         {"fish", Shell::kFish}}));
      return Invocation(Reply{completions(chosen, command_texts())});
    }
    if (name == "cache") {
      KILN_TRY_ASSIGN(cache.action, choice<CacheAction>("the action", cache_action,
                                                        {{"show", CacheAction::kShow},
                                                         {"trim", CacheAction::kTrim},
                                                         {"clear", CacheAction::kClear}}));
      return Invocation(cache);
    }
    if (name == "report") return Invocation(report);
    if (name == "diff") return Invocation(diff);
    if (name == "verify") return Invocation(verify);
    if (name == "merge") return Invocation(merge);
    if (name == "strip") return Invocation(strip);
    if (name == "run") {
      KILN_TRY_ASSIGN(run.grid, sizes("--grid", grid));
      if (!block.empty()) {
        KILN_TRY_ASSIGN(run.block, sizes("--block", block));
      }
      return Invocation(run);
    }
    return Invocation(inspect);
  }

  // The options of build whose text has a meaning of ours.
  Result<void> finish_build() {
    const CLI::App& command = current();
    if (command.count("--jobs") > 0) {
      const bool is_number = !jobs.empty() && jobs.size() <= 4 &&
                             jobs.find_first_not_of("0123456789") == std::string::npos;
      build.jobs = is_number ? static_cast<unsigned>(std::stoul(jobs)) : 0;
      if (build.jobs == 0 || build.jobs > kMostJobs) {
        return usage_error("--jobs cannot be " + quote(jobs))
            .hint("it is a number from 1 to " + std::to_string(kMostJobs));
      }
    }
    if (command.count("--embed") > 0) {
      KILN_TRY_ASSIGN(build.embed, choice<EmbedMode>("--embed", embed,
                                                     {{"array", EmbedMode::kArray},
                                                      {"asm", EmbedMode::kAsm},
                                                      {"split", EmbedMode::kSplit}}));
    }
    std::set<EmbedOutput> emitted;
    for (const std::string& output : outputs) {
      KILN_TRY_ASSIGN(const EmbedOutput one, choice<EmbedOutput>("--emit", output,
                                                                 {{"cpp", EmbedOutput::kCpp},
                                                                  {"c", EmbedOutput::kC},
                                                                  {"rust", EmbedOutput::kRust},
                                                                  {"catalog", EmbedOutput::kCatalog}}));
      emitted.insert(one);
    }
    if (amalgamate) emitted.insert(EmbedOutput::kAmalgamation);
    build.outputs.assign(emitted.begin(), emitted.end());
    if (command.count("--namespace") > 0) build.name_space = name_space;
    if (command.count("--compress") > 0) {
      KILN_TRY_ASSIGN(build.compression,
                      choice<Compression>("--compress", compression,
                                          {{"zstd", Compression::kZstd},
                                           {"none", Compression::kNone}}));
    }
    if (command.count("--embed-source") > 0) {
      KILN_TRY_ASSIGN(build.embed_source,
                      choice<EmbedSource>("--embed-source", embed_source,
                                          {{"beside", EmbedSource::kBeside},
                                           {"instead", EmbedSource::kInstead},
                                           {"none", EmbedSource::kNone}}));
    }
    return {};
  }
};

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The dashes, which all have, do not count.
std::string nearest_option(std::string_view argument, std::vector<std::string> names) {
  const auto bare = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  argument = bare(argument.substr(0, argument.find('=')));
  for (std::string& name : names) name = bare(name);
  const std::string near = nearest(argument, names);
  return near.empty() ? near : "--" + near;
}

Error unknown_argument(const std::string& argument, const CLI::App& command) {
  const bool is_option = argument.starts_with("-");
  Error error = usage_error((is_option ? "unknown option " : "unexpected argument ") +
                            quote(argument) + " of 'kiln " + command.get_name() + "'");
  const std::string near = nearest_option(argument, option_names(command));
  if (is_option && !near.empty()) error.hint("did you mean " + quote(near) + "?");
  return error.hint("see 'kiln " + command.get_name() + " --help'");
}

// CLI11's own wording, in our grammar.
Error translated(const CLI::ParseError& thrown, const CLI::App& command) {
  std::string message = thrown.what();
  if (thrown.get_name() == "ArgumentMismatch") {
    message = message.substr(0, message.find(':')) + " needs a value";
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  if (!message.empty() && (message.size() < 2 || !std::isupper(static_cast<unsigned char>(message[1])))) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  const std::string name = command.get_name() == "kiln" ? "kiln" : "kiln " + command.get_name();
  return usage_error(std::move(message)).hint("see '" + name + " --help'");
}

}  // namespace

Result<Invocation> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  const std::vector<std::string> names = line.command_names();
  if (arguments.empty()) {
    return usage_error("no command given: expected one of " + join(names, ", "))
        .hint("see 'kiln --help'");
  }
  if (const std::string& first = arguments.front();
      !first.starts_with("-") && std::find(names.begin(), names.end(), first) == names.end()) {
    return unknown_command(first, names);
  }
  static constexpr std::array<std::string_view, 3> kOwnOptions = {"-h", "--help", "--version"};
  if (arguments.front().starts_with("-") &&
      std::find(kOwnOptions.begin(), kOwnOptions.end(), arguments.front()) == kOwnOptions.end()) {
    Error error = usage_error("unknown option " + quote(arguments.front()) + " of 'kiln'");
    const std::string near =
        nearest(arguments.front(), std::vector<std::string>(kOwnOptions.begin(), kOwnOptions.end()));
    if (!near.empty()) error.hint("did you mean " + quote(near) + "?");
    return error.hint("a command comes first: see 'kiln help'");
  }
  // What follows -- is the command line of another tool.
  auto end = arguments.end();
  if (arguments.front() == "step") end = std::find(arguments.begin(), arguments.end(), "--");
  try {
    std::vector<std::string> own(arguments.begin(), end);
    std::reverse(own.begin(), own.end());
    line.app.parse(std::move(own));
    if (end != arguments.end()) line.step.command.assign(end + 1, arguments.end());
  } catch (const CLI::CallForHelp&) {
    return Invocation(Reply{line.app.help()});
  } catch (const CLI::CallForVersion&) {
    return Invocation(Reply{version_text()});
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> extras = line.app.remaining(true);
    if (extras.empty()) return translated(error, line.current());
    return unknown_argument(extras.front(), line.current());
  } catch (const CLI::ParseError& error) {
    return translated(error, line.current());
  }
  return line.invocation();
}

}  // namespace kiln::tools
