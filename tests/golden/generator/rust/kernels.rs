// kernels.rs: 5 GPU kernels in 2 modules for 3 targets.
//
// Made by kiln 0.1.0 from the manifest of 'demo'. Do not edit: `kiln build` writes it again.
// Needs Rust 1.56, kernels.kiln beside it, and libkiln_runtime; no crate, no CUDA, no HIP.
//
// Targets: gfx1030 gfx90a:xnack+ compute_80
// Left out (--allow-missing; their tools were not there): sm_90
//
//   module  unit  target         format  kernels  bytes  stored  sha256
//   affine  0     gfx1030        hsaco         3     19      19  19421e136c89a939
//   affine  0     gfx90a:xnack+  hsaco         3     25      25  4ed3a4efed96f04f
//   affine  0     compute_80     ptx           3     14      14  15f9bc7eeee0f649
//   copy    0     gfx1030        hsaco         1  4,096      24  67474a7ae9db7850
//   copy    0     gfx90a:xnack+  hsaco         1     30      30  3809802ec7385a8b
//   copy    0     compute_80     ptx           1     14      14  15f9bc7eeee0f649
//   copy    1     gfx1030        hsaco         1     24      24  5bd74bee3f7a3e57
//   copy    1     gfx90a:xnack+  hsaco         1     30      30  7f8cb6fc9a444d7b
//   copy    1     compute_80     ptx           1     14      14  15f9bc7eeee0f649
//   total                                         4,266     194
//

// The position of a module in ALL_IDS.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(dead_code, non_camel_case_types)]
pub enum Id {
    Affine,
    Copy,
}
#[allow(dead_code)]
pub const ALL_IDS: [Id; 2] = [Id::Affine, Id::Copy];

fn images_0() -> &'static [Image] {
    static IMAGES: [Image; 3] = [
        Image { target: "gfx1030", format: Format::Hsaco, unit: 0, module: 0, position: 0, size: 19, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "gfx90a:xnack+", format: Format::Hsaco, unit: 0, module: 0, position: 1, size: 25, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "compute_80", format: Format::Ptx, unit: 0, module: 0, position: 2, size: 14, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
    ];
    &IMAGES
}
#[allow(dead_code, non_upper_case_globals)]
pub const AFFINE: Module =
    Module { index: 0, name: "affine", images: images_0 };

fn images_1() -> &'static [Image] {
    static IMAGES: [Image; 6] = [
        Image { target: "gfx1030", format: Format::Hsaco, unit: 0, module: 1, position: 0, size: 4096, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "gfx90a:xnack+", format: Format::Hsaco, unit: 0, module: 1, position: 1, size: 30, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "compute_80", format: Format::Ptx, unit: 0, module: 1, position: 2, size: 14, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "gfx1030", format: Format::Hsaco, unit: 1, module: 1, position: 3, size: 24, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "gfx90a:xnack+", format: Format::Hsaco, unit: 1, module: 1, position: 4, size: 30, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
        Image { target: "compute_80", format: Format::Ptx, unit: 1, module: 1, position: 5, size: 14, unpacked: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()) },
    ];
    &IMAGES
}
#[allow(dead_code, non_upper_case_globals)]
pub const COPY: Module =
    Module { index: 1, name: "copy", images: images_1 };

#[allow(dead_code, non_camel_case_types, non_snake_case, unsafe_op_in_unsafe_fn, clippy::all)]
pub mod affine {
    use super::kiln;

    // scale<float>
    pub struct scale_float { function: kiln::Function }
    impl scale_float {
        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {
            Ok(Self { function: super::catalog()?.function(device, "affine", "_Z5scaleIfEvPT_")? })
        }
        /// # Safety
        /// Pointers are to device memory that the kernel may use.
        pub unsafe fn launch(&self, launch: &kiln::Launch, argument_1: [u8; 8],
                             argument_2: *const std::ffi::c_void, argument_3: [u8; 4]) -> kiln::Result<()> {
            self.function.launch(launch, &[std::ptr::addr_of!(argument_1) as _,
                                           std::ptr::addr_of!(argument_2) as _,
                                           std::ptr::addr_of!(argument_3) as _])
        }
    }

    pub struct affine_f32 { function: kiln::Function }
    impl affine_f32 {
        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {
            Ok(Self { function: super::catalog()?.function(device, "affine", "affine_f32")? })
        }
        /// # Safety
        /// Pointers are to device memory that the kernel may use.
        pub unsafe fn launch(&self, launch: &kiln::Launch, number_of_elements: u64,
                             input: *const f32, blocks_of_the_output: *mut std::ffi::c_void,
                             factor_of_the_output: kiln::Bf16, anything: *const std::ffi::c_void) -> kiln::Result<()> {
            self.function.launch(launch, &[std::ptr::addr_of!(number_of_elements) as _,
                                           std::ptr::addr_of!(input) as _,
                                           std::ptr::addr_of!(blocks_of_the_output) as _,
                                           std::ptr::addr_of!(factor_of_the_output) as _,
                                           std::ptr::addr_of!(anything) as _])
        }
    }

    // operator
    pub struct operator_ { function: kiln::Function }
    impl operator_ {
        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {
            Ok(Self { function: super::catalog()?.function(device, "affine", "operator")? })
        }
        /// # Safety
        /// Pointers are to device memory that the kernel may use.
        pub unsafe fn launch(&self, launch: &kiln::Launch) -> kiln::Result<()> {
            self.function.launch(launch, &[])
        }
    }
}

#[allow(dead_code, non_camel_case_types, non_snake_case, unsafe_op_in_unsafe_fn, clippy::all)]
pub mod copy {
    use super::kiln;

    pub struct affine_f32 { function: kiln::Function }
    impl affine_f32 {
        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {
            Ok(Self { function: super::catalog()?.function(device, "copy", "affine_f32")? })
        }
        /// # Safety
        /// Pointers are to device memory that the kernel may use.
        pub unsafe fn launch(&self, launch: &kiln::Launch, argument_1: [u8; 8],
                             argument_2: [u8; 8]) -> kiln::Result<()> {
            self.function.launch(launch, &[std::ptr::addr_of!(argument_1) as _,
                                           std::ptr::addr_of!(argument_2) as _])
        }
    }

    pub struct copy { function: kiln::Function }
    impl copy {
        pub fn load(device: &kiln::Device) -> kiln::Result<Self> {
            Ok(Self { function: super::catalog()?.function(device, "copy", "copy")? })
        }
        /// # Safety
        /// Pointers are to device memory that the kernel may use.
        pub unsafe fn launch(&self, launch: &kiln::Launch, argument_1: [u8; 8],
                             argument_2: [u8; 8]) -> kiln::Result<()> {
            self.function.launch(launch, &[std::ptr::addr_of!(argument_1) as _,
                                           std::ptr::addr_of!(argument_2) as _])
        }
    }
}

static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("kernels.kiln"));

