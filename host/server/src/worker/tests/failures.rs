//! Whose fault a failure is decides what becomes of the job.

use serde_json::json;

use super::script::{House, NOON_MS, Script, Trouble, error_of, wait_for, wait_for_count};
use crate::model::code::Code;
use crate::model::event::Event;
use crate::model::job::Status;
use crate::worker::Clock;

#[tokio::test]
async fn bad_input_fails_at_once_at_every_step_and_is_told() {
    for place in ["fetch", "decode", "segment", "transcribe/1", "add-ons"] {
        let house = House::open().await;
        let id = house.add_job().await;
        let script = Script::with(place, &[Trouble::Fail(Code::AudioUndecodable)]);
        let worker = house.start(&script);
        let job = house.wait_final(id).await;
        let step = place.split('/').next().expect("a step");
        let error = json!({
            "name": "audio_undecodable",
            "message": "scripted",
            "step": step,
        });
        assert_eq!((job.status, error_of(&job)), (Status::Error, (Some(422), error)));
        assert_eq!((job.completed_ms, job.result_key), (Some(NOON_MS), None));
        assert_eq!(job.post_session_metadata["attempts"], json!(1));
        let deliveries = house.store.deliveries_of(id).await.expect("reads");
        let told: Vec<_> = deliveries.iter().map(|d| (d.event, d.url.as_str())).collect();
        assert_eq!(told, [(Event::TranscriptionError, "http://example.com/hook")]);
        wait_for("clean folders", async || house.leftovers().is_empty().then_some(())).await;
        worker.stop().await;
    }
}

#[tokio::test]
async fn success_is_told_once() {
    let house = House::open().await;
    let worker = house.start(&Script::default());
    let id = house.add_job().await;
    house.result(id).await;
    let deliveries = house.store.deliveries_of(id).await.expect("reads");
    let told: Vec<_> = deliveries.iter().map(|delivery| delivery.event).collect();
    assert_eq!(told, [Event::TranscriptionSuccess]);
    worker.stop().await;
}

#[tokio::test]
async fn the_outside_gets_another_chance_until_two_hours_have_passed() {
    let house = House::open().await;
    let id = house.add_job().await;
    let script = Script::with("fetch", &[Trouble::Fail(Code::AudioHostDown); 1_000]);
    let worker = house.start(&script);
    let mut tries = 0;
    let job = loop {
        tries += 1;
        wait_for_count(&script, "fetch", tries).await;
        // The clock stands while somebody works on the job.
        let (job, next_try_ms) = wait_for("the end of a try", async || {
            let (next_try_ms, job) = (house.next_try_ms().await, house.job(id).await);
            (next_try_ms.is_some() || job.completed_ms.is_some()).then_some((job, next_try_ms))
        })
        .await;
        let Some(next_try_ms) = next_try_ms else { break job };
        assert_eq!(job.status, Status::Processing, "never back");
        house.clock.advance(next_try_ms - house.clock.now_ms());
    };
    assert_eq!(job.error_code, Some(502));
    let completed_ms = job.completed_ms.expect("final");
    let lasted_s = (completed_ms - NOON_MS) / 1_000;
    assert!((6_900..=7_200).contains(&lasted_s), "gave up after {lasted_s} s");
    assert!((20..=80).contains(&tries), "{tries} tries");
    worker.stop().await;
}

#[tokio::test]
async fn a_passing_trouble_costs_one_attempt_and_no_finished_step() {
    for trouble in [
        Trouble::Fail(Code::AudioHostSlow),
        Trouble::Fail(Code::InferenceFailed),
        Trouble::DiskFull,
        Trouble::Panic,
    ] {
        let house = House::open().await;
        let id = house.add_job().await;
        let script = Script::with("transcribe/1", &[trouble]);
        let worker = house.start(&script);
        wait_for("the trouble", async || script.log().contains(&"transcribe/1".to_owned()).then_some(()))
            .await;
        wait_for("the retry", async || {
            house.clock.advance(100);
            (house.job(id).await.status == Status::Done).then_some(())
        })
        .await;
        let expected = [
            "fetch",
            "decode",
            "segment",
            "transcribe/0",
            "transcribe/1",
            "transcribe/1",
            "transcribe/2",
            "transcribe/3",
            "add-ons",
        ];
        assert_eq!(script.log(), expected, "{trouble:?}");
        assert_eq!(house.job(id).await.post_session_metadata["attempts"], json!(2));
        worker.stop().await;
    }
}

#[tokio::test]
async fn our_own_fault_is_retried_once() {
    for trouble in [Trouble::Fail(Code::InferenceFailed), Trouble::Panic] {
        let house = House::open().await;
        let id = house.add_job().await;
        let script = Script::with("segment", &[trouble; 5]);
        let worker = house.start(&script);
        wait_for_count(&script, "segment", 1).await;
        let next_try_ms = wait_for("the end of a try", async || house.next_try_ms().await).await;
        house.clock.advance(next_try_ms - house.clock.now_ms());
        house.wait_final(id).await;
        assert_eq!(house.job(id).await.error_code, Some(500));
        assert_eq!(script.log().iter().filter(|place| *place == "segment").count(), 2);
        worker.stop().await;
    }
}
