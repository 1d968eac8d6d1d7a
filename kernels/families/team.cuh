// Teams: how rows are shared out to the threads of a block, in any launch. Short rows go to so many
// neighbouring threads, a power of two; long ones to whole blocks. As many blocks as the device
// holds do all the work, and those behind leave at once.
#pragma once

#include "device/block.cuh"
#include "device/platform.cuh"
#include "families/spread.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// Blocks that work on rows of so many pieces, with 64 registers a thread. Where many small blocks
// have short rows, half of what the device holds, so that the others have room to leave beside
// them.
KILN_DEVICE u32 row_blocks(u64 pieces) {
  u32 fit = multiprocessors() * 1024 / block_threads();
  if (block_threads() <= 128 && pieces <= 32 && block_count() > 4 * fit) fit /= 2;
  const u32 most = fit < kMostBlocks ? fit : kMostBlocks;
  return block_count() < most ? block_count() : most;
}

// The teams of a block.
struct RowTeams {
  Team team;  // this thread's
  u32 mine;   // its number
  u32 first;  // the first of those that go along: of the wave, or of the block
  u32 count;

  // For rows of so many pieces, each of which one access moves.
  KILN_DEVICE explicit RowTeams(u64 pieces) {
    const u32 threads = block_threads();
    const u32 thread = thread_rank();
    u32 log = 0;
#pragma unroll 1
    while ((2u << log) <= wave_width() && (1u << log) < pieces &&
           (threads & ((2u << log) - 1)) == 0) {
      ++log;
    }
    const bool whole = pieces > tuning::kPiecesOfLane << log;
    team = whole ? block_team() : Team{thread & ((1u << log) - 1), 1u << log};
    mine = whole ? 0 : thread >> log;
    first = whole ? 0 : (thread & ~(wave_width() - 1)) >> log;
    count = whole ? 1 : threads >> log;
  }
  // For neighbouring rows, a lane each. The block has whole waves.
  KILN_DEVICE void go_across() {
    count = wave_width();
    mine = lane_index();
    first = 0;
    team = {wave_index(), block_threads() / count, count};
  }
};

}  // namespace kiln::families
