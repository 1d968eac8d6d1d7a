// A table as a terminal shows it.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kiln::tools {

// A name on one line, whatever an image or a catalog holds.
inline std::string printable_line(std::string_view name) {
  const std::string quoted = quote(name);
  return quoted.substr(1, quoted.size() - 2);
}

// Rows of cells, each column as wide as its widest cell. Numbers are set right, text left.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line = "  ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string padding(widths[i] - row[i].size(), ' ');
        const bool is_text = i == 0 || i + 1 == row.size();
        line += is_text ? row[i] + padding : padding + row[i];
        line += "  ";
      }
      out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kiln::tools
