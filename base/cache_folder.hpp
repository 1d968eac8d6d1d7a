// Rules for the folders in which kiln keeps files for the current user, and for the folders that it
// trusts. The tools and the runtime share these rules.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace kiln {

// Returns the value of an environment variable, or an empty string if it is not set.
using GetVariable = std::function<std::string(const char* name)>;

// Returns $KILN_CACHE_DIR, or $XDG_CACHE_HOME/kiln, or $HOME/.cache/kiln. Returns an empty path if
// none of them is set: a folder that everybody may write to is no substitute.
std::filesystem::path default_cache_folder(const GetVariable& variable);

// Returns another folder of the XDG base directory specification. As the specification demands, a
// relative value is ignored.
std::filesystem::path user_folder(const GetVariable& variable, const char* xdg_name, const char* under_home);

// Returns why other users could change or replace the folder, such as "everybody may write to
// /shared". Returns an empty string if they cannot, as far as the folder and its parent tell.
// Folders of the administrator are trusted. The folder need not exist.
std::string why_untrusted(const std::filesystem::path& folder);

}  // namespace kiln
