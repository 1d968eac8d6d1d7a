#include "tools/engine/state.hpp"

#include <algorithm>
#include <charconv>

#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-state";
constexpr unsigned kVersion = 1;

constexpr std::string_view kIs = "is ", kFinish = "finish ";

void append_ingredients(std::string& lines, std::string_view word, const Ingredients& ingredients) {
  for (const Ingredient& one : ingredients) {
    append_escaped(lines.append(word), one.label);
    append_escaped(lines.append("\t"), one.value);
    lines += '\n';
  }
}

// After the word.
Ingredient read_ingredient(std::string_view line) {
  std::string label = unescape_line(take_until(line, '\t'));
  return {std::move(label), unescape_line(line)};
}

bool take_number(std::string_view& line, std::uint64_t& value) {
  const std::string_view word = take_until(line, ' ');
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc() && end == word.data() + word.size();
}

// Reads line by line; false at the first line that does not fit the grammar.
class Reader {
 public:
  bool read(std::string_view lines) {
    while (!lines.empty()) {
      if (lines.starts_with(kIs)) {
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
      // They were written in order.
      step_ = &state_.steps.try_emplace(state_.steps.end(), unescape_line(rest))->second;
      return true;
    }
    if (word == "finish") {
      state_.finish.push_back(read_ingredient(rest));
      return true;
    }
    if (step_ == nullptr) return false;
    if (word == "reads") return read_dependencies(rest);
    if (word == "made") {
      return Digest::parse(take_until(rest, ' '), step_->output) &&
             Digest::parse(take_until(rest, ' '), step_->log) &&
             take_number(rest, step_->milliseconds);
    }
    return false;
  }

  bool take_ingredients(std::string_view& lines) {
    if (step_ == nullptr) return false;
    std::size_t end = 0;
    while (lines.substr(end).starts_with(kIs)) {
      end = std::min(lines.find('\n', end), lines.size() - 1) + 1;
    }
    step_->ingredients.append(lines.substr(0, end));
    if (!step_->ingredients.ends_with('\n')) step_->ingredients += '\n';
    lines.remove_prefix(end);
    return true;
  }

  bool read_dependencies(std::string_view rest) {
    while (!rest.empty()) {
      std::uint64_t index = 0;
      if (!take_number(rest, index) || index >= files_.size()) return false;
      step_->dependencies.push_back(files_[index]);
    }
    return true;
  }

  BuildState state_;
  std::vector<std::pair<std::string, Digest>> files_;
  StepRecord* step_ = nullptr;
};

}  // namespace

std::string write_ingredients(const Ingredients& ingredients) {
  std::string lines;
  append_ingredients(lines, kIs, ingredients);
  return lines;
}

Ingredients read_ingredients(std::string_view lines) {
  Ingredients ingredients;
  while (!lines.empty()) {
    std::string_view line = take_until(lines, '\n');
    line.remove_prefix(std::min(line.size(), kIs.size()));
    ingredients.push_back(read_ingredient(line));
  }
  return ingredients;
}

std::string write_state(const BuildState& state) {
  // Steps share most of their headers: each file is written once.
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
  for (const auto& [id, step] : state.steps) {
    lines.append("step ").append(escape_line(id)).append("\n");
    lines += step.ingredients;
    std::string reads;
    for (const auto& dependency : step.dependencies) {
      if (!reads.empty()) reads += ' ';
      reads += std::to_string(files.at(dependency));
    }
    lines.append("reads ").append(reads).append("\n");
    lines.append("made ").append(step.output.hex()).append(" ").append(step.log.hex());
    lines.append(" ").append(std::to_string(step.milliseconds)).append("\n");
  }
  append_ingredients(lines, kFinish, state.finish);
  return seal(kFormat, kVersion, lines);
}

BuildState read_state(std::string_view file) {
  const std::optional<std::string_view> lines = unseal(kFormat, kVersion, file);
  Reader reader;
  if (!lines || !reader.read(*lines)) return {};
  return reader.take();
}

}  // namespace kiln::tools
