// Teams: how rows are shared out to the threads of a block, in any launch. Short rows go to so many
// neighbouring threads, a power of two; long ones to whole blocks. As many blocks as the device
// holds do all the work, and those behind leave at once.
#pragma once

#include "device/block.cuh"
#include "device/platform.cuh"
#include "device/platform_lanes.cuh"
#include "families/spread.cuh"
#include "tuning/rows.hpp"

namespace kiln::families {

using namespace device;

// How many bits a number below 2^31 has.
KILN_DEVICE u32 bits_of_number(u32 number) { return highest_bit(2 * number | 1); }

// Blocks that work on rows of so many pieces, with 64 registers a thread. Where many small blocks
// have short rows, half of what the device holds, so that the others have room to leave beside
// them.
KILN_DEVICE u32 row_blocks(u64 pieces) {
  u32 fit = multiprocessors() * 1024 >> (highest_bit(2 * block_threads() - 1));
  if (block_threads() <= 128 && pieces <= 64 && block_count() > 4 * fit) fit /= 2;
  return blocks_up_to(fit < kMostBlocks ? fit : kMostBlocks);
}

// The teams of a block: one of all its threads, unless others are asked for.
struct RowTeams {
  Team team = block_team();  // this thread's
  u32 mine = 0;              // its number
  u32 first = 0;             // the first of those that go along: of the wave, or of the block
  u32 count = 1;

  // For rows of so many pieces, each of which one access moves: a lane for every 2^log_each; the
  // block where a lane would have more than `most`.
  KILN_DEVICE void share(u32 pieces, u32 log_each, u32 most) {
    const u32 threads = block_threads();
    const u32 thread = thread_rank();
    const u32 both = threads | wave_width(), widest = both & (0 - both);
    const u32 most_lanes = highest_bit(widest), wanted = bits_of_number((pieces - 1) >> log_each);
    const u32 log = wanted < most_lanes ? wanted : most_lanes;
    const bool whole = pieces > most << log;
    team = whole ? block_team() : Team{thread & ((1u << log) - 1), 1u << log};
    mine = whole ? 0 : thread >> log;
    first = whole ? 0 : (thread & ~(wave_width() - 1)) >> log;
    count = whole ? 1 : threads >> log;
  }
  // For so many neighbouring rows, a lane each: the fewer a block has, the more of `blocks` work.
  // The block has whole waves, a power of two of them. Gives the rows of a block.
  KILN_DEVICE u32 go_across(f32 rows, u32 blocks) {
    const f32 of_block = (rows - 0.5f) * reciprocal_approximate(static_cast<f32>(blocks));
    const u32 fewest = highest_bit(tuning::kFewestAcross), most = highest_bit(wave_width());
    u32 log = bits_of_number(static_cast<u32>(of_block));
    log = log < fewest ? fewest : log < most ? log : most;
    count = 1u << log;
    mine = thread_rank() & (count - 1);
    first = 0;
    team = {thread_rank() >> log, block_threads() >> log, count};
    return count;
  }
  // Where there are blocks enough, each takes one row, so that all of the device works.
  KILN_DEVICE void take_one() { count = 1; }
};

}  // namespace kiln::families
