//! The generated Rust module: its shape, and the bytes that it gives out.
mod kernels {
    include!(concat!(env!("GENERATED"), "/kernels.rs"));
}
use kernels::{kiln, Format, Id, ALL_IDS};

/// A struct of the program's own in device memory.
#[repr(C)]
#[derive(Clone, Copy)]
struct Point {
    x: f32,
    y: f32,
}
unsafe impl kiln::Plain for Point {}

/// Never called: that it compiles is the test.
#[allow(dead_code)]
fn launch(device: &kiln::Device) -> kiln::Result<()> {
    let scale = kernels::typed::scale_f32::load(device)?;
    let input = device.upload(&[1f32; 64])?;
    let mut output = device.allocate::<f32>(input.len())?;
    let points: Vec<Point> = device.download(&device.upload(&[Point { x: 1.0, y: 2.0 }])?)?;
    let rows: Vec<[kiln::F16; 48]> = device.download(&device.allocate(points.len())?)?;
    assert_eq!(rows.len() as f32 * points[0].x, points[0].y);
    unsafe { scale.launch(&kiln::Launch::new(1, 64), 64, input.as_ptr(), output.as_mut_ptr(), 2.0) }
}

fn main() {
    assert_eq!(ALL_IDS, [Id::Affine, Id::Copy, Id::Empty, Id::Typed]);
    for (i, module) in [kernels::AFFINE, kernels::COPY, kernels::EMPTY, kernels::TYPED].iter().enumerate() {
        assert_eq!(module.index(), i);
        assert_eq!(ALL_IDS[i] as usize, i);
    }
    let affine = kernels::AFFINE;
    assert!(affine.ptx().starts_with(".version"));
    assert_eq!(affine.ptx().len(), 100_000); // without the NUL behind it
    assert_eq!(affine.hsaco("gfx1030").map(|bytes| bytes.len()), Some(100_000));
    assert!(affine.hsaco("sm_90").is_none());
    assert!(affine.image("sm_90").map(|image| image.format) == Some(Format::Cubin));
    assert!(affine.images().iter().all(|image| image.bytes().is_ok()));
    // An error has a code to branch on, and prints as it reads.
    let error = kiln::Device::named("cuda\0").err().unwrap();
    assert_eq!((error.code, format!("{:?}", error)), (kiln::ErrorCode::InvalidInput, error.to_string()));
    assert_eq!(kiln::Device::named("warm").err().map(|error| error.code), Some(kiln::ErrorCode::InvalidInput));
}
