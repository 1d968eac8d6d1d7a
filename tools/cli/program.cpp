#include "tools/cli/program.hpp"

#include "kiln/version.hpp"
#include "tools/revision.hpp"

namespace kiln::tools {

Program::Program()
    : app{"Builds GPU kernels for every target of a manifest and embeds them in one C++ header.", "kiln"} {
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.footer("Example:\n  kiln build targets.json --out out\n\nEach command explains itself: kiln build --help");
  for (const auto declare :
       {declare_build, declare_plan, declare_step, declare_assemble, declare_doctor, declare_inspect,
        declare_lock, declare_verify, declare_diff, declare_report, declare_merge, declare_strip,
        declare_cache, declare_run, declare_init, declare_help, declare_completions, declare_man}) {
    commands.push_back(declare(*this));
  }
}

std::vector<std::string> Program::names() const {
  std::vector<std::string> result;
  for (const Subcommand& command : commands) result.push_back(command.name);
  return result;
}

const CLI::App& Program::parsed() const {
  const std::vector<CLI::App*> commands_parsed = app.get_subcommands();
  return commands_parsed.empty() ? app : *commands_parsed.front();
}

std::string version_text() {
  return "kiln " + std::to_string(KILN_VERSION_MAJOR) + "." + std::to_string(KILN_VERSION_MINOR) +
         "." + std::to_string(KILN_VERSION_PATCH) + " (" + std::string(source_revision()) + ")\n";
}

Error usage_error(std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message)};
}

Error unknown_command(const std::string& command, const std::vector<std::string>& names) {
  Error error = usage_error("unknown command " + quote(command));
  const std::string near = nearest(command, names);
  return error.hint(near.empty() ? "the commands are " + join(names, ", ")
                                 : "did you mean " + quote(near) + "?");
}

}  // namespace kiln::tools
