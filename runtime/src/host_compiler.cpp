#include "runtime/src/host_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/processor.hpp"
#include "base/text.hpp"
#include "formats/host_flags.hpp"
#include "runtime/src/file.hpp"

namespace kiln::runtime {
namespace {

// Returns the path of a program, or an empty string.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    std::string candidate = std::string(folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

// Returns the compiler's environment. Its temporary files go into `folder`.
std::vector<std::string> environment_in(const std::string& folder) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> all = {"LC_ALL=C", "TMPDIR=" + folder};
  if (path != nullptr) all.push_back(std::string("PATH=") + path);
  for (const auto& [name, value] : compiler_variables()) all.push_back(name + "=" + value);
  return all;
}

// Runs a program in this environment, writes its output to the file `log`, and waits. Returns its
// wait status, or -1 with errno.
int run(const std::vector<std::string>& words, const std::vector<std::string>& variables,
        const std::string& log) {
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t process = 0;
  const int failed =
      posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return -1;
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

std::string describe(int status) {
  if (status == -1) return std::strerror(errno);
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

class HostCompiler final : public Compiler {
 public:
  explicit HostCompiler(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return path_; }
  std::string ingredients(const SourceBundle& bundle, const TargetId& target) const override {
    std::string all = file_identity(path_) + "\n" + join(command(bundle, "", target), "\n") + "\n";
    std::string options = all;
    for (const auto& [name, value] : compiler_variables()) options += value;
    if (asks_for_native(options)) all += this_processor();
    return all;
  }

  Result<std::string> compile(const SourceBundle& bundle, const std::string& folder,
                              const TargetId& target) const override {
    const std::string log = folder + "/.log";
    const int status = run(command(bundle, folder, target), environment_in(folder), log);
    if (status != 0) {
      const bool is_unknown = status == -1 && errno == ECHILD;
      const std::string why = is_unknown ? "nothing tells how it ended" : describe(status);
      const std::string text = read_file(log).value_or(std::string());
      Error error = compile_error(path_ + ": " + why, text, folder);
      if (is_unknown) error.hint("this program ignores SIGCHLD: let it have the default action while it loads modules");
      if (text.find("__global__") != std::string::npos) {
        error.hint("the host takes no plain CUDA: docs/HOST.md of kiln has the names for its words");
      }
      return error;
    }
    return read_file(folder + std::string(kImage));
  }

 private:
  static constexpr std::string_view kImage = "/.image";

  std::vector<std::string> command(const SourceBundle& bundle, const std::string& folder,
                                   const TargetId& target) const {
    std::vector<std::string> words = {path_};
    const auto add = [&](const std::vector<std::string>& more, const std::string& prefix = {}) {
      for (const std::string& word : more) words.push_back(prefix + word);
    };
    add(host_compile_flags(target.wave64));
    add(bundle.include_directories, "-I" + folder + "/");
    add(bundle.defines, "-D");
    add(bundle.flags);
    add(bundle.host_flags);
    add({"-o", folder + std::string(kImage), folder + "/" + bundle.files.front().path});
    add(host_link_flags());
    return words;
  }

  std::string path_;
};

}  // namespace

Result<std::unique_ptr<Compiler>> find_host_compiler(const std::string& wanted) {
  const std::vector<std::string> names =
      wanted.empty() ? std::vector<std::string>{"c++", "g++", "clang++"} : std::vector{wanted};
  for (const std::string& name : names) {
    if (std::string path = find_program(name); !path.empty()) {
      return std::unique_ptr<Compiler>(std::make_unique<HostCompiler>(std::move(path)));
    }
  }
  Error error{ErrorCode::kUnavailable, "no C++ compiler on this machine: looked for " + join(names, ", "), {}, {}};
  if (wanted.find(' ') != std::string::npos) error.hint("KILN_CXX is one program, without options or another before it");
  return error;
}

}  // namespace kiln::runtime
