// gpu.S: the images of gpu.hpp, made by kiln with it. Do not edit.
//
// Compile it with its folder on the include path, cc -c -I DIR DIR/gpu.S,
// and link it into what includes the header.

#if defined(__APPLE__)
.macro kiln_blob name, path, alignment
  .section __DATA,__const
  .globl _\name
  .weak_definition _\name
  .private_extern _\name
  .balign \alignment
_\name:
  .incbin "\path"
  .byte 0
.endm
#else
.macro kiln_blob name, path, alignment
  .section .rodata.\name, "aG", %progbits, \name, comdat
  .weak \name
  .hidden \name
  .type \name, %object
  .balign \alignment
\name:
  .incbin "\path"
  .byte 0
  .size \name, . - \name
.endm
.section .note.GNU-stack, "", %progbits
#endif

// module affine
kiln_blob kiln_dd97d1d012a82a84_affine_0_gfx1030, "gpu.blobs/affine.0.gfx1030.hsaco", 4096
kiln_blob kiln_dd97d1d012a82a84_affine_0_gfx90a_xnack_on, "gpu.blobs/affine.0.gfx90a_xnack_on.hsaco", 4096
kiln_blob kiln_dd97d1d012a82a84_affine_0_compute_80, "gpu.blobs/affine.0.compute_80.ptx", 64

// module copy
kiln_blob kiln_dd97d1d012a82a84_copy_0_gfx1030, "gpu.blobs/copy.0.gfx1030.hsaco.zst", 64
kiln_blob kiln_dd97d1d012a82a84_copy_0_gfx90a_xnack_on, "gpu.blobs/copy.0.gfx90a_xnack_on.hsaco", 4096
kiln_blob kiln_dd97d1d012a82a84_copy_0_compute_80, "gpu.blobs/copy.0.compute_80.ptx", 64
kiln_blob kiln_dd97d1d012a82a84_copy_1_gfx1030, "gpu.blobs/copy.1.gfx1030.hsaco", 4096
kiln_blob kiln_dd97d1d012a82a84_copy_1_gfx90a_xnack_on, "gpu.blobs/copy.1.gfx90a_xnack_on.hsaco", 4096
kiln_blob kiln_dd97d1d012a82a84_copy_1_compute_80, "gpu.blobs/copy.1.compute_80.ptx", 64
