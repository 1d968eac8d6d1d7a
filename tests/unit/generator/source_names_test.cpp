#include "generator/templates.hpp"

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

// "saxpy<typename>: saxpy<float>=0 saxpy<::kiln::f16>=1", a line a template.
std::string shown(std::vector<std::string> names) {
  std::string text;
  for (const KernelTemplate& one : templates_of(module_of(std::move(names)))) {
    const auto list = [&](const std::vector<std::string>& words) {
      std::string joined;
      for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
      return one.name + "<" + joined + ">";
    };
    text += list(one.parameters) + ":";
    for (const TemplateInstance& instance : one.instances) {
      text += " " + list(instance.arguments) + "=" + std::to_string(instance.kernel);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("templates_of names instances as the source does") {
  CHECK(shown({"_Z5saxpyI6__halfEvPT_", "_Z5saxpyIdEvPT_", "_Z5saxpyIfEvPT_"}) ==
        "saxpy<typename>: saxpy<::kiln::f16>=0 saxpy<double>=1 saxpy<float>=2\n");
  CHECK(shown({"_Z4castI13__nv_bfloat16hEvPT_PT0_", "affine", "_Z4castIlbEvPT_PT0_"}) ==
        "cast<typename, typename>: cast<::kiln::bf16, unsigned char>=0 cast<long, bool>=2\n");
  CHECK(shown({"_Z5tiledIfLj4EEvPT_", "_Z5tiledIfLj8EEvPT_"}) ==
        "tiled<typename, unsigned int>: tiled<float, 4u>=0 tiled<float, 8u>=1\n");
  CHECK(shown({"_Z4pickILb1ELin3ELc65EEvPf"}) == "pick<bool, int, char>: pick<true, -3, 65>=0\n");
}

TEST_CASE("templates_of leaves out what C++ could not name, or would name twice") {
  CHECK(shown({"saxpy", "_Z5saxpyIfEvPT_"}).empty());                      // a kernel of that name
  CHECK(shown({"_Z5saxpyIfEvPT_", "_Z5saxpyIfEvPKT_"}).empty());           // two that differ in parameters
  CHECK(shown({"_Z5tiledIfLi4EEvPT_", "_Z5tiledIfLj4EEvPT_"}).empty());    // two sorts of numbers
  CHECK(shown({"_ZN2ns5saxpyIfEEvPT_"}).empty());                          // in a namespace
  CHECK(shown({"_Z5saxpyI5pointEvPT_"}).empty());                          // a type of the source's own
  CHECK(shown({"_Z5saxpyIPfEvT_"}).empty());                               // a pointer
  CHECK(shown({"_Z4findIfEvPT_"}).empty());                                // a name of the header
  CHECK(shown({"_Z5countv", "_Z", "_ZZZ", "affine_f32"}).empty());         // no templates
  CHECK(shown({"_Z1aILln9223372036854775808EEvv"}).empty());               // no number of C++
}

TEST_CASE("a module that is called like a template leaves it the name") {
  const tools::Module module = module_of({"_Z5saxpyIfEvPT_"});
  CHECK(namespace_name({"demo", {}, {}, {module}}, module) == "saxpy_");
  const tools::Module other = module_of({"_Z5scaleIfEvPT_"});
  CHECK(namespace_name({"demo", {}, {}, {other}}, other) == "saxpy");
}
