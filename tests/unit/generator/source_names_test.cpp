#include "generator/source_names.hpp"

#include <catch2/catch_test_macros.hpp>

#include "generator/names.hpp"

using namespace kiln;
using namespace kiln::generator;

namespace {

tools::Module module_of(std::vector<std::string> names) {
  tools::Module module{"saxpy", {"saxpy.cu"}, {}, {}};
  for (std::string& name : names) module.kernels.push_back({std::move(name), 0, {}});
  return module;
}

// Returns "saxpy<typename>: saxpy<float>=0 saxpy<::kiln::f16>=1", or "ns::scale: ns::scale=0" for a
// function, one name a line.
std::string shown(std::vector<std::string> names) {
  std::string text;
  for (const SourceName& one : source_names_of(module_of(std::move(names)))) {
    const auto list = [&](const std::vector<std::string>& words) {
      std::string joined;
      for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
      const std::string name = (one.space.empty() ? "" : one.space + "::") + one.name;
      return one.is_template() ? name + "<" + joined + ">" : name;
    };
    text += list(one.parameters) + ":";
    for (const SourceInstance& instance : one.instances) {
      text += " " + list(instance.arguments) + "=" + std::to_string(instance.kernel);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("source_names_of names instances of templates as the source does") {
  CHECK(shown({"_Z5saxpyI6__halfEvPT_", "_Z5saxpyIdEvPT_", "_Z5saxpyIfEvPT_"}) ==
        "saxpy<typename>: saxpy<::kiln::f16>=0 saxpy<double>=1 saxpy<float>=2\n");
  CHECK(shown({"_Z4castI13__nv_bfloat16hEvPT_PT0_", "affine", "_Z4castIlbEvPT_PT0_"}) ==
        "cast<typename, typename>: cast<::kiln::bf16, unsigned char>=0 cast<long, bool>=2\n");
  CHECK(shown({"_Z5tiledIfLj4EEvPT_", "_Z5tiledIfLj8EEvPT_"}) ==
        "tiled<typename, unsigned int>: tiled<float, 4u>=0 tiled<float, 8u>=1\n");
  CHECK(shown({"_Z4pickILb1ELin3ELc65EEvPf"}) == "pick<bool, int, char>: pick<true, -3, 65>=0\n");
}

TEST_CASE("source_names_of names functions and what is in namespaces as the source does") {
  CHECK(shown({"_Z5scaleifPf", "_ZN2ns5scaleEifPf", "affine"}) ==
        "scale: scale=0\nns::scale: ns::scale=1\n");
  CHECK(shown({"_ZN2ns5inner5saxpyIfEEvPT_"}) ==
        "ns::inner::saxpy<typename>: ns::inner::saxpy<float>=0\n");
  CHECK(plain_names_of(module_of({"_Z5scaleifPf", "_ZN2ns5scaleEifPf", "affine", "_Z5saxpyIfEvPT_"})) ==
        std::vector<std::string>{"scale", "ns_scale", "affine", "saxpy_float"});
  CHECK(plain_names_of(module_of({"_Z5saxpyI6__halfEvPT_", "_Z5tiledIjLin4EEvPT_", "_Z5tiledIjLi4EEvPT_"})) ==
        std::vector<std::string>{"saxpy_f16", "tiled_unsigned_int_minus_4", "tiled_unsigned_int_4"});
  // If two names give the same words, neither gets them.
  CHECK(plain_names_of(module_of({"_Z5saxpyIfEvPT_", "saxpy_float", "_ZN2ns5scaleEifPf", "_Z8ns_scaleif"})) ==
        std::vector<std::string>{"_Z5saxpyIfEvPT_", "saxpy_float", "_ZN2ns5scaleEifPf", "_Z8ns_scaleif"});
}

TEST_CASE("names_in_namespaces leaves out what two modules have, and what a kernel is called") {
  const auto paths = [](std::vector<std::vector<std::string>> modules) {
    tools::Catalog catalog{"demo", {}, {}, {}};
    for (std::vector<std::string>& names : modules) catalog.modules.push_back(module_of(std::move(names)));
    std::string text;
    for (const NameOfModule& one : names_in_namespaces(catalog)) {
      text += one.name.space + "::" + one.name.name + " ";
    }
    return text;
  };
  CHECK(paths({{"_ZN2ns5scaleEv"}, {"_ZN2ns5shiftEv"}}) == "ns::scale ns::shift ");
  CHECK(paths({{"_ZN2ns5scaleEv"}, {"_ZN2ns5scaleEv"}}).empty());
  CHECK(paths({{"_ZN2ns5scaleEv"}, {"ns"}}).empty());
  CHECK(paths({{"_ZN2ns5scaleEv"}, {"_Z2nsv"}}).empty());
  CHECK(paths({{"_ZN2ns5scaleEv"}, {"_ZN2ns5scale4deepEv"}}) == "ns::scale::deep ");
}

TEST_CASE("source_names_of leaves out what C++ could not name, or would name twice") {
  CHECK(shown({"saxpy", "_Z5saxpyIfEvPT_"}).empty());                      // a kernel of that name
  CHECK(shown({"_Z5saxpyIfEvPT_", "_Z5saxpyIfEvPKT_"}).empty());           // other parameters
  CHECK(shown({"_Z5tiledIfLi4EEvPT_", "_Z5tiledIfLj4EEvPT_"}).empty());    // two kinds of numbers
  CHECK(shown({"_ZN12_GLOBAL__N_15saxpyIfEEvPT_"}).empty());               // unnamed namespace
  CHECK(shown({"_Z5scalePf", "_Z5scalePd"}).empty());                      // an overload
  CHECK(shown({"_Z5scalePf", "_Z5scaleIfEvPT_"}).empty());                 // a function and a template
  CHECK(shown({"_Z5saxpyI5pointEvPT_"}).empty());                          // a type of the source
  CHECK(shown({"_Z5saxpyIPfEvT_"}).empty());                               // a pointer
  CHECK(shown({"_Z4findIfEvPT_"}).empty());                                // a name of the header
  CHECK(shown({"_Z", "_ZZZ", "affine_f32"}).empty());         // not names of a source
  CHECK(shown({"_Z1aILln9223372036854775808EEvv"}).empty());               // not a number in C++
}

TEST_CASE("a module that is called like a kernel or a namespace of the source leaves it the name") {
  const tools::Module module = module_of({"_Z5saxpyIfEvPT_"});
  CHECK(namespace_name({"demo", {}, {}, {module}}, module) == "saxpy_");
  const tools::Module other = module_of({"_Z5scaleIfEvPT_"});
  CHECK(namespace_name({"demo", {}, {}, {other}}, other) == "saxpy");
  const tools::Module plain = module_of({"_Z5saxpyPf"}), inside = module_of({"_ZN5saxpy3runEv"});
  CHECK(namespace_name({"demo", {}, {}, {plain}}, plain) == "saxpy_");
  CHECK(namespace_name({"demo", {}, {}, {inside}}, inside) == "saxpy_");
}
