//! Has the linker send whisper.cpp's large products to `tympan-matmul`: the build script of every
//! package whose programs hold whisper.cpp.

fn main() {
    // Without any such line a change to any file of the package runs it again.
    println!("cargo:rerun-if-env-changed=TARGET");
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ARCH") == "x86_64" {
        println!("cargo:rustc-link-arg=-Wl,--wrap=llamafile_sgemm");
    }
}
