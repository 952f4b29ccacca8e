//! The program under test, and the add-on that most tests look at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
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

/// The program in this folder.
pub fn tympan_addon(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tympan-addon"));
    command.args(args).current_dir(dir);
    // Compiled Python components are kept between runs, and out of the user's cache.
    command.env("XDG_CACHE_HOME", target_dir().join("tmp/cache"));
    command
}

/// Runs the program.
pub fn run(dir: &Path, args: &[&str]) -> Run {
    tympan_addon(dir, args).output().expect("the program runs").into()
}

/// Runs a component on this document, with JSON as output.
pub fn trial_of(component: &str, transcript: &Value, more: &[&str]) -> Run {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("in.json");
    fs::write(&file, transcript.to_string()).expect("the folder takes a file");
    let file = file.to_str().expect("temporary paths are text");
    let mut args = vec!["test", component, "--json", "--transcript", file];
    args.extend(more);
    run(place.path(), &args)
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

/// A component that `make examples` leaves behind.
pub fn example(name: &str) -> String {
    let path = target_dir().join("examples").join(name);
    assert!(path.is_file(), "{} is missing: run `make examples` first", path.display());
    path.to_string_lossy().into_owned()
}
