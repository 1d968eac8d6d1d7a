#include "tools/engine/ingredients.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "base/processor.hpp"
#include "tests/support/fake_files.hpp"
#include "tools/engine/tool_environment.hpp"
#include "tools/hipify/hipify_driver.hpp"
#include "tools/stages/rewrites.hpp"

using namespace kiln;
using namespace kiln::tools;
using kiln::testing::FakeFiles;
using Reasons = std::vector<std::string>;

namespace {

constexpr const char* kNamed = "--orig_src_path_name,affine.0";

struct Fixture {
  FakeFiles files;
  Plan plan{.source_root = "/home/ada/src",
            .out_root = "/home/ada/src/out",
            .placeholders = {},
            .steps = {}};
  Tool nvcc;
  Step step;
  Environment environment;

  Fixture() {
    nvcc.kind = ToolKind::kNvcc;
    nvcc.path = "/cuda/bin/nvcc";
    nvcc.parts = {{"program", "/cuda/bin/nvcc"}, {"cicc", "/cuda/nvvm/cicc"}, {"ptxas", "/cuda/bin/ptxas"}};
    for (const Tool::Part& part : nvcc.parts) REQUIRE(files.write(part.path, part.role));
    step.id = "compile affine compute_80";
    step.tool = ToolKind::kNvcc;
    step.tool_roles = {"program", "cicc"};
    step.argv = {"/cuda/bin/nvcc", "-O3", "{src}/affine.cu", "-Xcicc", kNamed,
                 "-o", "{out}/images/affine/compute_80.ptx"};
    step.inputs = {"{src}/affine.cu"};
    step.output = "{out}/images/affine/compute_80.ptx";
    REQUIRE(files.write("/home/ada/src/affine.cu", "kernel"));
  }

  Ingredients gather() {
    FileDigests digests(files);
    SharedIngredients shared;
    return read_ingredients(ingredient_lines(step, plan, nvcc, environment, digests, shared));
  }
};

}  // namespace

TEST_CASE("ingredients that steps share follow the digests of their files") {
  Fixture fixture;
  FileDigests digests(fixture.files);
  SharedIngredients shared;
  const auto lines = [&] {
    return ingredient_lines(fixture.step, fixture.plan, fixture.nvcc, fixture.environment, digests,
                            shared);
  };
  const Dependencies reads = {{"{src}/affine.cu", sha256("kernel")}};
  const std::string before = lines();
  CHECK(lines() == before);
  CHECK(shared.are_unchanged(reads, fixture.plan, digests));
  digests.record("/home/ada/src/affine.cu", sha256("another"));
  digests.record("/cuda/nvvm/cicc", sha256("another"));
  CHECK_FALSE(shared.are_unchanged(reads, fixture.plan, digests));
  const Ingredients after = read_ingredients(lines());
  CHECK(after[3] == Ingredient{"part cicc cicc", sha256("another").hex()});
  CHECK(after.back() == Ingredient{"input {src}/affine.cu", sha256("another").hex()});
}

TEST_CASE("ingredients name the parts, words, variables and inputs that decide the output") {
  Fixture fixture;
  fixture.step.environment = {{"LC_ALL", "C"}};
  const Ingredients expected = {{"kind", "compile"},
                                {"tool", "nvcc"},
                                {"part program nvcc", sha256("program").hex()},
                                {"part cicc cicc", sha256("cicc").hex()},
                                {"argument", "/cuda/bin/nvcc"},
                                {"argument", "-O3"},
                                {"argument", "{src}/affine.cu"},
                                {"argument", "-Xcicc"},
                                {"argument", kNamed},
                                {"argument", "-o"},
                                {"argument", "{out}/images/affine/compute_80.ptx"},
                                {"rewrite", std::string(ptx_rewrite())},
                                {"environment LC_ALL", "C"},
                                {"input {src}/affine.cu", sha256("kernel").hex()}};
  CHECK(fixture.gather() == expected);
}

TEST_CASE("ingredients do not depend on where the roots lie") {
  Fixture here, there;
  there.plan.source_root = "/elsewhere";
  there.plan.out_root = "/tmp/out";
  REQUIRE(there.files.write("/elsewhere/affine.cu", "kernel"));
  CHECK(key_of(here.gather()) == key_of(there.gather()));
}

