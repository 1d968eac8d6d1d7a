// h200_reference.json, carried by the program: it is run on machines that have no source tree.
#pragma once

namespace kiln::bench {

extern const char* const kRecordedData;

}  // namespace kiln::bench
