// A platform without conversions of its own: only what device/dtypes.cuh needs.
#pragma once

#define KILN_DEVICE inline
#define KILN_HAS_F16_CONVERSION 0
#define KILN_HAS_BF16_CONVERSION 0
#define KILN_HAS_PAIR_CONVERSION 0

namespace kiln {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using f32 = float;
using f64 = double;

}  // namespace kiln
