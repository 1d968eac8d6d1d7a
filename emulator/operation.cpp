#include "emulator/operation.hpp"

namespace kiln::emulator {

OperationTable::OperationTable() {
  for (const auto group :
       {bit_operations, integer_operations, float_operations, conversion_operations,
        packed_operations, matrix_operations, comparison_operations, lane_operations,
        scalar_operations, control_operations, memory_operations, atomic_operations,
        lds_operations}) {
    for (Operation& row : group()) {
      std::string name = row.name;
      rows_.emplace(std::move(name), std::move(row));
    }
  }
}

Handler OperationTable::find(const std::string& name, u32 wave_width) const {
  const auto row = rows_.find(name);
  if (row == rows_.end()) return nullptr;
  return wave_width == 64 ? row->second.run64 : row->second.run32;
}

}  // namespace kiln::emulator
