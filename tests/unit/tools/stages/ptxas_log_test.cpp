#include "tools/stages/ptxas_log.hpp"

#include <catch2/catch_test_macros.hpp>

#include "base/text.hpp"

using kiln::tools::is_ptxas_property;
using kiln::tools::parse_ptxas_log;
using kiln::tools::PtxasKernel;

namespace {

constexpr const char* kLog =
    "ptxas info    : 0 bytes gmem, 24 bytes cmem[3]\n"
    "ptxas info    : Compiling entry function 'softmax_f64' for 'sm_90'\n"
    "ptxas info    : Function properties for softmax_f64\n"
    "    64 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 364 bytes cmem[0]\n"
    "ptxas info    : Compile time = 18.929 ms\n"
    "ptxas info    : Function properties for __internal_trig_reduction_slowpathd\n"
    "    40 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
    "ptxas info    : Compiling entry function '_Z1kPfi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z1kPfi\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, 364 bytes cmem[0]\n";

}  // namespace

TEST_CASE("parse_ptxas_log reads registers, stack and spills of each kernel") {
  const auto kernels = parse_ptxas_log(kLog);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "softmax_f64");
  CHECK(kernels[0].target == "sm_90");
  CHECK(kernels[0].registers == 255);
  CHECK(kernels[0].stack_bytes == 64);
  CHECK(kernels[0].spill_store_bytes == 12);
  CHECK(kernels[0].spill_load_bytes == 20);
  CHECK(kernels[1].name == "_Z1kPfi");
  CHECK(kernels[1].registers == 8);
  CHECK(kernels[1].spill_load_bytes == 0);
}

TEST_CASE("parse_ptxas_log passes over warnings, empty logs and cut lines") {
  CHECK(parse_ptxas_log("").empty());
  CHECK(parse_ptxas_log("a.cu(3): warning #177-D: variable declared but never referenced\n").empty());
  const std::string_view log = kLog;
  for (std::size_t size = 0; size < log.size(); ++size) {
    CHECK(parse_ptxas_log(log.substr(0, size)).size() <= 2);
  }
}

TEST_CASE("is_ptxas_property tells properties from remarks") {
  for (const std::string_view line : kiln::split(kLog, '\n')) {
    CAPTURE(line);
    CHECK((line.empty() || is_ptxas_property(line)));
  }
  for (const char* line :
       {"ptxas info    : (C7517) warpgroup.wait is injected in around line 4796 by compiler",
        "ptxas warning : Stack size for entry function 'k' cannot be statically determined",
        "k.cu(1): warning #177-D: variable \"a\" was declared but never referenced"}) {
    CAPTURE(line);
    CHECK_FALSE(is_ptxas_property(line));
  }
}
