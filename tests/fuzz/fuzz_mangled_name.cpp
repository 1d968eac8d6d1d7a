#include <cstdlib>

#include "formats/mangled_name.hpp"
#include "tests/fuzz/fuzz_target.hpp"

FUZZ_TARGET(mangled_name, data, size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto types = kiln::parameters_of_mangled_name(text);
  if (!types) return;
  // A known type has a spelling that reads as the same type.
  for (const kiln::ParameterType& type : *types) {
    if (type.is_known() && kiln::parse_parameter_type(kiln::to_string(type)) != type) std::abort();
  }
}

FUZZ_SEEDS(mangled_name) {
  return {"_Z5scalemPKfPff", "_Z4castIf6__halfLi4EEvmPKT_PT0_", "_ZN1a1bEPKvPNS_1SES2_",
          "_ZN1a1cIdEEvPKT_S3_", "_Z1kPDF16_PKDF16bPu6__bf16", "_Z1k3BoxIfEPS0_i"};
}
