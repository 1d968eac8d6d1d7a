// Kernels with known parameters, shared memory, frames and limits. Compiled for every target that
// the toolchains of this machine support (compile_samples.sh), and checked in samples_test.cpp.
#include <cstddef>
#include <cstdint>

struct Small {
  unsigned char a;
  short b;
};
struct Big {
  double d[4];
  char c;
};

extern "C" __global__ void all_kinds(const float* p, std::size_t n, unsigned char u8, short s16, int i32,
                                     double f64, Small s, Big b, const std::int64_t* __restrict__ q,
                                     bool flag) {
  __shared__ float tile[96];
  tile[threadIdx.x % 96] = static_cast<float>(p != nullptr ? p[threadIdx.x] : f64);
  __syncthreads();
  if (flag) {
    float* out = reinterpret_cast<float*>(const_cast<std::int64_t*>(q));
    out[threadIdx.x] = tile[(threadIdx.x * 7) % 96] + static_cast<float>(n) + u8 + s16 + i32 + s.a + s.b +
                       static_cast<float>(b.d[1]) + b.c;
  }
}

extern "C" __global__ void __launch_bounds__(128) bounded(int* out, int n) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[i] = out[i];
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    local[(i * 7) % 64] += sum;
    sum += local[local[i % 64] & 63];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void empty() {}

extern __shared__ int dynamic_shared[];
extern "C" __global__ void dynamic(int* out) {
  dynamic_shared[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic_shared[31 - threadIdx.x];
}

// More parameter bytes than toolkits before CUDA 12.1 support; cubins store them in another form.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ <= 12
constexpr int kHugeBytes = 3000;
#else
constexpr int kHugeBytes = 5000;
#endif
struct Huge {
  char c[kHugeBytes];
};
extern "C" __global__ void huge(int n, Huge h, int* out) { out[0] = h.c[n]; }

template <typename T>
__global__ void fill(T* out, T value) {
  out[threadIdx.x] = value;
}
template __global__ void fill<double>(double*, double);
