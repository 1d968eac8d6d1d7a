#include "tools/stages/build_facts.hpp"

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/json/json.hpp"
#include "tools/stages/origin_json.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMaxNotes = 20;

}  // namespace

void add_fact(Facts& facts, Fact fact) {
  std::string what = fact.what;
  facts.emplace(std::move(what), std::move(fact));
}

Facts facts_of_sources(const Module& module) {
  Facts facts;
  const std::string of_module = " of module " + quote(module.name);
  add_fact(facts, {"the list of sources" + of_module, join(module.sources, ", ")});
  for (const UnitOrigin& origin : module.origins) {
    for (const auto& [key, values] : origin.options) {
      add_fact(facts,
               {.what = quote(key) + of_module, .value = join(values, " "), .may_be_empty = true});
    }
    for (const SourceFile& file : origin.files) {
      add_fact(
          facts,
          {.what = "source " + quote(file.path), .value = file.digest.hex(), .is_shown = false});
    }
  }
  return facts;
}

Facts facts_of_build(const Catalog& catalog) {
  Facts facts;
  add_fact(facts, {"the manifest's name", catalog.name});
  const Json settings = settings_json(catalog.settings);
  for (const JsonMember& setting : *settings.object()) {
    const std::string* const text = setting.value.text();
    add_fact(facts, {"the setting " + quote(setting.key),
                     text != nullptr
                         ? *text
                         : std::string(trim(write_json(setting.value, JsonLayout::kCompact)))});
  }
  for (const ToolRecord& tool : catalog.tools) {
    add_fact(facts,
             {.what = "the version of " + tool.name, .value = tool.version, .is_optional = true});
    for (const auto& [role, digest] : tool.roles) {
      add_fact(facts, {.what = tool.name + ": its " + role,
                       .value = digest,
                       .is_shown = false,
                       .is_optional = true});
    }
    std::vector<std::string> options;
    for (const auto& [name, value] : tool.environment) options.push_back(name + "=" + value);
    add_fact(facts, {.what = "what the environment gives " + tool.name,
                     .value = join(options, " "),
                     .is_optional = true});
  }
  return facts;
}

void compare_facts(const Facts& a, const std::string& name_a, const Facts& b,
                   const std::string& name_b, std::set<std::string>& notes) {
  for (const auto& [what, fact] : a) {
    const auto other = b.find(what);
    if (other == b.end()) {
      if (fact.may_be_empty) {
        notes.insert(what + " is " + quote(fact.value) + " in " + quote(name_a) +
                     ", and empty in " + quote(name_b));
      } else if (!fact.is_optional) {
        notes.insert(what + " is in " + quote(name_a) + " and not in " + quote(name_b));
      }
    } else if (other->second.value != fact.value && name_a < name_b) {
      notes.insert(fact.is_shown
                       ? what + " is " + quote(fact.value) + " in " + quote(name_a) + ", and " +
                             quote(other->second.value) + " in " + quote(name_b)
                       : what + " differs between " + quote(name_a) + " and " + quote(name_b));
    }
  }
}

void add_notes(Error& error, const std::set<std::string>& notes) {
  std::size_t shown = 0;
  for (const std::string& note : notes) {
    if (shown++ < kMaxNotes) error.note(note);
  }
  if (notes.size() > kMaxNotes) {
    error.note("and " + std::to_string(notes.size() - kMaxNotes) + " differences more");
  }
}

}  // namespace kiln::tools
