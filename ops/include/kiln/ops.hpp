// Launch helpers for our own kernels: shapes and strides in, the right launch out. And matrix products,
// which are the vendor's (matmul.hpp).
//
// One header per family, each with a struct that says what to compute and a plan() that turns it
// into a Launch; Launcher runs it on a device. C++17; link kiln::ops.
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
