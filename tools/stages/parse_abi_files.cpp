#include "tools/stages/parse_abi_files.hpp"

#include <algorithm>
#include <utility>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/parse_abi.hpp"
#include "tools/stages/recognize.hpp"

namespace kiln::tools {

void AbiFilesPart::parse(const Json& value) {
  if (value.array() == nullptr) return file(value, "'abi'");
  reader_.list(value, "'abi'", "strings", Empty::kRefused,
               [&](const Json& item) { file(item, "an entry of 'abi'"); });
}

void AbiFilesPart::file(const Json& value, const std::string& what) {
  const std::string path = inner_path(value, what);
  if (path.empty() || !reader_.is_listed_once(listed_, value, "abi file", path, path)) return;
  manifest_.abi_paths.push_back({path, reader_.where(value)});
  const Result<std::string> text = source_.files.read(source_.directory / path);
  if (!text) {
    const bool is_there = source_.files.kind(source_.directory / path) != PathKind::kNone;
    Error& error = reader_.report(
        value, is_there ? "cannot read the abi file " + quote(path) : "abi file " + quote(path) + " does not exist");
    if (is_there) {
      error.note(text.error().message);
    } else {
      suggest(path, PathKind::kFile, error);
    }
    return;
  }
  manifest_.read[path] = sha256(*text);
  const std::filesystem::path shown = manifest_.path.parent_path() / path;
  Result<Abi> abi = parse_abi(*text, shown.generic_string());
  if (!abi) {
    const Recognized found = recognize(*text, shown);
    const bool is_other = !found.what.empty() && found.what != "an abi file";
    return reader_.report(is_other ? misplaced(found, "an abi file", shown) : std::move(abi).error());
  }
  for (auto& [module, kernels] : *abi) add_kernels(manifest_.abi[module], std::move(kernels));
}

void AbiFilesPart::add_kernels(std::vector<AbiKernel>& known, std::vector<AbiKernel> more) {
  const auto by_name = [](const AbiKernel& a, const AbiKernel& b) { return a.name < b.name; };
  const std::size_t before = known.size();
  for (AbiKernel& kernel : more) {
    const auto end = known.begin() + static_cast<std::ptrdiff_t>(before);
    const auto same = std::lower_bound(known.begin(), end, kernel, by_name);
    if (same == end || same->name != kernel.name) {
      known.push_back(std::move(kernel));
      continue;
    }
    Error error{ErrorCode::kInvalidInput,
                "kernel " + quote(with_demangled(kernel.name)) + " is in two abi files",
                kernel.where,
                {}};
    error.notes.push_back({Note::Kind::kNote, "the other one", same->where});
    reader_.report(std::move(error));
  }
  std::sort(known.begin(), known.end(), by_name);
}

void AbiFilesPart::check_modules(const std::vector<Location>& partial) {
  if (manifest_.abi_paths.empty()) {
    for (const Location& where : partial) {
      reader_.report(where, "'partial' is about an abi file, and the manifest names none");
    }
  }
  if (manifest_.abi.empty()) return;
  // Looks for misspelt names among the abi files' modules that are not in the manifest.
  std::vector<std::string> known;
  for (const auto& [name, kernels] : manifest_.abi) {
    const bool is_module = std::ranges::any_of(
        manifest_.modules, [&](const ModuleSpec& module) { return module.name.value == name; });
    if (!is_module) known.push_back(name);
  }
  const std::string where = manifest_.abi_paths.size() == 1
                                ? "not in the abi file " + quote(manifest_.abi_paths[0].value)
                                : "in none of the abi files";
  for (const ModuleSpec& module : manifest_.modules) {
    if (manifest_.abi.contains(module.name.value)) continue;
    Error& error =
        reader_.report(module.name.where, "module " + quote(module.name.value) + " is " + where);
    const std::string near = nearest(module.name.value, known);
    error.hint(!near.empty() ? "did you mean " + quote(near) + "?"
                             : "a module without extern \"C\" kernels has the entry \"" + module.name.value +
                                   "\": {}");
  }
}

}  // namespace kiln::tools
