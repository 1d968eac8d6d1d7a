#include "tests/fuzz/fuzz_target.hpp"
#include "tools/stages/parse_kernel_argument.hpp"

using namespace kiln::testing;
using namespace kiln::tools;

FUZZ_TARGET(kernel_argument, data, size) {
  const std::string_view text = text_of(data, size);
  // Skips buffers of many elements, which are slow and test nothing new.
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4 && text.starts_with("buf:")) return;
  }
  const auto argument = parse_kernel_argument(text);
  if (argument) (void)elements_text(argument->type, argument->bytes);
}

FUZZ_SEEDS(kernel_argument) {
  return {"i8:-128",
          "u64:0xffff",
          "f16:6e-8",
          "bf16:nan",
          "hex:00ff",
          "null",
          "buf:f32:8:rand=3@-",
          "buf:i32:9:randint=-3,3,1",
          "buf:u8::file=in@out",
          "buf:i64:3:const=-7",
          "buf:f64:2:arange",
          "buf:f16:2:none"};
}