TEST_CASE("ingredients count the source folder where nvcc writes it into what it makes") {
  Fixture here, there;
  there.plan.source_root = "/elsewhere";
  REQUIRE(there.files.write("/elsewhere/affine.cu", "kernel"));
  SECTION("asked for by the manifest") {
    here.step.argv.insert(here.step.argv.begin() + 2, "-lineinfo");
    there.step.argv = here.step.argv;
  }
  SECTION("not told another name for the source") {
    std::erase(here.step.argv, kNamed);
    there.step.argv = here.step.argv;
  }
  SECTION("asked for by the user's variable") {
    const std::string words = GENERATE("-Xptxas -v -G", "-O1\t-lineinfo\n-O2", "-O1 \"-G\"");
    here.environment.variables = {{"NVCC_APPEND_FLAGS", words}};
    there.environment = here.environment;
  }
  SECTION("asked for by a file of options") {
    here.step.argv.push_back("--options-file=/opt/words");
    there.step.argv = here.step.argv;
    for (Fixture* one : {&here, &there})
      REQUIRE(one->files.write("/opt/words", "-O1\t-lineinfo\n"));
  }
  CHECK(key_of(here.gather()) != key_of(there.gather()));
  CHECK(explain_difference(here.gather(), there.gather()) == Reasons{"source folder changed"});
  there.step.tool = here.step.tool = ToolKind::kHipCompiler;
  CHECK(key_of(here.gather()) == key_of(there.gather()));
}

TEST_CASE("ingredients of a cubin that is made of PTX leave the source folder to the PTX") {
  Fixture here, there;
  there.plan.source_root = "/elsewhere";
  for (Fixture* one : {&here, &there}) {
    one->step.tool_roles = {"program", "ptxas"};
    one->step.inputs = {"{out}/images/affine/compute_80.ptx"};
    one->step.argv = {"{nvcc}", "-cubin", "{out}/images/affine/compute_80.ptx"};
    one->step.output = "{out}/images/affine/sm_80.cubin";
    REQUIRE(one->files.write("/home/ada/src/out/images/affine/compute_80.ptx", "ptx"));
  }
  CHECK(key_of(here.gather()) == key_of(there.gather()));
}

TEST_CASE("ingredients count what kiln does to PTX") {
  Fixture fixture;
  const Ingredients of_ptx = fixture.gather();
  fixture.step.output = "{out}/images/affine/sm_80.cubin";
  const Ingredients of_cubin = fixture.gather();
  CHECK(key_of(of_ptx) != key_of(of_cubin));
  // The words of the command line are those of the PTX in both.
  CHECK(explain_difference(of_cubin, of_ptx) == Reasons{"new: what kiln does to the output"});
}

TEST_CASE("ingredients count what kiln does to a converted source") {
  Fixture fixture;
  fixture.step.kind = StepKind::kHipify;
  const Ingredients converted = fixture.gather();
  const Ingredient rewrite{"rewrite", std::string(hip_rewrite())};
  CHECK(std::count(converted.begin(), converted.end(), rewrite) == 1);
}

TEST_CASE("ingredients count a part only for the steps that depend on its role") {
  Fixture fixture;
  const Ingredients before = fixture.gather();
  REQUIRE(fixture.files.write("/cuda/bin/ptxas", "ptxas 2"));
  CHECK(fixture.gather() == before);
  REQUIRE(fixture.files.write("/cuda/nvvm/cicc", "cicc 2"));
  CHECK(explain_difference(before, fixture.gather()) == Reasons{"cicc changed"});
}

TEST_CASE("ingredients count the user's variables that the tool reads, and no others") {
  Fixture fixture;
  const Ingredients before = fixture.gather();
  fixture.environment.variables = {{"HIPCC_COMPILE_FLAGS_APPEND", "-g"}, {"EDITOR", "vi"}};
  CHECK(fixture.gather() == before);
  fixture.environment.variables["NVCC_APPEND_FLAGS"] = "-g";
  CHECK(explain_difference(before, fixture.gather()) ==
        Reasons{"new: environment NVCC_APPEND_FLAGS"});
}

TEST_CASE("ingredients count the processor if an option leaves a choice to the machine") {
  Fixture fixture;
  const Ingredient processor{"processor", this_processor()};
  const auto count = [&] {
    const Ingredients all = fixture.gather();
    return std::count(all.begin(), all.end(), processor);
  };
  CHECK(count() == 0);
  SECTION("in the command line") { fixture.step.argv.push_back("-march=native"); }
  SECTION("in a variable") {
    fixture.environment.variables = {{"NVCC_APPEND_FLAGS", "-Xcompiler -mtune=native -O3"}};
  }
  SECTION("in a file of options") {
    fixture.step.argv.push_back("@words");
    REQUIRE(fixture.files.write("/home/ada/src/words", "-Xcompiler \"-mtune=native\"\n"));
  }
  CHECK(count() == 1);
}

