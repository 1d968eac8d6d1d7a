// recognize: what a file is that was given in the place of another one, so that an error can say what
// to do with it instead.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln::tools {

struct Recognized {
  std::string what;    // "a cubin", "an empty file"; empty when it is like nothing that kiln knows
  std::string advice;  // "'kiln inspect k.cubin' shows it"; may be empty
};

// Told by the first bytes, of JSON by its keys, and of a source by its ending. `path` names the file in the advice.
Recognized recognize(std::string_view bytes, const std::filesystem::path& path);

// "k.cubin: a cubin, where a manifest is expected", with the advice as a hint (kInvalidInput).
Error misplaced(const Recognized& file, std::string_view expected,
                const std::filesystem::path& path);

// Whether a reader of formats/ refused a file that is cut short or changed, and what to do about it.
bool is_damaged(const Error& error);
inline constexpr const char* kMakeItAgain = "the file is cut short or changed: build or copy it again";

}  // namespace kiln::tools
