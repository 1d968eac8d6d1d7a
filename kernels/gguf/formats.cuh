// All block formats, checked against the table.
#pragma once

#include "gguf/iq4_nl.cuh"
#include "gguf/mxfp4.cuh"
#include "gguf/q2_k.cuh"
#include "gguf/q3_k.cuh"
#include "gguf/q4_0.cuh"
#include "gguf/q4_1.cuh"
#include "gguf/q4_k.cuh"
#include "gguf/q5_0.cuh"
#include "gguf/q5_1.cuh"
#include "gguf/q5_k.cuh"
#include "gguf/q6_k.cuh"
#include "gguf/q8_0.cuh"
#include "gguf/q8_1.cuh"
#include "gguf/q8_k.cuh"
#include "tables/quantized.hpp"

namespace kiln::gguf {

#define KILN_CHECK_FORMAT(format, name, type, values, bytes) \
  static_assert(format::kValues == values && format::kBytes == bytes, name);
KILN_EACH_BLOCK_FORMAT(KILN_CHECK_FORMAT)
#undef KILN_CHECK_FORMAT

}  // namespace kiln::gguf
