// linked_libraries: what compilers link into images beside the user's own sources, and under which
// licence that stands. Facts, each with its source; of other libraries, such as those that flags name,
// nothing is known here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/target_id.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct LinkedLibrary {
  std::string_view id;        // of SPDX: letters, digits, '.' and '-'
  std::string_view name;
  std::string_view supplier;
  std::string_view tool;      // that links it, by the name of its record
  std::string_view role;      // of its files in that record; "device-library:" stands for all of these
  std::string_view licence;   // an SPDX expression
  std::string_view source;    // where that is said
  std::string_view summary;   // a sentence or two on the licence
  std::string_view text;      // what its terms want to be reproduced; may be empty
};

std::span<const LinkedLibrary> linked_libraries();

// Whether compilers link it into images for this target.
bool is_linked_into(const LinkedLibrary& library, const TargetId& target);

// Those that some image of the catalog was linked with.
std::vector<const LinkedLibrary*> libraries_of(const Catalog& catalog);

// The text of <header>.notices.txt.
std::string notices_text(const Catalog& catalog);

}  // namespace kiln::tools
