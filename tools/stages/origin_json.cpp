#include "tools/stages/origin_json.hpp"

#include <string_view>

#include "tools/json/json_fields.hpp"
#include "tools/stages/parse_limits.hpp"

namespace kiln::tools {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Json::Object members(const Pairs& pairs) {
  Json::Object object;
  for (const auto& [key, value] : pairs) object.push_back({key, value});
  return object;
}

Pairs pairs_of(const Json::Object& object) {
  Pairs pairs;
  for (const JsonMember& member : object) {
    if (member.value.text() != nullptr) pairs.emplace_back(member.key, *member.value.text());
  }
  return pairs;
}

Json::Object budgets_json(const Budgets& budgets) {
  Json::Object object;
  for (const BudgetField& field : kBudgetFields) {
    if (budgets.*field.member) object.push_back({std::string(field.key), *(budgets.*field.member)});
  }
  return object;
}

Budgets read_budgets(const Json& owner) {
  Budgets budgets;
  const Json* object = owner.find("budgets");
  if (object == nullptr) return budgets;
  for (const BudgetField& field : kBudgetFields) {
    if (const auto number = integer_of(*object, field.key)) {
      budgets.*field.member = static_cast<std::uint64_t>(*number);
    }
  }
  return budgets;
}

// Null stands for any version.
Json spell_floor(std::uint32_t version) {
  return version == 0 ? Json() : Json(spell_release(version));
}

UnitOrigin read_origin(const Json& unit) {
  UnitOrigin origin;
  for (const JsonMember& option : object_of(unit, "options")) {
    const Json::Array* values = option.value.array();
    if (values != nullptr) origin.options.emplace_back(option.key, texts_of(*values));
  }
  origin.files = read_source_files(unit, "files");
  return origin;
}

}  // namespace

Json source_files_json(const std::vector<SourceFile>& files) {
  Json::Object object;
  for (const SourceFile& file : files) object.push_back({file.path, file.digest.hex()});
  return object;
}

Json settings_json(const BuildSettings& settings) {
  // The structured bindings name every member, so that a new member cannot be forgotten here and in
  // read_settings().
  const auto& [embed, minimum_runtime, debug, joined_ptx, floors, budgets] = settings;
  const auto& [header, name_space, mode, outputs, compression, source] = embed;
  Json::Array emit;
  for (const EmbedOutput output : outputs) {
    emit.push_back(word_of(kEmbedOutputWords, output));
  }
  return Json::Object{{"header", header},
                      {"namespace", name_space},
                      {"mode", word_of(kEmbedModeWords, mode)},
                      {"emit", std::move(emit)},
                      {"compression", word_of(kCompressionWords, compression)},
                      {"source", word_of(kEmbedSourceWords, source)},
                      {"minimum_runtime", minimum_runtime},
                      {"debug", word_of(kDebugInfoWords, debug)},
                      {"joined_ptx", joined_ptx == JoinedPtx::kYes},
                      {"min_driver", spell_floor(floors.cuda)},
                      {"min_rocm", spell_floor(floors.rocm)},
                      {"budgets", budgets_json(budgets)}};
}

Json module_json(const Module& module) {
  Json::Array units;
  for (std::size_t unit = 0; unit < module.origins.size(); ++unit) {
    Json::Object options;
    for (const auto& [key, values] : module.origins[unit].options) {
      options.push_back({key, strings(values)});
    }
    units.push_back(Json::Object{{"source", module.sources[unit]},
                                 {"options", std::move(options)},
                                 {"files", source_files_json(module.origins[unit].files)}});
  }
  Json::Object object{{"name", module.name}};
  object.push_back({"own_targets", module.has_own_targets});
  if (Json::Object own = budgets_json(module.budgets); !own.empty()) {
    object.push_back({"budgets", std::move(own)});
  }
  object.push_back({"source_digest", module.source_digest.hex()});
  object.push_back({"units", std::move(units)});
  return object;
}

Json tool_json(const ToolRecord& tool) {
  Json::Object object{
      {"name", tool.name}, {"version", tool.version}, {"identity", identity_of(tool)}};
  object.push_back({"roles", members(tool.roles)});
  if (!tool.environment.empty()) object.push_back({"environment", members(tool.environment)});
  return object;
}

std::vector<SourceFile> read_source_files(const Json& owner, std::string_view key) {
  std::vector<SourceFile> files;
  for (const auto& [path, hex] : pairs_of(object_of(owner, key))) {
    Digest digest;
    (void)Digest::parse(hex, digest);
    files.push_back({path, digest});
  }
  return files;
}

std::optional<BuildSettings> read_settings(const Json& document) {
  const Json* object = document.find("settings");
  if (object == nullptr) return std::nullopt;
  const auto mode = value_of(kEmbedModeWords, text_of(*object, "mode"));
  const auto compression = value_of(kCompressionWords, text_of(*object, "compression"));
  const auto source = value_of(kEmbedSourceWords, text_of(*object, "source"));
  const auto debug = value_of(kDebugInfoWords, text_of(*object, "debug"));
  if (!mode || !compression || !source || !debug) return std::nullopt;
  BuildSettings settings;
  settings.embed.header = text_of(*object, "header");
  settings.embed.name_space = text_of(*object, "namespace");
  settings.embed.mode = *mode;
  settings.embed.outputs.clear();
  for (const Json& each : array_of(*object, "emit")) {
    const std::string* name = each.text();
    const auto output = value_of(kEmbedOutputWords, name != nullptr ? *name : std::string());
    if (!output) return std::nullopt;
    settings.embed.outputs.push_back(*output);
  }
  if (settings.embed.outputs.empty()) return std::nullopt;
  settings.embed.compression = *compression;
  settings.embed.source = *source;
  settings.minimum_runtime =
      static_cast<std::uint32_t>(integer_of(*object, "minimum_runtime").value_or(0));
  settings.debug = *debug;
  settings.floors = {.cuda = parse_release(text_of(*object, "min_driver")).value_or(0),
                     .rocm = parse_release(text_of(*object, "min_rocm")).value_or(0)};
  settings.budgets = read_budgets(*object);
  settings.joined_ptx = boolean_of(*object, "joined_ptx") ? JoinedPtx::kYes : JoinedPtx::kNo;
  return settings;
}

std::vector<Module> read_module_origins(const Json& document) {
  std::vector<Module> modules;
  for (const Json& object : array_of(document, "modules")) {
    Module module;
    module.name = text_of(object, "name");
    module.has_own_targets = boolean_of(object, "own_targets");
    module.budgets = read_budgets(object);
    (void)Digest::parse(text_of(object, "source_digest"), module.source_digest);
    for (const Json& unit : array_of(object, "units")) {
      module.sources.push_back(text_of(unit, "source"));
      module.origins.push_back(read_origin(unit));
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

std::vector<ToolRecord> read_tools(const Json& document) {
  std::vector<ToolRecord> tools;
  for (const Json& object : array_of(document, "tools")) {
    tools.push_back({.name = text_of(object, "name"),
                     .version = text_of(object, "version"),
                     .roles = pairs_of(object_of(object, "roles")),
                     .environment = pairs_of(object_of(object, "environment"))});
  }
  return tools;
}

}  // namespace kiln::tools
