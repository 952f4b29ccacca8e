//! The program under test, and the add-on that most tests look at.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

/// The new add-on of these tests.
pub const NAME: &str = "phrase-finder";

/// A run of the program.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// The standard output of a run that must have ended well.
    #[track_caller]
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// The program, with the compiler that tests use, in this folder.
pub fn tympan_addon(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tympan-addon"));
    command.args(args).current_dir(dir).env("TYMPAN_WASM_TOOLCHAIN", "debian");
    command
}

/// Runs the program.
pub fn run(dir: &Path, args: &[&str]) -> Run {
    tympan_addon(dir, args).output().expect("the program runs").into()
}

/// Cargo's target folder of this checkout.
pub fn target_dir() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().expect("the target folder holds the temporary one").to_owned()
}

/// Where every build of these tests keeps what it compiled.
pub fn wasm_dir() -> String {
    target_dir().join("wasm").to_string_lossy().into_owned()
}

/// A new add-on and its component.
pub struct Author {
    /// Outside the repository; removed when the tests end.
    _folder: TempDir,
    /// The crate.
    pub krate: PathBuf,
    /// The component.
    pub component: PathBuf,
    /// The core module that it was made from.
    pub module: PathBuf,
}

/// Made and built once.
pub fn author() -> &'static Author {
    static AUTHOR: OnceLock<Author> = OnceLock::new();
    AUTHOR.get_or_init(|| {
        let folder = TempDir::new().expect("a temporary folder");
        run(folder.path(), &["new", NAME]).succeeded();
        let krate = folder.path().join(NAME);
        run(&krate, &["build", "--target-dir", &wasm_dir()]).succeeded();
        Author {
            component: krate.join("target/addons/phrase_finder.wasm"),
            module: Path::new(&wasm_dir()).join("wasm32-unknown-unknown/addon/phrase_finder.wasm"),
            krate,
            _folder: folder,
        }
    })
}
