// What PTX of CUDA sources may hold, apart from what kiln's own modules show.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>

extern __shared__ float dynamic[];
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int p0_total;
__device__ __managed__ int managed = 7;
__device__ char words[] = "a; // b /* c";

__device__ __noinline__ float twice(float x) { return x * 2 + p0_total; }
__device__ __noinline__ float weighted(float x) { return x / weights[threadIdx.x & 3]; }
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
struct Large {
  double values[5];
};
__device__ __noinline__ Large add(double x, Large other) {
  for (double& value : other.values) value += x;
  return other;
}
__device__ float (*functions[2])(float) = {twice, weighted};
extern "C" __device__ __attribute__((weak)) int weak_function(int x) { return x + words[x]; }

struct Shape {
  __device__ virtual float area(float) const = 0;
};
struct Square : Shape {
  float side;
  __device__ float area(float x) const override { return side * side * x; }
};
struct Disk : Shape {
  float radius;
  __device__ float area(float x) const override { return radius * 3.14159265358979f * x; }
};

extern "C" __global__ void calls(float* out, int which, float x) {
  out[0] = functions[which & 1](x);
  out[1] = static_cast<float>(factorial(which)) + weak_function(which);
  Large large = {};
  large.values[which % 5] = 1e-300;
  out[2] = static_cast<float>(add(x, large).values[2]);
  Square square;
  square.side = x;
  Disk disk;
  disk.radius = x;
  const Shape* shape = which > 3 ? static_cast<const Shape*>(&square) : &disk;
  out[3] = shape->area(out[1]);
}

extern "C" __global__ void jumps(int* out, int which, const int* in) {
  switch (which) {
    case 0: out[0] = in[3]; break;
    case 1: out[0] = in[1] * in[2]; break;
    case 2: out[1] = in[7] / in[2]; break;
    case 3: out[2] = in[0] % in[5]; break;
    case 4: atomicAdd(out, in[0]); break;
    case 5: out[3] = __popc(in[6]); break;
    case 6: printf("%d // %% \"p0\"\n", in[1]); break;
    case 7: __trap();
    default:
      for (int i = 0; i < which; ++i) out[i] += in[i] * i;
  }
}

extern "C" __global__ void inline_assembly(uint32_t* out, uint64_t barrier, const __half2* in) {
  // Labels, registers and a scope of its own, and comments.
  asm volatile(
      "{\n\t.reg .pred p1;\n\t// waits /* odd\n\tLAB_WAIT:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p1, [%0], %1;\n\t"
      "@p1 bra DONE;\n\tbra   LAB_WAIT; /* two\n lines */\n\tDONE: }" ::"r"(
          static_cast<uint32_t>(barrier)),
      "r"(out[3])
      : "memory");
  uint32_t sum;
  asm("{ .reg .b32 t<3>; .reg .pred q;  mov.b32 t1 , 0x10 ; setp.ne.s32 q, %1 , 0;\n"
      " @!q mov.b32 t1, 0f3F800000;\n add.s32 %0, t1, -(3 + 4 * 2);}"
      : "=r"(sum)
      : "r"(out[1]));
  __shared__ uint32_t tile[64];
  tile[threadIdx.x] = sum;
  __syncthreads();
  out[4] = tile[63 - threadIdx.x] + static_cast<uint32_t>(dynamic[threadIdx.x]);
  asm volatile("ld.global.v2.u32 {%0, _}, [ %1 + 8 ];" : "=r"(out[5]) : "l"(out));
  const __half2 product = __hfma2(in[0], in[1], __float2half2_rn(0.5f));
  out[6] = *reinterpret_cast<const uint32_t*>(&product);
  asm volatile(".pragma \"nounroll\";");
  out[7] = static_cast<uint32_t>(sin(static_cast<double>(out[6]) * 0.1) * 1e10);
}
