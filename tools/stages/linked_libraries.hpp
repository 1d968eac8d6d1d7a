// linked_libraries: the libraries that compilers link into images beside the user's own sources,
// and their licences. Each fact has its source. Other libraries, such as those that flags name, are
// not covered.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/target_id.hpp"
#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct LinkedLibrary {
  std::string_view id;        // SPDX id: letters, digits, '.' and '-'
  std::string_view name;
  std::string_view supplier;
  std::string_view tool;      // the tool that links it, as its record is named
  // role of its files in that record; "device-library:" covers all roles with this prefix
  std::string_view role;
  std::string_view licence;   // an SPDX expression
  std::string_view source;    // where the licence is stated
  std::string_view summary;   // a sentence or two on the licence
  std::string_view text;      // text that the terms require to be reproduced; may be empty
};

std::span<const LinkedLibrary> linked_libraries();

// True if compilers link the library into images for this target.
bool is_linked_into(const LinkedLibrary& library, const TargetId& target);

// Returns the libraries that at least one image of the catalog is linked with.
std::vector<const LinkedLibrary*> libraries_of(const Catalog& catalog);

// Returns the text of <header>.notices.txt.
std::string notices_text(const Catalog& catalog);

}  // namespace kiln::tools
