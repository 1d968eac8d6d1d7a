//! Computes y = 1 + 2 * x on the default device.
mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels/include/kernels.rs"));
}
use kernels::{kiln, vectors::saxpy};

fn run(input: &[f32]) -> kiln::Result<Vec<f32>> {
    let device = kiln::Device::open()?;
    let saxpy = saxpy::load(&device)?;
    let x = device.upload(input)?;
    let mut y = device.upload(&vec![1f32; input.len()])?;
    let n = input.len() as u32;
    unsafe { saxpy.launch(&kiln::Launch::new((n + 255) / 256, 256), n, 2.0, x.as_ptr(), y.as_mut_ptr())? };
    device.download(&y)
}

fn main() -> kiln::Result<()> {
    run(&[1.0, 2.0, 3.0, 4.0])?.iter().for_each(|value| print!("{} ", value));
    println!();
    Ok(())
}
