#include "tools/stages/parse_modules.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/stages/parse_compile_options.hpp"
#include "tools/stages/parse_limits.hpp"
#include "tools/stages/parse_targets.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMaxUnits = 1024;  // sources of one module

class ModulesPart : public ManifestPart {
 public:
  explicit ModulesPart(ManifestSource& source) : ManifestPart(source) {}

  ParsedModules parse(const Json& value) {
    std::map<std::string, Location> names;
    reader_.list(value, "'modules'", "objects", Empty::kRefused, [&](const Json& item) {
      ModuleSpec spec = module(item);
      if (spec.name.value.empty()) return;
      const auto [first, is_new] = names.emplace(spec.name.value, spec.name.where);
      if (!is_new) {
        Error& error =
            reader_.report(spec.name.where, "two modules are called " + quote(spec.name.value));
        error.notes.push_back({Note::Kind::kNote, "the first one", first->second});
        return;
      }
      parsed_.modules.push_back(std::move(spec));
    });
    std::sort(parsed_.modules.begin(), parsed_.modules.end(),
              [](const ModuleSpec& a, const ModuleSpec& b) { return a.name.value < b.name.value; });
    return std::move(parsed_);
  }

 private:
  ModuleSpec module(const Json& value) {
    ModuleSpec spec;
    const Json* name = value.find("name");
    const std::string what =
        name != nullptr && name->text() != nullptr ? "module " + quote(*name->text()) : "a module";
    CompileOptionsPart options(source_, spec.options);
    std::vector<JsonReader::Field> fields = {
        {"name", Need::kRequired,
         [&](const Json& v) { spec.name = identifier(v, "the module's name"); }},
        {"sources", Need::kRequired, [&](const Json& v) { spec.sources = sources(v, what); }},
        {"targets", Need::kOptional,
         [&](const Json& v) { spec.targets = parse_targets(reader_, v); }},
        {"partial", Need::kOptional, [&](const Json& v) { partial(v, spec); }},
        {"budgets", Need::kOptional, [&](const Json& v) {
           spec.budgets = parse_budgets(reader_, v, "'budgets' of " + what, BudgetsOf::kModule);
         }}};
    const std::vector<JsonReader::Field> more = options.fields();
    fields.insert(fields.end(), more.begin(), more.end());
    reader_.object(value, what, fields);
    return spec;
  }

  std::vector<Located<std::string>> sources(const Json& value, const std::string& owner) {
    std::vector<Located<std::string>> found;
    if (const Json::Array* items = value.array(); items && items->size() > kMaxUnits) {
      reader_.report(value, owner + " has " + std::to_string(items->size()) + " sources, at most " +
                                std::to_string(kMaxUnits) + " are allowed");
      return found;
    }
    JsonReader::Listed listed;
    reader_.list(value, "'sources' of " + owner, "strings", Empty::kRefused, [&](const Json& item) {
      const std::string source = inner_path(item, "source");
      if (source.empty() || !reader_.is_listed_once(listed, item, "source", source, source)) return;
      if (is_file(item, "source", source)) found.push_back({source, reader_.where(item)});
    });
    return found;
  }

  // Returns true if the path names a file, and reports an error otherwise.
  bool is_file(const Json& item, const std::string& what, const std::string& path) {
    const std::string name = what + " " + quote(path);
    switch (source_.files.kind(source_.directory / path)) {
      case PathKind::kFile: return true;
      case PathKind::kNone:
        suggest(path, PathKind::kFile, reader_.report(item, name + " does not exist"));
        break;
      case PathKind::kFolder:
        reader_.report(item, name + " is a folder").hint("name the files in it, each by itself");
        break;
      case PathKind::kOther:
        reader_.report(item, name + " is no file, but a pipe or a device");
        break;
      case PathKind::kHidden:
        reader_.report(item, name + " cannot be looked at: " + kWhyHidden);
        break;
    }
    return false;
  }

  void partial(const Json& value, ModuleSpec& spec) {
    const bool* chosen = reader_.boolean(value, "'partial'");
    if (chosen == nullptr || !*chosen) return;
    spec.coverage = AbiCoverage::kSome;
    parsed_.partial.push_back(reader_.where(value));
  }

  ParsedModules parsed_;
};

}  // namespace

ParsedModules parse_modules(ManifestSource& source, const Json& value) {
  return ModulesPart(source).parse(value);
}

}  // namespace kiln::tools
