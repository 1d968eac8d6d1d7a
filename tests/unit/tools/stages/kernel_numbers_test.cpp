#include <catch2/catch_test_macros.hpp>

#include "tools/stages/kernel_numbers.hpp"

using namespace kiln;
using kiln::tools::add_printed_numbers;

namespace {

ImageInfo cubin(KernelInfo kernel) {
  ImageInfo info;
  info.format = ImageFormat::kCubin;
  kernel.name = "scale";
  info.kernels.push_back(std::move(kernel));
  return info;
}

}  // namespace

TEST_CASE("add_printed_numbers takes from a catalog what a cubin does not tell, and nothing else") {
  KernelInfo own, told;
  own.registers = told.registers = 40;
  told.spill_stores = 8;
  ImageInfo image = cubin(own);
  CHECK(add_printed_numbers(cubin(told), image).empty());
  CHECK(image.kernels[0].spill_stores == 8u);
  CHECK(image.kernels[0].registers == 40u);
}

TEST_CASE("add_printed_numbers tells the first number that a catalog has otherwise") {
  KernelInfo own, told;
  own.registers = 40;
  told.registers = 12;
  told.max_threads = 64;
  ImageInfo image = cubin(own);
  CHECK(add_printed_numbers(cubin(told), image) ==
        "kernel 'scale': registers is 40, and 12 in the catalog");
  CHECK(image.kernels[0].registers == 40u);
  CHECK_FALSE(image.kernels[0].max_threads);
  image = cubin({});
  image.format = ImageFormat::kPtx;
  CHECK(add_printed_numbers(cubin(own), image) == "kernel 'scale': registers is null, and 40 in the catalog");
}
