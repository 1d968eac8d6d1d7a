//! Uses kiln from Rust without a crate:
//!
//!     rustc main.rs -L build/runtime -l kiln_runtime
//!     ./main IMAGE...          affine_f32 of the first image that the default device runs

mod kiln;

use std::ffi::c_void;

/// Returns the kernel of the first image that the device can run.
fn load_first(device: &kiln::Device, paths: &[String]) -> Result<kiln::Function, kiln::Error> {
    for path in paths {
        let image = std::fs::read(path).map_err(|error| kiln::Error(format!("{}: {}", path, error)))?;
        match device.load("affine_f32", &image) {
            Ok(function) => return Ok(function),
            Err(error) => eprintln!("{}", error.0), // for example an image for another architecture
        }
    }
    Err(kiln::Error("no image that the device runs".to_string()))
}

fn run(paths: &[String]) -> Result<Vec<f32>, kiln::Error> {
    let device = kiln::Device::open()?;
    let affine = load_first(&device, paths)?;
    let mut values = vec![1f32, 2.0, 3.0, 4.0];
    let buffer = device.upload(&values)?;
    let (count, dims, contiguous) = (values.len(), 1usize, std::ptr::null::<c_void>());
    let (data, mul, add) = (buffer.data(), 2f32, 1f32);
    // Safe only if the arguments match the kernel: the parameters of an image are unknown.
    unsafe {
        affine.launch(
            1,
            64,
            &[
                kiln::address(&count),
                kiln::address(&dims),
                kiln::address(&contiguous),
                kiln::address(&data),
                kiln::address(&data),
                kiln::address(&mul),
                kiln::address(&add),
            ],
        )?;
    }
    device.download(&buffer, &mut values)?;
    Ok(values)
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    match run(&paths) {
        Ok(values) => {
            println!("{:?}", values);
            std::process::exit(if values == [3.0, 5.0, 7.0, 9.0] { 0 } else { 1 });
        }
        Err(error) => {
            eprintln!("{}", error.0);
            std::process::exit(1);
        }
    }
}
