/// The C interface of kiln's runtime: owned handles, errors as values.
pub mod kiln {
    #![allow(unsafe_op_in_unsafe_fn)]

    use std::ffi::{c_void, CStr, CString};
    use std::marker::PhantomData;
    use std::os::raw::c_char;
    use std::ptr::{null, null_mut};

    macro_rules! opaque {
        ($($name:ident),*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
    }
    opaque!(RawError, RawRuntime, RawDevice, RawBuffer, RawFunction, RawCatalog);

    /// Blocks, threads a block, bytes of shared memory, the driver's own stream.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct Launch {
        pub grid: [u32; 3],
        pub block: [u32; 3],
        pub shared_bytes: u32,
        pub stream: *mut c_void,
    }

    impl Launch {
        /// A line of `blocks` blocks of `threads` threads, on the default stream.
        pub fn new(blocks: u32, threads: u32) -> Launch {
            Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, stream: null_mut() }
        }
    }

    // `_` is an expression from edition 2024 on, and there alone these functions are to be called unsafe; compilers
    // before 1.82 do not know the word there.
    macro_rules! functions_of_the_runtime {
        ($later:expr, $($functions:tt)*) => { #[link(name = "kiln_runtime")] unsafe extern "C" { $($functions)* } };
        (_, $($functions:tt)*) => { #[link(name = "kiln_runtime")] extern "C" { $($functions)* } };
    }
    functions_of_the_runtime! { _,
        fn kiln_error_get_code(error: *const RawError) -> std::os::raw::c_int;
        fn kiln_error_get_text(error: *const RawError) -> *const c_char;
        fn kiln_error_free(error: *mut RawError);
        fn kiln_runtime_open(device: *const c_char, runtime: *mut *mut RawRuntime) -> *mut RawError;
        fn kiln_runtime_free(runtime: *mut RawRuntime);
        fn kiln_device_open(runtime: *const RawRuntime, id: *const c_char, device: *mut *mut RawDevice) -> *mut RawError;
        fn kiln_device_free(device: *mut RawDevice);
        fn kiln_device_synchronize(device: *const RawDevice) -> *mut RawError;
        fn kiln_buffer_allocate(device: *const RawDevice, bytes: usize, buffer: *mut *mut RawBuffer) -> *mut RawError;
        fn kiln_buffer_free(buffer: *mut RawBuffer);
        fn kiln_buffer_data(buffer: *const RawBuffer) -> *mut c_void;
        fn kiln_copy_to_device(device: *const RawDevice, target: *mut c_void, source: *const c_void, bytes: usize) -> *mut RawError;
        fn kiln_copy_to_host(device: *const RawDevice, target: *mut c_void, source: *const c_void, bytes: usize) -> *mut RawError;
        fn kiln_function_free(function: *mut RawFunction);
        fn kiln_function_launch(function: *const RawFunction, config: *const Launch, arguments: *const *const c_void, count: usize) -> *mut RawError;
        fn kiln_catalog_open_memory(bytes: *const c_void, size: usize, catalog: *mut *mut RawCatalog) -> *mut RawError;
        fn kiln_catalog_function(device: *const RawDevice, catalog: *const RawCatalog, module: *const c_char, name: *const c_char, function: *mut *mut RawFunction) -> *mut RawError;
        fn kiln_catalog_unpack(catalog: *const RawCatalog, module: usize, image: usize, bytes: *mut c_void, size: usize) -> *mut RawError;
    }

    /// Why something failed, as kiln.h has it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErrorCode {
        InvalidInput,
        BuildFailed,
        /// No such device or driver on this machine: often normal.
        Unavailable,
        Environment,
        NotFound,
        NoImage,
        Driver,
        Interrupted,
        Internal,
    }

    /// The runtime's own words in `text`: what failed, on which device, and what to do.
    pub struct Error {
        pub code: ErrorCode,
        pub text: String,
    }
    pub type Result<T> = std::result::Result<T, Error>;

    impl std::fmt::Display for Error {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str(&self.text)
        }
    }
    /// The text as it is, for unwrap() and for a main() that returns a Result.
    impl std::fmt::Debug for Error {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str(&self.text)
        }
    }
    impl std::error::Error for Error {}

    /// Takes the error that a function of kiln.h returned, which the caller owns.
    unsafe fn check(error: *mut RawError) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        let code = match kiln_error_get_code(error) {
            1 => ErrorCode::InvalidInput,
            2 => ErrorCode::BuildFailed,
            3 => ErrorCode::Unavailable,
            4 => ErrorCode::Environment,
            5 => ErrorCode::NotFound,
            6 => ErrorCode::NoImage,
            7 => ErrorCode::Driver,
            8 => ErrorCode::Interrupted,
            _ => ErrorCode::Internal,
        };
        let text = CStr::from_ptr(kiln_error_get_text(error)).to_string_lossy().into_owned();
        kiln_error_free(error);
        Err(Error { code, text })
    }

    fn invalid_input(text: String) -> Error {
        Error { code: ErrorCode::InvalidInput, text }
    }

    fn c_text(text: &str) -> Result<CString> {
        CString::new(text).map_err(|_| invalid_input(format!("a name with a NUL: {:?}", text)))
    }

    /// What device memory may hold: any bytes are a value of the type, since kernels write any.
    ///
    /// # Safety
    /// The type has no padding, and no bytes that are not a value: no bool, no reference, no enum. A struct of such
    /// types with #[repr(C)] may be one.
    pub unsafe trait Plain: Copy {}
    macro_rules! plain {
        ($($name:ty),*) => { $(unsafe impl Plain for $name {})* };
    }
    plain!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, F8, F16, Bf16);
    unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

    /// A device: "cuda:0", "host". What it gives out keeps it open.
    pub struct Device(*mut RawDevice);
    unsafe impl Send for Device {}
    unsafe impl Sync for Device {}

    impl Device {
        /// The one that KILN_DEVICE names, else the first.
        pub fn open() -> Result<Device> {
            Device::make(null())
        }
        pub fn named(id: &str) -> Result<Device> {
            let id = c_text(id)?;
            Device::make(id.as_ptr())
        }
        fn make(id: *const c_char) -> Result<Device> {
            let (mut runtime, mut device) = (null_mut(), null_mut());
            unsafe {
                check(kiln_runtime_open(null(), &mut runtime))?;
                let opened = check(kiln_device_open(runtime, id, &mut device));
                kiln_runtime_free(runtime);
                opened.map(|()| Device(device))
            }
        }

        /// Device memory for `count` values, not initialised.
        pub fn allocate<T: Plain>(&self, count: usize) -> Result<Buffer<T>> {
            let bytes = count.checked_mul(std::mem::size_of::<T>());
            let bytes = bytes.ok_or_else(|| invalid_input(format!("{} values are too many", count)))?;
            let mut raw = null_mut();
            unsafe { check(kiln_buffer_allocate(self.0, bytes, &mut raw))? };
            Ok(Buffer { raw, count, of: PhantomData })
        }
        pub fn upload<T: Plain>(&self, values: &[T]) -> Result<Buffer<T>> {
            let mut buffer = self.allocate(values.len())?;
            let (target, source) = (buffer.as_mut_ptr() as *mut c_void, values.as_ptr() as *const c_void);
            unsafe { check(kiln_copy_to_device(self.0, target, source, std::mem::size_of_val(values)))? };
            Ok(buffer)
        }
        /// Waits for the work before it.
        pub fn download<T: Plain>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
            let mut values = vec![unsafe { std::mem::zeroed::<T>() }; buffer.len()];
            let bytes = std::mem::size_of_val(values.as_slice());
            unsafe {
                check(kiln_copy_to_host(self.0, values.as_mut_ptr() as *mut c_void, buffer.as_ptr() as *const c_void, bytes))?
            };
            Ok(values)
        }
        /// Waits for all work of the device.
        pub fn synchronize(&self) -> Result<()> {
            unsafe { check(kiln_device_synchronize(self.0)) }
        }
    }

    impl Drop for Device {
        fn drop(&mut self) {
            unsafe { kiln_device_free(self.0) }
        }
    }

    /// Device memory that frees itself. Its addresses are for kernels alone.
    pub struct Buffer<T> {
        raw: *mut RawBuffer,
        count: usize,
        of: PhantomData<T>,
    }
    unsafe impl<T: Send> Send for Buffer<T> {}

    impl<T> Buffer<T> {
        pub fn len(&self) -> usize {
            self.count
        }
        pub fn is_empty(&self) -> bool {
            self.count == 0
        }
        pub fn as_ptr(&self) -> *const T {
            unsafe { kiln_buffer_data(self.raw) as *const T }
        }
        pub fn as_mut_ptr(&mut self) -> *mut T {
            unsafe { kiln_buffer_data(self.raw) as *mut T }
        }
    }

    impl<T> Drop for Buffer<T> {
        fn drop(&mut self) {
            unsafe { kiln_buffer_free(self.raw) }
        }
    }

    /// A kernel of which nothing but its name is known to the compiler.
    pub struct Function(*mut RawFunction);
    unsafe impl Send for Function {}
    unsafe impl Sync for Function {}

    impl Function {
        /// # Safety
        /// `arguments` are addresses of values of the kernel's parameter types, in their order.
        pub unsafe fn launch(&self, launch: &Launch, arguments: &[*const c_void]) -> Result<()> {
            check(kiln_function_launch(self.0, launch, arguments.as_ptr(), arguments.len()))
        }
    }

    impl Drop for Function {
        fn drop(&mut self) {
            unsafe { kiln_function_free(self.0) }
        }
    }

    /// An open catalog.
    pub struct Catalog(*mut RawCatalog);
    unsafe impl Send for Catalog {}
    unsafe impl Sync for Catalog {}

    impl Catalog {
        /// The bytes of a catalog file, at a multiple of 4096. Opened once, and never closed.
        pub fn open(bytes: &'static [u8]) -> Result<Catalog> {
            let mut raw = null_mut();
            unsafe { check(kiln_catalog_open_memory(bytes.as_ptr() as *const c_void, bytes.len(), &mut raw))? };
            Ok(Catalog(raw))
        }
        pub fn function(&self, device: &Device, module: &str, name: &str) -> Result<Function> {
            let (module, name) = (c_text(module)?, c_text(name)?);
            let mut raw = null_mut();
            unsafe { check(kiln_catalog_function(device.0, self.0, module.as_ptr(), name.as_ptr(), &mut raw))? };
            Ok(Function(raw))
        }
        /// An image as its compiler wrote it, checked.
        pub fn unpack(&self, module: usize, image: usize, size: usize) -> Result<Vec<u8>> {
            let mut bytes = vec![0u8; size];
            unsafe { check(kiln_catalog_unpack(self.0, module, image, bytes.as_mut_ptr() as *mut c_void, size))? };
            Ok(bytes)
        }
    }

    /// The bits of numbers that Rust has no type for.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct F8(pub u8);
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct F16(pub u16);
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Bf16(pub u16);
}

