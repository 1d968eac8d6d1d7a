// recognize: finds out what a wrong input file is, so that the error can say what to do with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::tools {

struct Recognized {
  std::string what;    // "a cubin", "an empty file"; empty if the file is of no known kind
  std::string advice;  // "see what is in it: kiln inspect k.cubin"; may be empty
};

// Looks at the first bytes, at the keys of JSON, and at the file extension of a source. `path`
// names the file in the advice.
Recognized recognize(std::string_view bytes, const std::filesystem::path& path);

// Returns the error "k.cubin: a cubin, where a manifest is expected" (kInvalidInput), with the
// advice as a hint.
Error misplaced(const Recognized& file, std::string_view expected,
                const std::filesystem::path& path);

// True if a reader of formats/ refused a file because it is truncated or corrupted. kMakeItAgain is
// the hint for such an error.
bool is_damaged(const Error& error);
inline constexpr const char* kMakeItAgain = "the file is cut short or changed: build or copy it again";

}  // namespace kiln::tools
