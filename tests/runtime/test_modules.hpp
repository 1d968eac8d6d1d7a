// The modules that the tests of the runtime load: a few kernels, as real PTX and as images of the
// fake drivers, in the form of a generated header. For devices that need other images, the same
// kernels are built from tests/runtime/kernels; modules() returns those that the subject runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/catalog.hpp"

namespace kiln::testing {

// scale_add(n, in, out, scale, shift): out[i] = in[i] * scale + shift in float32; nothing(): does
// nothing. `gain` is a variable of the module.
inline constexpr unsigned char kPtx[] = R"(.version 7.0
.target sm_80
.address_size 64

.visible .global .align 4 .f32 gain = 0f40000000;

.visible .entry scale_add(
  .param .u64 n, .param .u64 in, .param .u64 out, .param .f32 scale, .param .f32 shift)
{
  .reg .pred %p<1>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<7>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd0, [n];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd1, %r0, %r1;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd1, %rd1, %rd2;
  setp.ge.u64 %p0, %rd1, %rd0;
  @%p0 ret;
  shl.b64 %rd3, %rd1, 2;
  ld.param.u64 %rd4, [in];
  ld.param.u64 %rd5, [out];
  cvta.to.global.u64 %rd4, %rd4;
  cvta.to.global.u64 %rd5, %rd5;
  add.u64 %rd4, %rd4, %rd3;
  add.u64 %rd5, %rd5, %rd3;
  ld.global.f32 %f0, [%rd4];
  ld.param.f32 %f1, [scale];
  ld.param.f32 %f2, [shift];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd5], %f3;
  ret;
}

.visible .entry nothing()
.maxntid 256
{
  ret;
}
)";

inline constexpr unsigned char kFakeGfx90a[] =
    "FAKE gfx90a\n.global gain 4\n.entry nothing\n.entry scale_add\n";
inline constexpr unsigned char kFakeGfx1100[] =
    "FAKE gfx1100\n.global gain 4\n.entry nothing\n.entry scale_add\n";

template <std::size_t N>
constexpr ImageEntry stored(std::string_view target, ImageFormat format,
                            const unsigned char (&bytes)[N], std::uint16_t unit = 0,
                            std::uint16_t ptx_isa = 0) {
  ImageEntry image;
  image.target = target;
  image.format = format;
  image.unit = unit;
  image.ptx_isa = ptx_isa;
  image.data = bytes;
  image.stored_size = image.size = N;
  return image;
}

inline constexpr Parameter kScaleAddParameters[] = {{0, 8, ParameterKind::kValue},
                                                    {8, 8, ParameterKind::kPointer},
                                                    {16, 8, ParameterKind::kPointer},
                                                    {24, 4, ParameterKind::kValue},
                                                    {28, 4, ParameterKind::kValue}};

// One unit, with an image for each device of the tests.
inline constexpr KernelEntry kArithmeticKernels[] = {
    {"nothing", 0, {}},
    {"scale_add", 0, {kScaleAddParameters}},
};
inline constexpr ImageEntry kArithmeticImages[] = {
    stored("gfx1100", ImageFormat::kHsaco, kFakeGfx1100),
    stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a),
    stored("compute_80", ImageFormat::kPtx, kPtx, 0, 70),
};
inline constexpr ModuleEntry kArithmetic{
    "arithmetic", 0, 1, {kArithmeticKernels}, {kArithmeticImages}};
// Arguments of unknown types, as in an image for NVIDIA.
using ScaleAdd = Kernel<Untyped<8>, Untyped<8>, Untyped<8>, Untyped<4>, Untyped<4>>;
inline constexpr Kernel<> kNothing{&kArithmetic, 0};
inline constexpr ScaleAdd kScaleAdd{&kArithmetic, 1};

// Two units: `nothing` is in the first, `scale_add` in the second.
inline constexpr KernelEntry kPairKernels[] = {
    {"nothing", 0, {}},
    {"scale_add", 1, {kScaleAddParameters}},
};
inline constexpr ImageEntry kPairImages[] = {
    stored("gfx1100", ImageFormat::kHsaco, kFakeGfx1100, 0),
    stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a, 0),
    stored("compute_80", ImageFormat::kPtx, kPtx, 0, 70),
    stored("gfx1100", ImageFormat::kHsaco, kFakeGfx1100, 1),
    stored("gfx90a", ImageFormat::kHsaco, kFakeGfx90a, 1),
    stored("compute_80", ImageFormat::kPtx, kPtx, 1, 70),
};
inline constexpr ModuleEntry kPair{"pair", 1, 2, {kPairKernels}, {kPairImages}};
inline constexpr Kernel<> kPairNothing{&kPair, 0};
inline constexpr ScaleAdd kPairScaleAdd{&kPair, 1};

struct TestModules {
  const ModuleEntry& arithmetic;
  const ModuleEntry& pair;
  Kernel<> nothing;
  ScaleAdd scale_add;
  Kernel<> pair_nothing;
  ScaleAdd pair_scale_add;
};
const TestModules& modules();

}  // namespace kiln::testing
