// build_facts: what a build is made of, as facts that two builds can be compared by.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tools/model/catalog.hpp"

namespace kiln::tools {

struct Fact {
  std::string what;  // "source 'scale.cu'", "the version of nvcc"
  std::string value;
  bool is_shown = true;       // the values tell a reader something
  bool may_lack = false;      // a build may have nothing to say of it
  bool may_be_empty = false;  // what says nothing of it says that it is empty
};
using Facts = std::map<std::string, Fact>;  // by `what`

void add_fact(Facts& facts, Fact fact);

// Sources, their digests and the options of a module.
Facts facts_of_sources(const Module& module);
// Settings and tools.
Facts facts_of_build(const Catalog& catalog);

// Notes what `a` says, and `b` says differently or not at all. A difference that both tell of is noted
// when `name_a` comes before `name_b`.
void compare_facts(const Facts& a, const std::string& name_a, const Facts& b,
                   const std::string& name_b, std::set<std::string>& notes);

// The error's first notes, and how many more there are.
void add_notes(Error& error, const std::set<std::string>& notes);

}  // namespace kiln::tools
