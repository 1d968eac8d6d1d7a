//! The part of `<kiln/kiln.h>` that a program needs, with owned handles and errors as values.

use std::ffi::{c_void, CStr, CString};
use std::os::raw::c_char;
use std::ptr::null_mut;

macro_rules! opaque {
    ($($name:ident),*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
}
opaque!(RawError, RawRuntime, RawDevice, RawBuffer, RawFunction);

#[repr(C)]
struct LaunchConfig {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: *mut c_void,
}

extern "C" {
    fn kiln_error_get_text(error: *const RawError) -> *const c_char;
    fn kiln_error_free(error: *mut RawError);
    fn kiln_runtime_open(device: *const c_char, runtime: *mut *mut RawRuntime) -> *mut RawError;
    fn kiln_runtime_free(runtime: *mut RawRuntime);
    fn kiln_device_open(runtime: *const RawRuntime, id: *const c_char, device: *mut *mut RawDevice) -> *mut RawError;
    fn kiln_device_free(device: *mut RawDevice);
    fn kiln_buffer_allocate(device: *const RawDevice, bytes: usize, buffer: *mut *mut RawBuffer) -> *mut RawError;
    fn kiln_buffer_free(buffer: *mut RawBuffer);
    fn kiln_buffer_data(buffer: *const RawBuffer) -> *mut c_void;
    fn kiln_copy_to_device(device: *const RawDevice, target: *mut c_void, source: *const c_void, bytes: usize) -> *mut RawError;
    fn kiln_copy_to_host(device: *const RawDevice, target: *mut c_void, source: *const c_void, bytes: usize) -> *mut RawError;
    fn kiln_function_load(device: *const RawDevice, name: *const c_char, image: *const c_void, bytes: usize, function: *mut *mut RawFunction) -> *mut RawError;
    fn kiln_function_free(function: *mut RawFunction);
    fn kiln_function_launch(function: *const RawFunction, config: *const LaunchConfig, arguments: *const *const c_void, count: usize) -> *mut RawError;
}

/// An error text of the runtime: what failed, on which device, and what to do.
#[derive(Debug)]
pub struct Error(pub String);

/// Converts an error that a function of kiln.h returned, and frees it.
fn check(error: *mut RawError) -> Result<(), Error> {
    if error.is_null() {
        return Ok(());
    }
    unsafe {
        let text = CStr::from_ptr(kiln_error_get_text(error)).to_string_lossy().into_owned();
        kiln_error_free(error);
        Err(Error(text))
    }
}

/// Returns the address of an argument for `Function::launch`.
pub fn address<T>(value: &T) -> *const c_void {
    value as *const T as *const c_void
}

/// The default device. Objects that it creates keep it open.
pub struct Device(*mut RawDevice);

impl Device {
    pub fn open() -> Result<Device, Error> {
        let (mut runtime, mut device) = (null_mut(), null_mut());
        unsafe {
            check(kiln_runtime_open(null_mut(), &mut runtime))?;
            let opened = check(kiln_device_open(runtime, null_mut(), &mut device));
            kiln_runtime_free(runtime);
            opened.map(|()| Device(device))
        }
    }

    pub fn upload<T: Copy>(&self, values: &[T]) -> Result<Buffer, Error> {
        let bytes = std::mem::size_of_val(values);
        let mut buffer = null_mut();
        unsafe {
            check(kiln_buffer_allocate(self.0, bytes, &mut buffer))?;
            let buffer = Buffer(buffer);
            check(kiln_copy_to_device(self.0, buffer.data(), values.as_ptr() as *const c_void, bytes))?;
            Ok(buffer)
        }
    }

    /// Copies from the start of the buffer to `values`. Waits for the work that was started before.
    pub fn download<T: Copy>(&self, buffer: &Buffer, values: &mut [T]) -> Result<(), Error> {
        let bytes = std::mem::size_of_val(values);
        unsafe { check(kiln_copy_to_host(self.0, values.as_mut_ptr() as *mut c_void, buffer.data(), bytes)) }
    }

    /// Returns a kernel of an image. The runtime copies the image.
    pub fn load(&self, kernel: &str, image: &[u8]) -> Result<Function, Error> {
        let name = CString::new(kernel).map_err(|_| Error("a name with a NUL".to_string()))?;
        let mut function = null_mut();
        unsafe {
            check(kiln_function_load(self.0, name.as_ptr(), image.as_ptr() as *const c_void, image.len(), &mut function))?;
        }
        Ok(Function(function))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        unsafe { kiln_device_free(self.0) }
    }
}

/// Device memory.
pub struct Buffer(*mut RawBuffer);

impl Buffer {
    pub fn data(&self) -> *mut c_void {
        unsafe { kiln_buffer_data(self.0) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        unsafe { kiln_buffer_free(self.0) }
    }
}

pub struct Function(*mut RawFunction);

impl Function {
    /// Starts the kernel.
    ///
    /// # Safety
    /// `arguments` must be the addresses of values of the kernel's parameter types, in order.
    pub unsafe fn launch(&self, blocks: u32, threads: u32, arguments: &[*const c_void]) -> Result<(), Error> {
        let config = LaunchConfig { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, stream: null_mut() };
        check(kiln_function_launch(self.0, &config, arguments.as_ptr(), arguments.len()))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        unsafe { kiln_function_free(self.0) }
    }
}
