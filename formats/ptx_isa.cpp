#include "formats/ptx_isa.hpp"

#include <iterator>

namespace kiln {
namespace {

struct Row {
  int cuda;           // first CUDA version ...
  std::uint16_t ptx;  // ... that takes this PTX
};
constexpr Row kRows[] = {
    {8000, 50},  {9000, 60},  {9010, 61},  {9020, 62},  {10000, 63}, {10010, 64}, {10020, 65},
    {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76},
    {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
    {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91},
};

}  // namespace

std::optional<std::uint16_t> max_ptx_isa(int cuda_version) {
  if (cuda_version > std::end(kRows)[-1].cuda) return std::nullopt;
  std::uint16_t newest = 0;
  for (const Row& row : kRows) {
    if (cuda_version >= row.cuda) newest = row.ptx;
  }
  return newest;
}

int cuda_of_ptx_isa(std::uint16_t ptx_isa) {
  for (const Row& row : kRows) {
    if (row.ptx >= ptx_isa) return row.cuda;
  }
  return 0;
}

}  // namespace kiln
