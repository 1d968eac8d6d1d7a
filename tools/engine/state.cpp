#include "tools/engine/state.hpp"

#include <charconv>

#include "tools/system/sealed_text.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kFormat = "kiln-state";
constexpr unsigned kVersion = 1;

void append_ingredients(std::string& lines, std::string_view word, const Ingredients& ingredients) {
  for (const Ingredient& one : ingredients) {
    lines.append(word).append(" ").append(escape_line(one.label)).append("\t");
    lines.append(escape_line(one.value)).append("\n");
  }
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
      step_ = &state_.steps[unescape_line(rest)];
      return true;
    }
    if (word == "finish") return read_ingredient(rest, state_.finish);
    if (step_ == nullptr) return false;
    if (word == "is") return read_ingredient(rest, step_->ingredients);
    if (word == "reads") return read_dependencies(rest);
    if (word == "made") {
      return Digest::parse(take_until(rest, ' '), step_->output) &&
             Digest::parse(take_until(rest, ' '), step_->log) &&
             take_number(rest, step_->milliseconds);
    }
    return false;
  }

  static bool read_ingredient(std::string_view rest, Ingredients& into) {
    std::string label = unescape_line(take_until(rest, '\t'));
    into.push_back({std::move(label), unescape_line(rest)});
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
    append_ingredients(lines, "is", step.ingredients);
    std::string reads;
    for (const auto& dependency : step.dependencies) {
      if (!reads.empty()) reads += ' ';
      reads += std::to_string(files.at(dependency));
    }
    lines.append("reads ").append(reads).append("\n");
    lines.append("made ").append(step.output.hex()).append(" ").append(step.log.hex());
    lines.append(" ").append(std::to_string(step.milliseconds)).append("\n");
  }
  append_ingredients(lines, "finish", state.finish);
  return seal(kFormat, kVersion, lines);
}

BuildState read_state(std::string_view file) {
  const std::optional<std::string_view> lines = unseal(kFormat, kVersion, file);
  Reader reader;
  if (!lines || !reader.read(*lines)) return {};
  return reader.take();
}

}  // namespace kiln::tools
