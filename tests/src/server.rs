//! The real binary, started on a free port with a data folder of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::client::Client;

/// The key that every test server accepts.
pub const KEY: &str = "test-key-of-the-black-box-tests";

/// How long a start may take: the first one compiles the add-ons.
const START_LIMIT: Duration = Duration::from_secs(120);

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the workspace").to_owned()
}

/// A program of this build.
///
/// # Panics
/// When it has not been built.
pub fn binary(name: &str) -> PathBuf {
    let path = root().join("target/release").join(name);
    assert!(path.is_file(), "{} is missing; run `make build` first", path.display());
    path
}

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Environment beyond what every test server gets.
    pub environment: Vec<(String, String)>,
    /// Text of `tympan.toml`.
    pub config: String,
    /// Another build of the program.
    pub program: Option<PathBuf>,
}

impl Options {
    /// Adds folders of add-ons.
    pub fn addons(mut self, folders: &[PathBuf]) -> Self {
        let joined: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        self.environment.push(("TYMPAN_ADDONS_DIR".to_owned(), joined.join(":")));
        self
    }

    /// Sets a variable of the environment.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the text of the config file.
    pub fn config(mut self, text: &str) -> Self {
        self.config = text.to_owned();
        self
    }

    /// Runs a command of the binary that needs no server, with an empty data folder.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_config(folder.path(), self);
        configured(folder.path(), self).args(arguments).output().expect("the binary runs")
    }
}

/// A running server; dropping it kills the process.
pub struct Server {
    child: Child,
    base: String,
    folder: tempfile::TempDir,
    options: Options,
}

impl Server {
    /// Starts a server with an empty data folder.
    pub fn start(options: Options) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (child, base) = spawn(folder.path(), &options);
        Self { child, base, folder, options }
    }

    /// A client with the right key.
    pub fn client(&self) -> Client {
        Client::new(&self.base, KEY)
    }

    /// `http://127.0.0.1:port`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs another command of the binary with the same configuration and data folder.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let mut command = configured(self.folder.path(), &self.options);
        command.args(arguments).output().expect("the binary runs")
    }

    /// All that the server has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Process id, for signals.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process at once, as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().expect("the server runs");
        self.child.wait().expect("the server ends");
    }

    /// Asks the process to end.
    pub fn ask_to_end(&self) {
        let status = Command::new("kill").arg(self.id().to_string()).status().expect("kill runs");
        assert!(status.success());
    }

    /// Asks the process to end and says how long it took, and whether it ended well.
    pub fn terminate(&mut self) -> (Duration, bool) {
        let begun = Instant::now();
        self.ask_to_end();
        let ended = self.child.wait().expect("the server ends");
        (begun.elapsed(), ended.success())
    }

    /// Changes the configuration of the next start.
    pub fn configure(&mut self, config: &str) {
        self.options.config = config.to_owned();
    }

    /// Chooses the program of the next start; none: that of this build.
    pub fn run_program(&mut self, program: Option<PathBuf>) {
        self.options.program = program;
    }

    /// From the next start on, addresses of requests must be public.
    pub fn forbid_private_urls(&mut self) {
        self.options.environment.push(("TYMPAN_ALLOW_PRIVATE_URLS".to_owned(), "false".to_owned()));
    }

    /// From the next start on, it listens where it listens now.
    pub fn keep_address(&mut self) {
        let address = self.base.strip_prefix("http://").expect("an address over HTTP").to_owned();
        self.options.environment.push(("TYMPAN_LISTEN".to_owned(), address));
    }

    /// Starts it again on the same data folder.
    pub fn restart(&mut self) {
        let (child, base) = spawn(self.folder.path(), &self.options);
        self.child = child;
        self.base = base;
    }

    /// Starts it again and kills it after `life`, however far the start has come.
    pub fn restart_and_kill(&mut self, life: Duration) {
        self.child = launch(self.folder.path(), &self.options);
        std::thread::sleep(life);
        self.kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail when the test has ended the process itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary with the environment of a test server.
fn configured(folder: &Path, options: &Options) -> Command {
    let mut command = Command::new(options.program.clone().unwrap_or_else(|| binary("tympan")));
    command
        .env("TYMPAN_CONFIG", folder.join("tympan.toml"))
        .env("TYMPAN_LISTEN", "127.0.0.1:0")
        .env("TYMPAN_DATA_DIR", folder.join("data"))
        // Each component is compiled once for all test servers.
        .env("TYMPAN_COMPILED_ADDONS_DIR", root().join("target/tmp/compiled-addons"))
        .env("TYMPAN_API_KEY", KEY)
        .env("TYMPAN_ALLOW_PRIVATE_URLS", "true")
        .envs(options.environment.iter().map(|(name, value)| (name, value)));
    command
}

fn write_config(folder: &Path, options: &Options) {
    std::fs::write(folder.join("tympan.toml"), &options.config).expect("the config can be written");
}

/// The process, which has said nothing yet.
fn launch(folder: &Path, options: &Options) -> Child {
    write_config(folder, options);
    let log =
        std::fs::File::options().create(true).append(true).open(folder.join("log")).expect("a log file");
    let mut command = configured(folder, options);
    command.arg("serve").stdout(Stdio::piped()).stderr(log).spawn().expect("the server starts")
}

/// The process and its address, once it listens.
fn spawn(folder: &Path, options: &Options) -> (Child, String) {
    let mut child = launch(folder, options);
    let stdout = child.stdout.take().expect("stdout is piped");
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Nobody listens any more once the address is known.
            let _ = send.send(line);
        }
    });
    let line = receive.recv_timeout(START_LIMIT).unwrap_or_default();
    let base = line.strip_prefix("listening on ").map(str::to_owned);
    let base = base.unwrap_or_else(|| {
        let _ = child.kill();
        panic!(
            "the server did not start; its log:\n{}",
            std::fs::read_to_string(folder.join("log")).unwrap_or_default()
        )
    });
    (child, base)
}
