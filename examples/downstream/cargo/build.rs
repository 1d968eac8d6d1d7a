//! Uses an installed kiln, which pkg-config finds (PKG_CONFIG_PATH=PREFIX/lib/pkgconfig): cargo run
use std::process::Command;

fn pkg_config(variable: &str) -> String {
    let option = String::from("--variable=") + variable;
    let said = Command::new("pkg-config").args([option.as_str(), "kiln"]).output().expect("pkg-config");
    String::from_utf8(said.stdout).unwrap().trim().replace("\\ ", " ")
}

fn main() {
    let out = std::env::var("OUT_DIR").unwrap() + "/kernels";
    let build = ["build", "../kernels/targets.json", "--out", &out, "--emit", "rust", "--allow-missing"];
    assert!(Command::new(pkg_config("kiln")).args(build).status().expect("kiln").success());
    let libraries = pkg_config("libdir");
    println!("cargo:rerun-if-changed=../kernels");
    println!("cargo:rustc-link-search=native={}", libraries);
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", libraries);
}
