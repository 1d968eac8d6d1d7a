// The table of operations: the effect of each instruction.
//
// A row has a name, in the spelling of gfx11 (spelling.hpp maps other spellings to it), and a
// handler for each wave width, 32 and 64. The rows are in operations/*.cpp, grouped by operand
// type.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/instruction.hpp"

namespace kiln::emulator {

struct Operation {
  std::string name;
  Handler run32 = nullptr;
  Handler run64 = nullptr;
};
using Operations = std::vector<Operation>;

// Each function returns the rows of one group.
Operations bit_operations();
Operations integer_operations();
Operations float_operations();
Operations conversion_operations();
Operations packed_operations();
Operations matrix_operations();
Operations comparison_operations();
Operations lane_operations();
Operations scalar_operations();
Operations control_operations();
Operations memory_operations();
Operations atomic_operations();
Operations lds_operations();

class OperationTable {
 public:
  OperationTable();
  // Returns null if the emulator lacks the instruction.
  Handler find(const std::string& name, u32 wave_width) const;
  const std::unordered_map<std::string, Operation>& rows() const { return rows_; }

 private:
  std::unordered_map<std::string, Operation> rows_;
};

}  // namespace kiln::emulator