/// What the bytes of an image are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Hsaco,
    Cubin,
    Ptx,
    Host,
    Source,
}

/// One image of a module.
pub struct Image {
    pub target: &'static str,
    pub format: Format,
    pub unit: usize,
    module: usize,
    position: usize,
    size: usize,
    unpacked: std::sync::atomic::AtomicPtr<Vec<u8>>,
}

impl Image {
    /// Its bytes, decompressed when they are first asked for; PTX with a NUL behind it.
    pub fn bytes(&'static self) -> kiln::Result<&'static [u8]> {
        keep(&self.unpacked, || catalog()?.unpack(self.module, self.position, self.size)).map(|bytes| bytes.as_slice())
    }
}

/// A module: its images, in the shape of candle's crate.
#[derive(Clone, Copy)]
pub struct Module {
    index: usize,
    name: &'static str,
    images: fn() -> &'static [Image],
}

impl Module {
    /// Its position in ALL_IDS.
    pub const fn index(&self) -> usize {
        self.index
    }
    pub const fn name(&self) -> &'static str {
        self.name
    }
    pub fn images(&self) -> &'static [Image] {
        (self.images)()
    }
    /// The image of the first unit for a target: "gfx1100", "compute_80".
    pub fn image(&self, target: &str) -> Option<&'static Image> {
        self.images().iter().find(|image| image.target == target)
    }
    /// The PTX of the least compute capability, as text without its NUL; "" where the module has none.
    pub fn ptx(&self) -> &'static str {
        match self.images().iter().find(|image| image.format == Format::Ptx) {
            Some(image) => image.bytes().ok().and_then(|bytes| std::str::from_utf8(&bytes[..bytes.len() - 1]).ok()).unwrap_or(""),
            None => "",
        }
    }
    /// The code object of an AMD target.
    pub fn hsaco(&self, target: &str) -> Option<&'static [u8]> {
        let image = self.image(target).filter(|image| image.format == Format::Hsaco)?;
        image.bytes().ok()
    }
    /// A kernel by a name that is known when the program runs.
    pub fn function(&self, device: &kiln::Device, name: &str) -> kiln::Result<kiln::Function> {
        catalog()?.function(device, self.name, name)
    }
}

// The value behind `place`, made by the first who asks and never freed.
fn keep<T>(place: &'static std::sync::atomic::AtomicPtr<T>, make: impl FnOnce() -> kiln::Result<T>) -> kiln::Result<&'static T> {
    use std::sync::atomic::Ordering::{AcqRel, Acquire};
    let mut kept = place.load(Acquire);
    if kept.is_null() {
        let made = Box::into_raw(Box::new(make()?));
        kept = match place.compare_exchange(std::ptr::null_mut(), made, AcqRel, Acquire) {
            Ok(_) => made,
            Err(other) => {
                drop(unsafe { Box::from_raw(made) }); // another thread was first
                other
            }
        };
    }
    Ok(unsafe { &*kept })
}

#[repr(C, align(4096))]
struct Aligned<T: ?Sized>(T);

/// All modules, opened when first asked for.
pub fn catalog() -> kiln::Result<&'static kiln::Catalog> {
    static CATALOG: std::sync::atomic::AtomicPtr<kiln::Catalog> = std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
    keep(&CATALOG, || kiln::Catalog::open(&BYTES.0))
}