// All variables in the manuals of the tools, of their compilers and of the dynamic linker.
TEST_CASE("a variable that a tool could read is passed on and counts, or is not passed on") {
  constexpr std::array kDocumented = {"NVCC_PREPEND_FLAGS",
                                      "NVCC_APPEND_FLAGS",
                                      "NVCC_CCBIN",
                                      "NVVMIR_LIBRARY_DIR",
                                      "CICC_PATH",
                                      "CUDA_PATH",
                                      "CUDA_HOME",
                                      "CUDA_ROOT",
                                      "CPATH",
                                      "C_INCLUDE_PATH",
                                      "CPLUS_INCLUDE_PATH",
                                      "OBJC_INCLUDE_PATH",
                                      "CCC_OVERRIDE_OPTIONS",
                                      "CLANG_CONFIG_FILE_USER_DIR",
                                      "COMPILER_PATH",
                                      "GCC_EXEC_PREFIX",
                                      "GCC_COMPARE_DEBUG",
                                      "LIBRARY_PATH",
                                      "DEPENDENCIES_OUTPUT",
                                      "SUNPRO_DEPENDENCIES",
                                      "SOURCE_DATE_EPOCH",
                                      "TMPDIR",
                                      "TMP",
                                      "TEMP",
                                      "LANG",
                                      "LANGUAGE",
                                      "LC_ALL",
                                      "LC_CTYPE",
                                      "LC_MESSAGES",
                                      "TZ",
                                      "HOME",
                                      "XDG_CONFIG_HOME",
                                      "HIPCC_VERBOSE",
                                      "HIPCC_COMPILE_FLAGS_APPEND",
                                      "HIPCC_LINK_FLAGS_APPEND",
                                      "HIP_PATH",
                                      "HIP_PLATFORM",
                                      "HIP_COMPILER",
                                      "HIP_RUNTIME",
                                      "HIP_CLANG_PATH",
                                      "HIP_LIB_PATH",
                                      "HIP_DEVICE_LIB_PATH",
                                      "HSA_PATH",
                                      "ROCM_PATH",
                                      "ROCM_HOME",
                                      "DEVICE_LIB_PATH",
                                      "HCC_AMDGPU_TARGET",
                                      "PERL5LIB",
                                      "PERL5OPT",
                                      "PERLLIB",
                                      "PERL_UNICODE",
                                      "LD_LIBRARY_PATH",
                                      "LD_PRELOAD",
                                      "LD_AUDIT",
                                      "GLIBC_TUNABLES",
                                      "MALLOC_PERTURB_",
                                      "CCACHE_PREFIX",
                                      "BASH_ENV",
                                      "ENV",
                                      "PWD",
                                      "MAKEFLAGS"};
  for (int kind = 0; kind <= static_cast<int>(ToolKind::kHostCompiler); ++kind) {
    Fixture fixture;
    fixture.step.tool = static_cast<ToolKind>(kind);
    const Ingredients before = fixture.gather();
    for (const char* name : kDocumented) {
      CAPTURE(to_string(fixture.step.tool), name);
      fixture.environment.variables = {{name, "something else"}};
      bool is_passed = false;
      for (const auto& [passed, value] : tool_environment(fixture.step.tool, fixture.environment)) {
        is_passed |= passed == name && value == "something else";
      }
      CHECK(is_passed == (fixture.gather() != before));
    }
  }
}

TEST_CASE("a variable that the user asks to pass on is passed on and counts") {
  Fixture fixture;
  const Ingredients before = fixture.gather();
  fixture.environment.variables = {
      {"KILN_PASS_ENVIRONMENT", "LICENSE, OTHER,PATH"}, {"LICENSE", "here"}, {"PATH", "/bin"}};
  CHECK(explain_difference(before, fixture.gather()) == Reasons{"new: environment LICENSE"});
  CHECK(tool_environment(ToolKind::kNvcc, fixture.environment) ==
        Variables{{"LICENSE", "here"}, {"LC_ALL", "C"}, {"PATH", "/bin"}});
}

