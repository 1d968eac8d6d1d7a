// h200_reference.json as part of the program, which is run on machines without the source tree.
#pragma once

namespace kiln::bench {

extern const char* const kRecordedData;

}  // namespace kiln::bench
