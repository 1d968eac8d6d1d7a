// build_facts: describes what a build is made of as facts, by which two builds can be compared.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct Fact {
  std::string what;  // "source 'scale.cu'", "the version of nvcc"
  std::string value;
  bool is_shown = true;       // the values are worth showing to a reader
  bool is_optional = false;   // a build may lack this fact without being different
  bool may_be_empty = false;  // a build that lacks this fact counts as having an empty value
};
using Facts = std::map<std::string, Fact>;  // by `what`

void add_fact(Facts& facts, Fact fact);

// Returns the sources of a module, their digests and options.
Facts facts_of_sources(const Module& module);
// Returns the settings and tools of a build.
Facts facts_of_build(const Catalog& catalog);

// Notes each fact of `a` that `b` has with another value or lacks. A difference in a fact that both
// have is noted only if `name_a` comes before `name_b`, so that comparing both ways notes it once.
void compare_facts(const Facts& a, const std::string& name_a, const Facts& b,
                   const std::string& name_b, std::set<std::string>& notes);

// Adds the first notes to the error, and says how many are left out.
void add_notes(Error& error, const std::set<std::string>& notes);

}  // namespace kiln::tools
