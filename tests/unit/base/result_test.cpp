// A program that uses a failed Result without a check ends, and prints the whole error.
#include "kiln/result.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <string>

#include "tests/support/golden.hpp"

using namespace kiln;

namespace {

// Returns what `call` writes to standard error before it ends the program by SIGABRT.
template <typename Call>
std::string last_words(Call call) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(ends[1]);
  std::string words;
  char part[4096];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;) {
    words.append(part, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  return words;
}

}  // namespace

TEST_CASE("a failed Result that is used says the whole error and what the program left out") {
  Error error{ErrorCode::kUnavailable, "no device", {"targets.json", 3, 7}, {}};
  error.note("libcuda.so.1 is not there").hint("install a driver, or set KILN_DEVICE=host");
  error.others.push_back(Error{ErrorCode::kNotFound, "no folder", {}, {}});
  const std::string expected = last_words([&] { (void)Result<int>(error).value(); });
  testing::check_golden("messages/unchecked_result.txt", expected);
  CHECK(last_words([&] { (void)*Result<std::string>(error); }) == expected);
  CHECK(last_words([&] { (void)Result<std::string>(error)->size(); }) == expected);
}

TEST_CASE("the error of a Result that holds none ends the program with a reason") {
  const std::string expected =
      "kiln: error: the program took the error of a kiln::Result that holds none\n"
      "hint: check it first: 'if (!result) { report(result.error()); }'\n";
  CHECK(last_words([] { (void)Result<int>(5).error(); }) == expected);
  CHECK(last_words([] { (void)Result<void>().error(); }) == expected);
}
