// Where kiln keeps things for this user, and whose folders it trusts: one rule for the tools and the runtime.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace kiln {

// The value of a variable of the environment; empty where it is not set.
using GetVariable = std::function<std::string(const char* name)>;

// $KILN_CACHE_DIR, else $XDG_CACHE_HOME/kiln, else $HOME/.cache/kiln. Empty where none of them says where: a
// folder that everybody may write to would be somebody else's.
std::filesystem::path cache_place(const GetVariable& variable);

// The same of any folder of the XDG base directory specification, by which a relative value is ignored.
std::filesystem::path user_folder(const GetVariable& variable, const char* xdg_name, const char* under_home);

// Why others could change what is in the folder, or put another in its place: "everybody may write to /shared".
// Empty: they cannot, as far as it and the folder above tell. The administrator's folders are trusted. The folder need not exist.
std::string why_untrusted(const std::filesystem::path& folder);

}  // namespace kiln
