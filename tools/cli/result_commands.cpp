// The commands that read the results of a build.
#include "tools/cli/program.hpp"

namespace kiln::tools {

Subcommand declare_inspect(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "inspect", "Show the kernels, parameters and resources of an image or a build folder");
  const auto options = std::make_shared<InspectOptions>();
  command.add_option("FILE|DIR", options->path, "A cubin, PTX, HSACO, bundle, fatbin or out folder")
      ->required();
  command.add_flag("--json", options->json, "Print the findings as JSON");
  command.footer(
      "Example: one image, then a whole build\n"
      "  kiln inspect out/images/affine/sm_90.cubin\n"
      "  kiln inspect out --json");
  return parsed_command(command, options);
}

Subcommand declare_lock(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "lock", "Write down what a build was made with: tools, options, sources and images");
  const auto options = std::make_shared<LockOptions>();
  command.add_option("DIR", options->folder, "The out folder of a build (default: out)");
  command.add_option("--out", options->file, "The lock file to write, with its folder; - prints it (default: kiln.lock)")
      ->type_name("FILE");
  command.footer(
      "Example: a release, and the same again or not at all\n"
      "  kiln lock out --out kiln.lock\n"
      "  kiln build targets.json --locked kiln.lock --out again");
  return parsed_command(command, options);
}

Subcommand declare_verify(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "verify", "Check that a build is whole, keeps its budgets and loads on old drivers");
  const auto options = std::make_shared<VerifyOptions>();
  command.add_option("DIR", options->folder, "The out folder of a build (default: out)");
  command.add_option("MANIFEST", options->manifest, "Hold it to this manifest's abi files, floors and budgets");
  command.add_flag("--json", options->json, "Print what was found as JSON");
  command.footer("Example:\n  kiln verify out");
  return parsed_command(command, options);
}

Subcommand declare_diff(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "diff", "Show what changed between two builds: kernels, parameters, sizes, resources");
  const auto options = std::make_shared<DiffOptions>();
  command.add_option("OLD", options->before, "The out folder of a build, or its kiln.json")->required();
  command.add_option("NEW", options->after, "Another one")->required();
  command.add_option("--fail-on", options->fail_on,
                     "Exit with 1 when this got worse; may be repeated. size=5% lets an image grow by so much, "
                     "registers=8 a kernel, and so do spills, shared and stack; threads: fewer of a block")
      ->type_name("removed|signature|size|registers|spills|shared|stack|threads")->expected(1)->take_all();
  command.add_flag("--json", options->json, "Print the differences as JSON");
  command.footer("Example:\n  kiln diff release out --fail-on removed --fail-on spills --fail-on size=5%");
  return parsed_command(command, options);
}

Subcommand declare_report(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "report", "Write a build as one HTML page: sizes, registers, spills, occupancy, timeline");
  const auto options = std::make_shared<ReportOptions>();
  command.add_option("DIR", options->folder, "The out folder of a build (default: out)");
  command.add_option("--out", options->page, "The page to write, with its folder; - prints it (default: report.html)")
      ->type_name("FILE");
  command.add_option("--trace", options->trace,
                     "The timeline, as 'kiln build --trace' wrote it (default: the last build's)")
      ->type_name("FILE");
  command.footer("Example:\n  kiln report out --out report.html");
  return parsed_command(command, options);
}

Subcommand declare_merge(Program& program) {
  CLI::App& command = *program.app.add_subcommand(
      "merge", "Make one build of several that each made some of the targets; run no tool");
  const auto options = std::make_shared<MergeOptions>();
  command.add_option("PART", options->parts, "The out folder of a build")->required();
  command.add_option("--out", options->out, "The folder to write (default: out)")->type_name("DIR")
      ->expected(1);
  command.footer(
      "Example: two machines build, a third merges\n"
      "  kiln build targets.json --target gfx1100 --out amd\n"
      "  kiln build targets.json --target sm_90 --out nvidia\n"
      "  kiln merge amd nvidia --out all");
  return parsed_command(command, options);
}

Subcommand declare_strip(Program& program) {
  CLI::App& command =
      *program.app.add_subcommand("strip", "Copy a build without the targets that are not named");
  const auto options = std::make_shared<StripOptions>();
  command.add_option("DIR", options->folder, "The out folder of a build")->required();
  command.add_option("--keep", options->keep, "Keep this target; may be repeated")
      ->type_name("TARGET")->expected(1)->take_all()->required();
  command.add_option("--out", options->out, "The folder to write")->type_name("DIR")->required();
  command.footer("Example:\n  kiln strip all --keep gfx1100 --out amd");
  return parsed_command(command, options);
}

}  // namespace kiln::tools