// Compilers read such files without reporting them.
TEST_CASE("ingredients count the bytes of a file that an option names") {
  Fixture fixture;
  const auto [word, file] = GENERATE(table<std::string, std::string>(
      {{"@words", "words"},
       {"opts.txt", "opts.txt"},
       {"--options-file=a.txt,b/opts.txt", "b/opts.txt"},
       {"-fplugin=../p.so", "../p.so"},
       {"-Wl,--whole-archive,b/libx.a,--no-whole-archive", "b/libx.a"},
       {"--config=/etc/c.cfg", "/etc/c.cfg"}}));
  CAPTURE(word);
  const std::filesystem::path path = fixture.plan.source_root / file;
  const bool is_variable = GENERATE(false, true);
  if (is_variable) {
    fixture.environment.variables["NVCC_APPEND_FLAGS"] = "-O1 " + word;
  } else {
    fixture.step.argv.push_back(word);
  }
  const Ingredients none = fixture.gather();
  REQUIRE(fixture.files.write(path, "-DONE"));
  const Ingredients one = fixture.gather();
  REQUIRE(fixture.files.write(path, "-DTWO"));
  const Ingredients two = fixture.gather();
  CHECK(key_of(none) != key_of(one));
  CHECK(key_of(one) != key_of(two));
  const std::string shown =
      file == "../p.so" ? "/home/ada/p.so" : file;
  CHECK(explain_difference(one, two) == Reasons{shown + " changed"});
  REQUIRE(files_named_by_options(two).size() == 1);
  FileDigests digests(fixture.files);
  CHECK(changed_since(two, fixture.step, fixture.plan, fixture.nvcc, digests).empty());
  CHECK(changed_since(one, fixture.step, fixture.plan, fixture.nvcc, digests) ==
        files_named_by_options(two)[0]);
}

TEST_CASE("ingredients count the bytes of files that files of options name") {
  Fixture fixture;
  const auto [words, more] = GENERATE(table<std::string, std::string>(
      {{"-O1\n@more", "more"},
       {"--options-file\t\"two words\"\n", "two words"},
       {"--options-file=opts/more", "opts/more"},
       {"@beside", "opts/beside"},  // clang's own place for files that a --config names
       {"-fplugin=p.so @words", "p.so"}}));
  CAPTURE(words);
  fixture.step.argv.push_back("@opts/words");
  REQUIRE(fixture.files.write("/home/ada/src/opts/words", words));
  REQUIRE(fixture.files.write("/home/ada/src/words", "@opts/words"));  // they name each other
  const std::filesystem::path path = fixture.plan.source_root / more;
  REQUIRE(fixture.files.write(path, "@last"));
  const Ingredients before = fixture.gather();
  REQUIRE(fixture.files.write(path, "@last -DTWO"));
  CHECK(explain_difference(before, fixture.gather()) == Reasons{more + " changed"});
}

TEST_CASE("ingredients find the files that a variable names between any blanks and quotes") {
  Fixture fixture;
  const std::string value =
      GENERATE("-O1\t--options-file\ttwo\\ words", "-O1\n--options-file \"two words\"",
               "--options-file='two words'", "  @\"two words\"");
  CAPTURE(value);
  fixture.environment.variables["NVCC_APPEND_FLAGS"] = value;
  const Ingredients before = fixture.gather();
  REQUIRE(fixture.files.write("/home/ada/src/two words", "-DONE"));
  CHECK(explain_difference(before, fixture.gather()) == Reasons{"new: two words"});
}

TEST_CASE("ingredients count the bytes of libraries in folders that options name") {
  Fixture fixture;
  fixture.step.argv.insert(fixture.step.argv.end(),
                           {"-Lvendor", "-L", "/opt/lib", "-lx", "-l:y.a"});
  fixture.step.tool = ToolKind::kHostCompiler;
  fixture.environment.variables["LIBRARY_PATH"] = "/one:/two";
  const Ingredients before = fixture.gather();
  const auto [path, shown] =
      GENERATE(table<std::string, std::string>({{"/home/ada/src/vendor/libx.so", "vendor/libx.so"},
                                                {"/home/ada/src/vendor/libx.a", "vendor/libx.a"},
                                                {"/opt/lib/libx.a", "/opt/lib/libx.a"},
                                                {"/opt/lib/y.a", "/opt/lib/y.a"},
                                                {"/two/libx.a", "/two/libx.a"}}));
  REQUIRE(fixture.files.write(path, "x"));
  CHECK(explain_difference(before, fixture.gather()) == Reasons{"new: " + shown});
}

