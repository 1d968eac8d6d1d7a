#include "tools/engine/state.hpp"

#include <algorithm>
#include <unordered_map>

#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-state";
constexpr unsigned kVersion = 2;

constexpr std::string_view kFinish = "finish ";

// Bounds the ingredients of all steps together, as a multiple of the file's size: steps share most
// of their lines, and the file holds each line once.
constexpr std::size_t kMaxRepeated = 1024;

// Reads line by line and returns false at the first line that does not fit the grammar.
class Reader {
 public:
  bool read(std::string_view lines) {
    budget_ = kMaxRepeated * lines.size();
    while (!lines.empty()) {
      if (lines.starts_with(kIngredient)) {
        if (!take_ingredients(lines)) return false;
        continue;
      }
      std::string_view line = take_until(lines, '\n');
      if (!read_line(take_until(line, ' '), line)) return false;
    }
    return true;
  }
  BuildState take() { return std::move(state_); }

 private:
  bool read_line(std::string_view word, std::string_view rest) {
    if (word == "file") {
      Digest digest;
      if (!Digest::parse(take_until(rest, ' '), digest)) return false;
      files_.emplace_back(unescape_line(rest), digest);
      return true;
    }
    if (word == "step") {
      // Steps were written in order, so each goes to the end of the map.
      step_ = &state_.steps.try_emplace(state_.steps.end(), unescape_line(rest))->second;
      return true;
    }
    if (word == "finish") {
      state_.finish.push_back(read_ingredient(rest));
      return true;
    }
    if (step_ == nullptr) return false;
    if (word == "has") return read_ingredients_of_step(rest);
    if (word == "reads") return read_dependencies(rest);
    if (word == "made") {
      return Digest::parse(take_until(rest, ' '), step_->output) &&
             Digest::parse(take_until(rest, ' '), step_->log) &&
             take_number(rest, step_->milliseconds);
    }
    return false;
  }

  // Takes all ingredient lines, which are consecutive.
  bool take_ingredients(std::string_view& lines) {
    if (!starts_.empty()) return false;
    std::size_t end = 0;
    while (lines.substr(end).starts_with(kIngredient)) {
      starts_.push_back(end);
      end = lines.find('\n', end);
      if (end++ == std::string_view::npos) return false;
    }
    starts_.push_back(end);
    ingredients_ = lines.substr(0, end);
    lines.remove_prefix(end);
    return true;
  }

  bool read_ingredients_of_step(std::string_view rest) {
    while (!rest.empty()) {
      std::string_view range = take_until(rest, ' ');
      std::uint64_t first = 0, last = 0;
      const bool are_numbers = take_number(range, first, '-') && take_number(range, last);
      if (!are_numbers || !range.empty()) return false;
      if (first > last || starts_.empty() || last >= starts_.size() - 1) return false;
      const std::size_t size = starts_[last + 1] - starts_[first];
      if (size > budget_) return false;
      budget_ -= size;
      step_->ingredients += ingredients_.substr(starts_[first], size);
    }
    return true;
  }

  bool read_dependencies(std::string_view rest) {
    const auto [known, is_new] = lists_.try_emplace(rest);
    if (is_new) {
      Dependencies::List list;
      while (!rest.empty()) {
        std::uint64_t index = 0;
        if (!take_number(rest, index) || index >= files_.size()) return false;
        list.push_back(files_[index]);
      }
      known->second = std::move(list);
    }
    step_->dependencies = known->second;
    return true;
  }

  BuildState state_;
  Dependencies::List files_;
  std::string_view ingredients_;     // one per line
  std::vector<std::size_t> starts_;  // offsets of those lines, and the end of the last
  std::size_t budget_ = 0;
  std::unordered_map<std::string_view, Dependencies> lists_;
  StepRecord* step_ = nullptr;
};

// The ingredient lines of all steps, each once, with their indices.
struct IngredientTable {
  std::string lines;
  std::unordered_map<std::string_view, std::size_t> indices;

  explicit IngredientTable(const BuildState& state) {
    for (const auto& [id, step] : state.steps) {
      for (std::string_view rest = step.ingredients; !rest.empty();) {
        const std::string_view line = take_until(rest, '\n');
        if (indices.emplace(line, indices.size()).second) lines.append(line).append("\n");
      }
    }
  }

  // Returns the indices of the lines as ranges: " 0-12 40-41".
  std::string ranges(std::string_view ingredients) const {
    std::string text;
    std::size_t first = 0, end = 0;  // pending range; empty if first == end
    const auto flush = [&] {
      if (first == end) return;
      text.append(" ").append(std::to_string(first)).append("-").append(std::to_string(end - 1));
    };
    while (!ingredients.empty()) {
      const std::size_t index = indices.at(take_until(ingredients, '\n'));
      if (first == end || index != end) {
        flush();
        first = index;
      }
      end = index + 1;
    }
    flush();
    return text;
  }
};

}  // namespace

std::string write_state(const BuildState& state) {
  // Steps share most of their headers, so each file is written once.
  std::map<std::pair<std::string, Digest>, std::size_t> files;
  for (const auto& [id, step] : state.steps) {
    for (const auto& dependency : step.dependencies) files.emplace(dependency, 0);
  }
  std::string lines;
  std::size_t count = 0;
  for (auto& [file, index] : files) {
    index = count++;
    lines.append("file ").append(file.second.hex()).append(" ");
    lines.append(escape_line(file.first)).append("\n");
  }
  const IngredientTable ingredients(state);
  lines += ingredients.lines;
  for (const auto& [id, step] : state.steps) {
    lines.append("step ").append(escape_line(id)).append("\n");
    lines.append("has").append(ingredients.ranges(step.ingredients)).append("\n");
    std::string reads;
    for (const auto& dependency : step.dependencies) {
      if (!reads.empty()) reads += ' ';
      reads += std::to_string(files.at(dependency));
    }
    lines.append("reads ").append(reads).append("\n");
    lines.append("made ").append(step.output.hex()).append(" ").append(step.log.hex());
    lines.append(" ").append(std::to_string(step.milliseconds)).append("\n");
  }
  for (const Ingredient& ingredient : state.finish) {
    append_ingredient(lines, kFinish, ingredient.label, ingredient.value);
  }
  return seal(kFormat, kVersion, lines);
}

BuildState read_state(std::string_view file) {
  const std::optional<std::string_view> lines = unseal(kFormat, kVersion, file);
  Reader reader;
  if (!lines || !reader.read(*lines)) return {};
  return reader.take();
}

}  // namespace kiln::tools
