// This machine's processor, as far as it decides what compilers make for `-march=native`.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// True if an option, or a list of options, leaves a choice to the machine: "-march=native".
bool asks_for_native(std::string_view options);

// Returns model, caches and instructions of the first processor in a text like /proc/cpuinfo, but
// nothing that changes from boot to boot, such as its clock.
std::string processor_facts(std::string_view cpuinfo);

// Returns the facts of this machine's processor.
const std::string& this_processor();

}  // namespace kiln
