// The table of what each instruction does.
//
// A row is a name, in the spelling of gfx11 (spelling.hpp brings the others to it), and a handler
// for waves of 32 lanes and for waves of 64. operations/*.cpp hold the rows, by what they work on.
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

// Each gives the rows of one group.
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
  // Null when the emulator lacks the instruction.
  Handler find(const std::string& name, u32 wave_width) const;
  const std::unordered_map<std::string, Operation>& rows() const { return rows_; }

 private:
  std::unordered_map<std::string, Operation> rows_;
};

}  // namespace kiln::emulator
