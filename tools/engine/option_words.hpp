// Option words: the words of command lines, and the files that they name. Compilers read most of
// these files without reporting them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

// Splits a text as compilers split variables and files of options: at blanks that no quotes or
// backslash protect.
std::vector<std::string> split_words(std::string_view text);

// Returns the file names that a word may contain: the word itself, what follows '=' or '@', and the
// parts of a list. "-fplugin=a.so" -> "a.so", "@words" -> "words", "-Wl,--whole-archive,a.a" ->
// "a.a".
std::vector<std::string> file_names(std::string_view word);

// True if the files that `word` names hold options. `previous` is the word before it.
bool names_options(std::string_view previous, std::string_view word);

// Returns the paths that the libraries of a command line may have: libname.so and libname.a for
// each "-lname" in each folder of "-Ldir" and of `more_folders`, a list as in LIBRARY_PATH. What
// compilers link from their own folders is a part of them.
std::vector<std::string> library_files(const std::vector<std::string>& words,
                                       std::string_view more_folders);

}  // namespace kiln::tools
