// The bits of 2/pi, computed here.
#pragma once

namespace kiln::formulas {

// The bit of weight 2^-(place + 1); 0 beyond the 1201 that hardware keeps.
int two_over_pi_bit(int place);

}  // namespace kiln::formulas
