#include "tools/stages/parse_targets.hpp"

#include <string>
#include <utility>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/compatibility.hpp"

namespace kiln::tools {
namespace {

using Empty = JsonReader::Empty;

// All AMD images of a module go into one bundle, so their targets must be compatible.
void check_one_bundle(JsonReader& reader, const std::vector<Located<TargetId>>& targets) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (can_share_bundle(targets[i].value, targets[j].value)) continue;
      Error& error = reader.report(
          targets[i].where, "targets " + quote(to_string(targets[j].value)) + " and " +
                                quote(to_string(targets[i].value)) + " cannot be in one bundle");
      error.notes.push_back({Note::Kind::kNote, "the other one", targets[j].where});
      error.hint("for one processor, either name a feature in every target or in none");
      break;
    }
  }
}

}  // namespace

std::vector<Located<TargetId>> parse_targets(JsonReader& reader, const Json& value) {
  std::vector<Located<TargetId>> found;
  JsonReader::Listed listed;
  reader.list(value, "'targets'", "strings", Empty::kRefused, [&](const Json& item) {
    const std::string* text = reader.text(item, "a target");
    if (text == nullptr) return;
    Result<TargetId> target = parse_target_id(*text);
    if (!target) return reader.report(item, std::move(target).error());
    if (!reader.is_listed_once(listed, item, "target", to_string(*target), *text)) return;
    found.push_back({*std::move(target), reader.where(item)});
  });
  check_one_bundle(reader, found);
  return found;
}

}  // namespace kiln::tools
