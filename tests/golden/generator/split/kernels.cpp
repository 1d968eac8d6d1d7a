// kernels.cpp: the images of kernels.hpp, made by kiln with it. Do not edit.
//
// Compile it, and link it into what includes the header.

#if defined(__clang__)
#pragma clang diagnostic ignored "-Woverlength-strings"
#endif

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_affine_0_gfx1030[19 + 1];
alignas(4096) const unsigned char kiln_58f89440f0daa438_affine_0_gfx1030[19 + 1] =
    "\177ELF affine gfx1030";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_affine_0_gfx90a_xnack_on[25 + 1];
alignas(4096) const unsigned char kiln_58f89440f0daa438_affine_0_gfx90a_xnack_on[25 + 1] =
    "\177ELF affine gfx90a:xnack+";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_affine_0_compute_80[14 + 1];
alignas(64) const unsigned char kiln_58f89440f0daa438_affine_0_compute_80[14 + 1] =
    ".version 7.8\12\0";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_0_gfx1030[24 + 1];
alignas(64) const unsigned char kiln_58f89440f0daa438_copy_0_gfx1030[24 + 1] =
    "\177ELF copy gfx1030 unit 0";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_0_gfx90a_xnack_on[30 + 1];
alignas(4096) const unsigned char kiln_58f89440f0daa438_copy_0_gfx90a_xnack_on[30 + 1] =
    "\177ELF copy gfx90a:xnack+ unit 0";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_0_compute_80[14 + 1];
alignas(64) const unsigned char kiln_58f89440f0daa438_copy_0_compute_80[14 + 1] =
    ".version 7.8\12\0";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_1_gfx1030[24 + 1];
alignas(4096) const unsigned char kiln_58f89440f0daa438_copy_1_gfx1030[24 + 1] =
    "\177ELF copy gfx1030 unit 1";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_1_gfx90a_xnack_on[30 + 1];
alignas(4096) const unsigned char kiln_58f89440f0daa438_copy_1_gfx90a_xnack_on[30 + 1] =
    "\177ELF copy gfx90a:xnack+ unit 1";

extern "C" [[gnu::visibility("hidden"), gnu::weak]] const unsigned char
    kiln_58f89440f0daa438_copy_1_compute_80[14 + 1];
alignas(64) const unsigned char kiln_58f89440f0daa438_copy_1_compute_80[14 + 1] =
    ".version 7.8\12\0";
