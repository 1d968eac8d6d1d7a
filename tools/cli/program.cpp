#include "tools/cli/program.hpp"

#include <memory>

#include "base/version_text.hpp"
#include "kiln/version.hpp"
#include "tools/cli/texts.hpp"
#include "tools/revision.hpp"

namespace kiln::tools {
namespace {

// CLI11's formatter, extended for flags with an optional value:
// "--embed-source[=beside|instead|none]".
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, is_positional);
    const std::size_t brace = name.find('{');
    return brace == std::string::npos ? name
                                      : name.substr(0, brace) + "[=" + option->get_type_name() + "]";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_items_expected_max() == 0 ? "" : CLI::Formatter::make_option_opts(option);
  }
};

}  // namespace

Program::Program()
    : app{"Builds GPU kernels for every target of a manifest and embeds them in one C++ header.", "kiln"} {
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.set_version_flag("--version", program_version());
  app.footer("Example:\n  kiln build targets.json --out out\n\nEach command explains itself: kiln build --help" +
             std::string(kExitStatusTitle) + std::string(kExitStatus));
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

std::string program_version() {
  return "kiln " + version_text(KILN_VERSION) + " (" + std::string(source_revision()) + ")\n";
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
