//! The description of the API, over the real binary.

use std::process::Command;

use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{KEY, Options, Server, root};

/// Requests for each operation and each way of making them up; `make schemathesis` sends more.
const FEW: &str = "6";

/// schemathesis reads the description, makes up requests that fit it and some that do not, and
/// looks whether the answers are as described. tests/schemathesis says what is allowed for.
#[test]
fn schemathesis_finds_no_unexplained_failure() {
    let recordings = Recordings::serve(fixtures::folder());
    let server = Server::start(Options::default());
    let rules = root().join("tests/schemathesis");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let found = Command::new(root().join("target/schemathesis/bin/schemathesis"))
        .current_dir(scratch.path())
        .arg("--config-file")
        .arg(rules.join("schemathesis.toml"))
        .args(["run", "--no-color", "--seed", "1", "--warnings", "off"])
        .args(["--max-examples", &std::env::var("TYMPAN_EXAMPLES").unwrap_or(FEW.to_owned())])
        .args(["--request-timeout", "30", "--header", &format!("x-service-key: {KEY}")])
        .arg(format!("{}/openapi.json", server.base()))
        .env("SCHEMATHESIS_HOOKS", rules.join("hooks.py"))
        .env("RECORDING_URL", recordings.url("en/jfk.wav"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("`make test` installs schemathesis");
    let report = String::from_utf8_lossy(&found.stdout);
    println!("{report}");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    assert!(report.contains("Tested: 32"), "it did not try every operation");
}

#[tokio::test]
async fn an_addon_of_the_operator_stands_in_the_document() {
    let server = Server::start(Options::default().addons(&[root().join("target/examples")]));
    let client = server.client();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let document = client.send(http.get(format!("{}/openapi.json", server.base()))).await.body;
    let schemas = &document["components"]["schemas"];
    let request = &schemas["PreRecordedRequest"]["properties"];
    assert_eq!(request["call_quality"]["default"], false, "{request}");
    let config = request["call_quality_config"]["anyOf"][0]["$ref"].as_str().expect("a reference");
    let config = document.pointer(&config[1..]).expect("what it refers to");
    assert!(config["properties"].as_object().is_some_and(|members| !members.is_empty()), "{config}");
    let page = http.get(format!("{}/docs/", server.base())).send().await.expect("answers");
    assert!(page.text().await.expect("text").contains("swagger-ui-bundle.js"));
}
