// kernels_c.S: the images of kernels.h, made by kiln with it. Do not edit.
//
// Compile it with its folder on the include path, cc -c -I DIR DIR/kernels_c.S,
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

kiln_blob kiln_catalog_5be9a8fa422ecc92_needs_kernels_c_S, "kernels.kiln", 4096