TEST_CASE("ingredients count the bytes of libraries, however options name them") {
  Fixture fixture;
  const std::string words =
      GENERATE("-Lvendor -lx", "-L vendor -l x", "-Wl,-Lvendor -Wl,-lx", "-Wl,-L,vendor,-l,x",
               "-Xlinker -Lvendor -Xlinker -lx", "-Xlinker -L -Xlinker vendor -l:libx.a",
               "-Wl,--library-path=vendor,--library=x", "--library-path vendor --library x",
               "--library-directory=vendor -lx", "-Lvendor,other -ly,x");
  CAPTURE(words);
  fixture.environment.variables["NVCC_APPEND_FLAGS"] = words;
  SECTION("in a variable") {}
  SECTION("in a file of options") {
    fixture.environment.variables.clear();
    fixture.step.argv.push_back("@words");
  }
  SECTION("in a file of options that another names") {
    fixture.environment.variables["NVCC_APPEND_FLAGS"] = "--options-file=first";
    REQUIRE(fixture.files.write("/home/ada/src/first", "-O1 @words"));
  }
  REQUIRE(fixture.files.write("/home/ada/src/words", words));
  const Ingredients before = fixture.gather();
  REQUIRE(fixture.files.write("/home/ada/src/vendor/libx.a", "x"));
  CHECK(explain_difference(before, fixture.gather()) == Reasons{"new: vendor/libx.a"});
}

TEST_CASE("explain_difference names what changed in the terms of the user") {
  Fixture fixture;
  const Ingredients before = fixture.gather();
  CHECK(explain_difference(before, before).empty());

  SECTION("a source") {
    REQUIRE(fixture.files.write("/home/ada/src/affine.cu", "kernel 2"));
    CHECK(explain_difference(before, fixture.gather()) == Reasons{"affine.cu changed"});
  }
  SECTION("a source that is gone") {
    REQUIRE(fixture.files.remove_all("/home/ada/src/affine.cu"));
    CHECK(explain_difference(before, fixture.gather()) == Reasons{"affine.cu is gone"});
  }
  SECTION("a flag") {
    fixture.step.argv[1] = "-O2";
    CHECK(explain_difference(before, fixture.gather()) == Reasons{"flag -O3 -> -O2"});
  }
  SECTION("a flag added and one removed") {
    fixture.step.argv.insert(fixture.step.argv.begin() + 2, "--use_fast_math");
    CHECK(explain_difference(before, fixture.gather()) == Reasons{"flag added: --use_fast_math"});
    CHECK(explain_difference(fixture.gather(), before) == Reasons{"flag removed: --use_fast_math"});
  }
  SECTION("an input more and one fewer") {
    fixture.step.inputs = {"{src}/extra.cuh"};
    CHECK(explain_difference(before, fixture.gather()) ==
          Reasons{"new: extra.cuh", "no longer used: affine.cu"});
  }
  SECTION("several at once") {
    REQUIRE(fixture.files.write("/cuda/bin/nvcc", "nvcc 2"));
    fixture.step.argv[1] = "-O2";
    CHECK(explain_difference(before, fixture.gather()) == Reasons{"nvcc changed", "flag -O3 -> -O2"});
  }
}

TEST_CASE("neutral_path names paths below the roots by the root that lies deeper") {
  const Plan plan{
      .source_root = "/p/src", .out_root = "/p/src/out", .placeholders = {}, .steps = {}};
  CHECK(neutral_path("/p/src/a/../b.cu", plan) == "{src}/b.cu");
  CHECK(neutral_path("b.cu", plan) == "{src}/b.cu");
  CHECK(neutral_path("/p/src/out/hip/b.hip", plan) == "{out}/hip/b.hip");
  CHECK(neutral_path("/p/src2/b.cu", plan) == "/p/src2/b.cu");
  CHECK(neutral_path("../x.h", plan) == "/p/x.h");
  const Plan inside{
      .source_root = "/p/out/src", .out_root = "/p/out", .placeholders = {}, .steps = {}};
  CHECK(neutral_path("/p/out/src/b.cu", inside) == "{src}/b.cu");
  CHECK(display_path("{src}/b.cu") == "b.cu");
  CHECK(display_path("/usr/include/x.h") == "/usr/include/x.h");
}

TEST_CASE("ingredients of a converted file name the driver of hipify-perl where it is used") {
  Fixture fixture;
  fixture.step.kind = StepKind::kHipify;
  fixture.step.argv = {"{hipify-perl}", "-o={out}/hip/affine.cu", "{src}/affine.cu"};
  const Ingredients plain = fixture.gather();
  fixture.step.argv.insert(fixture.step.argv.begin(), {"{perl}", std::string(kHipifyDriverPath)});
  const Ingredients driven = fixture.gather();
  const Ingredient driver{"hipify driver", hipify_driver_digest().hex()};
  CHECK(std::count(plain.begin(), plain.end(), driver) == 0);
  CHECK(std::count(driven.begin(), driven.end(), driver) == 1);
}
