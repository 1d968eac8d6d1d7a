#include "tests/kernels/families/family.hpp"

namespace kiln::conformance {

std::vector<CaseSpec> cases_of(std::string_view module, std::string_view kernel,
                               Selection selection) {
  std::vector<CaseSpec> cases;
  for (const Family& family : kFamilies) {
    if (family.module == module && family.add_cases(kernel, selection, cases)) return cases;
  }
  return {};
}

std::optional<RootAndDType> split_dtype(std::string_view kernel) {
  struct Spelling {
    std::string_view suffix;
    DType dtype;
  };
  // "_fp8_e4m3" and "_f8_e4m3" do not end each other; no other suffix ends one of them.
  static constexpr Spelling kSpellings[] = {
      {"_u8", DType::kU8},          {"_u32", DType::kU32},         {"_i16", DType::kI16},
      {"_i32", DType::kI32},        {"_i64", DType::kI64},         {"_f16", DType::kF16},
      {"_bf16", DType::kBF16},      {"_f32", DType::kF32},         {"_f64", DType::kF64},
      {"_f8_e4m3", DType::kF8E4M3}, {"_fp8_e4m3", DType::kF8E4M3},
  };
  for (const Spelling& spelling : kSpellings) {
    if (kernel.size() > spelling.suffix.size() &&
        kernel.substr(kernel.size() - spelling.suffix.size()) == spelling.suffix) {
      return RootAndDType{kernel.substr(0, kernel.size() - spelling.suffix.size()), spelling.dtype};
    }
  }
  return std::nullopt;
}

}  // namespace kiln::conformance
