//! `TYMPAN_WASM_TOOLCHAIN`: every value, against programs that only write down how they were
//! called. The compilers are fakes, the component that comes out is real.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{Run, author, tympan_addon};

/// Programs that come first on the path.
struct Fakes(TempDir);

impl Fakes {
    fn new() -> Self {
        let fakes = Self(tempfile::tempdir().unwrap());
        fakes.program("dpkg", "exit 1");
        fakes.program("rustup", "exit 1");
        fakes.compiler("cargo");
        fakes
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path().join(name);
        let log = self.path().join("calls");
        fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\" >>{}\n{script}\n", log.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A cargo that knows the crate, and "compiles" it by copying a module that exists.
    fn compiler(&self, name: &str) {
        let script = format!(
            r#"case " $* " in
*" metadata "*) exec {real} "$@" ;;
esac
echo "RUSTC=$RUSTC LINKER=$CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER BOOTSTRAP=$RUSTC_BOOTSTRAP" >>{log}
mkdir -p {target}/wasm32-unknown-unknown/addon
cp {module} {target}/wasm32-unknown-unknown/addon/phrase_finder.wasm"#,
            real = env!("CARGO"),
            log = self.path().join("calls").display(),
            target = self.path().join("target").display(),
            module = author().module.display(),
        );
        self.program(name, &script);
    }

    /// A dpkg that knows Debian's packages, with the compilers in this folder.
    fn debian(&self) {
        let bin = self.path().join("debian/bin");
        fs::create_dir_all(&bin).unwrap();
        self.compiler("debian/bin/cargo");
        let listing = format!(
            r#"case "$2" in
rustc-web) echo {bin}/rustc ;;
cargo-web) echo {bin}/cargo ;;
lld-19) echo {bin}/wasm-ld-19 ;;
rust-web-src) echo /usr/lib/rustlib/src ;;
*) exit 1 ;;
esac"#,
            bin = bin.display()
        );
        self.program("dpkg", &listing);
    }

    fn build(&self, toolchain: &str) -> Run {
        let krate = author().krate.to_str().unwrap();
        let target = self.path().join("target");
        let output = self.path().join("out.wasm");
        let args = ["build", krate, "--target-dir", target.to_str().unwrap(), "-o", output.to_str().unwrap()];
        let path = format!("{}:/usr/bin:/bin", self.path().display());
        let mut command = tympan_addon(self.path(), &args);
        command.env("TYMPAN_WASM_TOOLCHAIN", toolchain).env("PATH", path);
        command.env_remove("RUSTC").env_remove("RUSTC_BOOTSTRAP");
        command.output().unwrap().into()
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.path().join("calls")).unwrap_or_default()
    }

    #[track_caller]
    fn built(&self) {
        let built = fs::read(self.path().join("out.wasm")).unwrap();
        assert!(built == fs::read(&author().component).unwrap());
    }
}

const INSTALLED: &str = r#"[ "$2" = list ] && echo wasm32-unknown-unknown"#;
const ADDABLE: &str = r#"[ "$2" = add ] || echo x86_64-unknown-linux-gnu"#;
const NOT_ADDABLE: &str = r#"[ "$2" = list ] && echo x86_64-unknown-linux-gnu"#;

#[test]
fn rustup_builds_where_the_target_is_installed() {
    let fakes = Fakes::new();
    fakes.program("rustup", INSTALLED);
    fakes.build("rustup").succeeded();
    fakes.built();
    let calls = fakes.calls();
    assert!(!calls.contains("target add"), "{calls}");
    assert!(
        calls.contains("cargo rustc --lib --crate-type cdylib --target wasm32-unknown-unknown"),
        "{calls}"
    );
    assert!(calls.contains("--profile addon"), "{calls}");
    assert!(calls.contains("RUSTC= LINKER= BOOTSTRAP="), "{calls}");
}

#[test]
fn rustup_adds_the_target_where_it_can() {
    let fakes = Fakes::new();
    fakes.program("rustup", ADDABLE);
    fakes.build("rustup").succeeded();
    fakes.built();
    assert!(fakes.calls().contains("rustup target add wasm32-unknown-unknown"));
}

#[test]
fn rustup_that_cannot_add_the_target_says_what_to_run() {
    let fakes = Fakes::new();
    fakes.program("rustup", NOT_ADDABLE);
    fakes.debian();
    let refused = fakes.build("rustup");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("rustup target add wasm32-unknown-unknown"), "{}", refused.stderr);
}

#[test]
fn auto_prefers_rustup() {
    let fakes = Fakes::new();
    fakes.program("rustup", INSTALLED);
    fakes.debian();
    fakes.build("auto").succeeded();
    assert!(!fakes.calls().contains("build-std"));
}

#[test]
fn auto_falls_back_to_debian_and_builds_the_standard_library() {
    let fakes = Fakes::new();
    fakes.program("rustup", NOT_ADDABLE);
    fakes.debian();
    fakes.build("auto").succeeded();
    fakes.built();
    let calls = fakes.calls();
    let bin = fakes.path().join("debian/bin").display().to_string();
    assert!(calls.contains("cargo -Z build-std=std,panic_abort rustc"), "{calls}");
    assert!(calls.contains(&format!("RUSTC={bin}/rustc LINKER={bin}/wasm-ld-19 BOOTSTRAP=1")), "{calls}");
}

#[test]
fn debian_does_not_ask_rustup() {
    let fakes = Fakes::new();
    fakes.program("rustup", INSTALLED);
    fakes.debian();
    fakes.build("debian").succeeded();
    assert!(!fakes.calls().contains("rustup"));
}

#[test]
fn without_any_compiler_both_ways_to_get_one_are_named() {
    let refused = Fakes::new().build("auto");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("https://rustup.rs"), "{}", refused.stderr);
    let install = "apt-get install --no-remove rustc-web cargo-web rust-web-src lld-19";
    assert!(refused.stderr.contains(install), "{}", refused.stderr);
}

#[test]
fn an_unknown_value_is_named() {
    let refused = Fakes::new().build("emscripten");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("TYMPAN_WASM_TOOLCHAIN is `emscripten`: use auto, rustup or debian"),
        "{}",
        refused.stderr
    );
}
