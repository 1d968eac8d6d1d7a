// Launch helpers for kiln's own kernels: they turn shapes and strides into the right launch. Matrix
// products go to the vendor's library instead (matmul.hpp).
//
// Each family has a header with structs that say what to compute, and a plan() that turns such a
// struct into a Launch. Launcher runs it on a device. C++17; link kiln::ops.
//
// Rules for all structs, unless a header says otherwise:
//   Pointers  are device addresses, aligned to their element. The caller owns the memory, and must
//             keep it until the launch is done.
//   Sizes     (dims, strides, counts, rows, columns) are numbers of elements.
//   Overlap   What a call writes must not overlap its other operands, except those that a header says
//             it may be. plan() does not check this.
//   plan()    runs nothing, and any thread may call it. It checks shapes and types; it cannot check
//             that the memory is large enough. Addresses may be null if the launch is not run.
//   Errors    are kInvalidInput, and name what no kernel takes. An empty shape is an error, and so is
//             one with more elements than kernels or launches can count.
#pragma once

#include "kiln/ops/affine.hpp"
#include "kiln/ops/binary.hpp"
#include "kiln/ops/cast.hpp"
#include "kiln/ops/conv.hpp"
#include "kiln/ops/fill.hpp"
#include "kiln/ops/fused_products.hpp"
#include "kiln/ops/indexing.hpp"
#include "kiln/ops/kernels.hpp"
#include "kiln/ops/launcher.hpp"
#include "kiln/ops/matmul.hpp"
#include "kiln/ops/norm.hpp"
#include "kiln/ops/quantized.hpp"
#include "kiln/ops/quantized_matmul.hpp"
#include "kiln/ops/quantized_multiplier.hpp"
#include "kiln/ops/reduce.hpp"
#include "kiln/ops/rope.hpp"
#include "kiln/ops/sort.hpp"
#include "kiln/ops/ternary.hpp"
#include "kiln/ops/unary.hpp"
