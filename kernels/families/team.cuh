// How rows are shared out to the threads of a block, in any launch. A short row gets a team of
// neighbouring threads, a power of two; a long one a whole block. As many blocks as the device
// holds do all the work, and the blocks behind them exit early.
#pragma once

#include "device/block.cuh"
#include "device/platform.cuh"
#include "device/platform_lanes.cuh"
#include "families/spread.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// Returns how many bits a number below 2^31 has.
KILN_DEVICE u32 bits_of_number(u32 number) { return highest_bit(2 * number | 1); }

// Returns how many blocks work on rows of `pieces` pieces, assuming 64 registers a thread. If many
// small blocks have short rows, only half of the blocks that the device holds work, which leaves
// room for the others to exit.
KILN_DEVICE u32 row_blocks(u64 pieces) {
  u32 fit = multiprocessors() * 1024 >> (highest_bit(2 * block_threads() - 1));
  if (block_threads() <= 128 && pieces <= 64 && block_count() > 4 * fit) fit /= 2;
  return blocks_up_to(fit < kMaxBlocks ? fit : kMaxBlocks);
}

// The teams of a block. By default the whole block is one team.
struct RowTeams {
  Team team = block_team();  // the team of this thread
  u32 mine = 0;              // the team's number
  u32 first = 0;             // first team of those that advance together: the wave's or the block's
  u32 count = 1;

  // Forms teams for rows of `pieces` pieces, a piece being what one access moves. A team has a lane
  // for every 2^log_each pieces, or the whole block if a lane would have more than `most` pieces.
  KILN_DEVICE void share(u32 pieces, u32 log_each, u32 most) {
    const u32 threads = block_threads();
    const u32 thread = thread_rank();
    const u32 both = threads | wave_width(), widest = both & (0 - both);
    const u32 max_lanes = highest_bit(widest), wanted = bits_of_number((pieces - 1) >> log_each);
    const u32 log = wanted < max_lanes ? wanted : max_lanes;
    const bool whole = pieces > most << log;
    team = whole ? block_team() : Team{thread & ((1u << log) - 1), 1u << log};
    mine = whole ? 0 : thread >> log;
    first = whole ? 0 : (thread & ~(wave_width() - 1)) >> log;
    count = whole ? 1 : threads >> log;
  }
  // Gives neighbouring lanes neighbouring rows, one each, and returns the rows of a block. The
  // fewer rows a block has, the more of `blocks` blocks work. The block has whole waves, a power of
  // two of them.
  KILN_DEVICE u32 go_across(f32 rows, u32 blocks) {
    const f32 of_block = (rows - 0.5f) * reciprocal_approximate(static_cast<f32>(blocks));
    const u32 fewest = highest_bit(tuning::kMinAcross), most = highest_bit(wave_width());
    u32 log = bits_of_number(static_cast<u32>(of_block));
    log = log < fewest ? fewest : log < most ? log : most;
    count = 1u << log;
    mine = thread_rank() & (count - 1);
    first = 0;
    team = {thread_rank() >> log, block_threads() >> log, count};
    return count;
  }
  // Leaves the block one row. If there are enough blocks, all of the device then works.
  KILN_DEVICE void take_one() { count = 1; }
};

}  // namespace kiln::families
