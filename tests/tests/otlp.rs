//! Traces as a collector receives them, from a build of the service with the feature `otlp`.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use serde_json::json;
use tympan_tests::fixtures;
use tympan_tests::receiver::{Manner, Message, Receiver};
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{KEY, Options, Server, root};

const RECORDING: &str = "en/librispeech_2414-128291-0000.flac";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CLIENTS_SPAN: &str = "b7ad6b7169203331";

/// The build that exports, as `make otlp` leaves it.
fn exporting() -> Options {
    let program = root().join("target/otlp/tympan");
    assert!(program.is_file(), "{} is missing; run `make otlp`", program.display());
    Options { program: Some(program), ..Options::default() }
}

fn spans(messages: &[Message]) -> Vec<Span> {
    let requests =
        messages.iter().map(|message| ExportTraceServiceRequest::decode(&message.body[..]).unwrap());
    let resources = requests.flat_map(|request| request.resource_spans);
    resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => text.clone(),
        Any::IntValue(number) => number.to_string(),
        Any::DoubleValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

async fn post(server: &Server, body: &serde_json::Value, trace_parent: &str) -> String {
    // The first one sets TLS up for the process.
    let client = server.client();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{}/v2/pre-recorded", server.base())).json(body);
    let answer = client.send(request.header("traceparent", trace_parent)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_job_is_one_trace_from_its_request_to_its_last_delivery() {
    let collector = Receiver::polite();
    let config = format!(
        "[otlp]\nendpoint = \"{}\"\nservice_name = \"ears\"\nheaders = {{ x-collector-key = \"of-collector\" }}\n\
         [deliveries]\nretry_s = [0]\n",
        collector.url("")
    );
    let mut server = Server::start(exporting().config(&config));
    let files = Recordings::serve(fixtures::folder());
    let receiver = Receiver::start(&[Manner::Status(500), Manner::Status(200)]);
    let body = json!({"audio_url": files.url(RECORDING), "callback_url": receiver.url("/?token=hush"),
                      "sentences": true, "custom_metadata": {"who": "somebody"}});
    let id = post(&server, &body, &format!("00-{TRACE}-{CLIENTS_SPAN}-01")).await;
    let job = server.client().wait(&id).await;
    assert_eq!(job["status"], "done", "{job}");
    receiver.wait_for(2);
    server.client().get("/healthz").await;
    // What has not been sent by then is sent at the end.
    let (_, ended_well) = server.terminate();
    assert!(ended_well, "{}", server.log());

    let transcript = job["result"]["transcription"]["full_transcript"].as_str().unwrap();
    let said = transcript.split(' ').max_by_key(|word| word.len()).unwrap();
    assert!(said.len() > 5, "a short word can be anywhere: {transcript}");
    let messages = collector.messages();
    for message in &messages {
        assert_eq!((message.method.as_str(), message.target.as_str()), ("POST", "/v1/traces"));
        assert_eq!(message.header("content-type"), "application/x-protobuf");
        assert_eq!(message.header("x-collector-key"), "of-collector");
        let text = String::from_utf8_lossy(&message.body);
        assert!(text.contains("ears"), "the name of the service");
        for private in [KEY, "hush", "somebody", said, RECORDING, &files.url(""), env!("CARGO_MANIFEST_DIR")]
        {
            assert!(!text.contains(private), "{private} in {text}");
        }
    }
    let spans = spans(&messages);
    let of_job: Vec<Span> =
        spans.iter().filter(|span| hex::encode(&span.trace_id) == TRACE).cloned().collect();

    let [request] = named(&of_job, "POST /v2/pre-recorded")[..] else { panic!("{of_job:?}") };
    assert_eq!(hex::encode(&request.parent_span_id), CLIENTS_SPAN);
    assert_eq!(attribute(request, "http.route").as_deref(), Some("/v2/pre-recorded"));
    assert_eq!(attribute(request, "http.response.status_code").as_deref(), Some("200"));
    let [work] = named(&of_job, "job")[..] else { panic!("{of_job:?}") };
    assert_eq!(work.parent_span_id, request.span_id);
    for (key, value) in [
        ("job.id", id.as_str()),
        ("job.kind", "pre-recorded"),
        ("job.model", "stt-1"),
        ("job.attempt", "1"),
        ("job.outcome", "done"),
    ] {
        assert_eq!(attribute(work, key).as_deref(), Some(value), "{key}");
    }
    let audio_s: f64 = attribute(work, "job.audio_s").unwrap().parse().unwrap();
    assert_eq!(audio_s, job["result"]["metadata"]["audio_duration"].as_f64().unwrap());
    for step in ["fetch", "decode", "segment", "transcribe", "add-ons", "assemble"] {
        let [span] = named(&of_job, step)[..] else { panic!("{step} in {of_job:?}") };
        assert_eq!(span.parent_span_id, work.span_id, "{step}");
        assert!(work.start_time_unix_nano <= span.start_time_unix_nano);
        assert!(span.end_time_unix_nano <= work.end_time_unix_nano);
    }
    let [addon] = named(&of_job, "sentences")[..] else { panic!("{of_job:?}") };
    assert_eq!(addon.parent_span_id, named(&of_job, "add-ons")[0].span_id);
    let deliveries = named(&of_job, "delivery");
    let tries: Vec<_> =
        deliveries.iter().map(|span| (attribute(span, "delivery.attempt").unwrap(), failed(span))).collect();
    assert_eq!(tries, [("1".to_owned(), true), ("2".to_owned(), false)]);
    // Questions about its state are requests of their own.
    assert!(
        named(&spans, "GET /v2/pre-recorded/{id}").iter().all(|span| hex::encode(&span.trace_id) != TRACE)
    );
    assert!(!spans.iter().any(|span| span.name.contains("healthz")));
}

#[tokio::test]
async fn the_standard_variables_are_enough_and_a_client_may_decline() {
    let collector = Receiver::polite();
    let options = exporting()
        .variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &collector.url("/exactly/here"))
        .variable("OTEL_SERVICE_NAME", "named-by-environment");
    let mut server = Server::start(options);
    let body = json!({"audio_url": "http://127.0.0.1:1/none.wav"});
    post(&server, &body, &format!("00-{TRACE}-{CLIENTS_SPAN}-00")).await;
    post(&server, &body, "nonsense").await;
    server.client().get("/v2/pre-recorded/what-a-client-typed").await;
    let (_, ended_well) = server.terminate();
    assert!(ended_well);
    let messages = collector.messages();
    assert!(messages.iter().all(|message| message.target == "/exactly/here"));
    let text = String::from_utf8_lossy(&messages[0].body).into_owned();
    assert!(text.contains("named-by-environment") && !text.contains("what-a-client-typed"), "{text}");
    let spans = spans(&messages);
    assert_eq!(named(&spans, "POST /v2/pre-recorded").len(), 1, "the other one is not sampled");
    assert!(spans.iter().all(|span| hex::encode(&span.trace_id) != TRACE));
    let [missing] = named(&spans, "GET /v2/pre-recorded/{id}")[..] else { panic!("{spans:?}") };
    assert_eq!(attribute(missing, "http.response.status_code").as_deref(), Some("404"));
    assert!(!failed(missing), "the client's fault");
}

#[tokio::test]
async fn a_collector_that_is_dead_or_hangs_costs_a_line_of_the_log() {
    for manner in [None, Some(Manner::Hang), Some(Manner::Status(503))] {
        let receiver = manner.clone().map(|manner| Receiver::start(&[manner]));
        let url = receiver.as_ref().map_or("http://127.0.0.1:1".to_owned(), |receiver| receiver.url(""));
        // Batches go out often, so that there are many failures.
        let options = exporting()
            .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
            .variable("OTEL_BSP_SCHEDULE_DELAY", "100");
        let mut server = Server::start(options);
        let client = server.client();
        // The collector that hangs has one batch in its hands, the others have refused many.
        let batches = match &manner {
            Some(Manner::Hang) => 1,
            _ => 10,
        };
        let mut asked = 0;
        while asked < 100 || receiver.as_ref().is_some_and(|receiver| receiver.messages().len() < batches) {
            assert_eq!(client.get("/v2/pre-recorded").await.status, 200, "{manner:?}");
            asked += 1;
            assert!(asked < 5000, "{manner:?}: the collector hears nothing");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (_, ended_well) = server.terminate();
        assert!(ended_well, "{manner:?}");
        let log = server.log();
        let told = log.lines().filter(|line| line.contains("the collector of traces does not take spans"));
        assert_eq!(told.count(), 1, "{manner:?}\n{log}");
    }
}
