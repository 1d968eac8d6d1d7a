#include "base/sha256_x86.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace kiln {

bool has_sha_instructions() {
  static const bool is_supported = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kSha = 1U << 29, kSse41 = 1U << 19;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kSha) == 0) return false;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kSse41) != 0;
  }();
  return is_supported;
}

// The instructions expect the state as two halves, ABEF and CDGH, and do two rounds at a time.
__attribute__((target("sha,sse4.1"))) void compress_by_instructions(
    std::uint32_t state[8], const std::uint8_t* blocks, std::size_t count,
    const std::uint32_t rounds[64]) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state);
  const __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
  for (; count != 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[16];
    for (int i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i),
                              big_endian);
    }
    for (int i = 0; i < 12; ++i) {
      const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i], w[i + 1]),
                                        _mm_alignr_epi8(w[i + 3], w[i + 2], 4));
      w[i + 4] = _mm_sha256msg2_epu32(sum, w[i + 3]);
    }
    for (int i = 0; i < 16; ++i) {
      const __m128i sum =
          _mm_add_epi32(w[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(rounds) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace kiln

#else

namespace kiln {

bool has_sha_instructions() { return false; }
void compress_by_instructions(std::uint32_t*, const std::uint8_t*, std::size_t,
                              const std::uint32_t*) {}

}  // namespace kiln
#endif
