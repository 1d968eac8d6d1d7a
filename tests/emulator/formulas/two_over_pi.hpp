// The bits of 2/pi, computed independently.
#pragma once

namespace kiln::formulas {

// Returns the bit of weight 2^-(place + 1); 0 beyond the 1201 bits that hardware has.
int two_over_pi_bit(int place);

}  // namespace kiln::formulas
