//! A killed process loses nothing but the step it was in.

use super::script::{House, Script, Trouble, wait_for, wait_for_place};

const PLACES: [&str; 8] =
    ["fetch", "decode", "segment", "transcribe/0", "transcribe/1", "transcribe/2", "transcribe/3", "add-ons"];

fn lease_ms(house: &House) -> i64 {
    house.settings.lease_time.as_millis() as i64 + 1
}

#[tokio::test]
async fn a_kill_at_any_step_resumes_there_and_ends_with_equal_bytes() {
    let house = House::open().await;
    let script = Script::default();
    let worker = house.start(&script);
    let undisturbed = house.result(house.add_job().await).await;
    assert_eq!(script.log(), PLACES);
    worker.stop().await;

    for (number, place) in PLACES.iter().enumerate() {
        let id = house.add_job().await;
        let before = Script::with(place, &[Trouble::Hang]);
        let worker = house.start(&before);
        wait_for_place(&before, place).await;
        worker.kill().await;
        house.clock.advance(lease_ms(&house));
        let after = Script::default();
        let worker = house.start(&after);
        assert_eq!(house.result(id).await, undisturbed, "killed at {place}");
        assert_eq!(after.log(), PLACES[number..], "killed at {place}");
        worker.stop().await;
    }
    wait_for("clean folders", async || house.leftovers().is_empty().then_some(())).await;
}

#[tokio::test]
async fn a_step_is_redone_when_what_made_it_has_changed_or_is_gone() {
    let house = House::open().await;
    let id = house.add_job().await;
    let before = Script::with("add-ons", &[Trouble::Hang]);
    let worker = house.start(&before);
    wait_for_place(&before, "add-ons").await;
    worker.kill().await;
    house.clock.advance(lease_ms(&house));
    // Another model: what it heard is worth nothing. The samples are gone as well.
    std::fs::remove_dir_all(house.settings.scratch_dir.join(id.to_string())).expect("removes");
    let after = Script { model: "another", ..Script::default() };
    let worker = house.start(&after);
    house.result(id).await;
    let expected = ["decode", "transcribe/0", "transcribe/1", "transcribe/2", "transcribe/3", "add-ons"];
    assert_eq!(after.log(), expected);
    worker.stop().await;
}

#[tokio::test]
async fn what_clients_see_never_goes_back_when_a_job_resumes() {
    let house = House::open().await;
    let id = house.add_job().await;
    let shown = async || house.job(id).await.post_session_metadata;
    let before = Script::with("transcribe/2", &[Trouble::Hang]);
    let worker = house.start(&before);
    wait_for("half of the segments", async || (shown().await.get("progress")? == 0.5).then_some(())).await;
    worker.kill().await;
    house.clock.advance(lease_ms(&house));
    let after = Script::with("transcribe/2", &[Trouble::Hang]);
    let worker = house.start(&after);
    wait_for_place(&after, "transcribe/2").await;
    let due = async || house.ask("SELECT due_ms FROM jobs").await;
    let claimed_until = due().await;
    house.clock.advance(1);
    wait_for("a sign of life", async || (due().await > claimed_until).then_some(())).await;
    assert_eq!((&shown().await["step"], &shown().await["progress"]), (&"transcribe".into(), &0.5.into()));
    worker.kill().await;
}

#[tokio::test]
async fn a_damaged_checkpoint_is_redone() {
    let house = House::open().await;
    let id = house.add_job().await;
    let before = Script::with("add-ons", &[Trouble::Hang]);
    let worker = house.start(&before);
    wait_for_place(&before, "add-ons").await;
    worker.kill().await;
    let files = house.leftovers();
    let checkpoints: Vec<_> = files.iter().filter(|file| file.contains("checkpoint")).collect();
    assert_eq!(checkpoints.len(), 8, "four steps and four segments");
    for (number, file) in checkpoints.into_iter().enumerate() {
        match number % 2 {
            0 => std::fs::remove_file(file).expect("removes"),
            _ => std::fs::write(file, b"{").expect("writes"),
        }
    }
    house.clock.advance(lease_ms(&house));
    let after = Script::default();
    let worker = house.start(&after);
    house.result(id).await;
    assert_eq!(after.log(), PLACES);
    worker.stop().await;
}

#[tokio::test]
async fn the_third_sudden_end_is_final() {
    let house = House::open().await;
    let id = house.add_job().await;
    let script = Script::with("segment", &[Trouble::Hang; 4]);
    for kills in 1..=3 {
        let worker = house.start(&script);
        wait_for("the kill", async || {
            let reached = script.log().iter().filter(|place| *place == "segment").count();
            (reached == kills).then_some(())
        })
        .await;
        worker.kill().await;
        house.clock.advance(lease_ms(&house));
    }
    let worker = house.start(&script);
    let job = house.wait_final(id).await;
    let (code, error) = super::script::error_of(&job);
    assert_eq!((code, error["message"].as_str()), (Some(500), Some("processing stopped unexpectedly")));
    assert_eq!(script.log().iter().filter(|place| *place == "segment").count(), 3, "not tried again");
    worker.stop().await;
    wait_for("clean folders", async || house.leftovers().is_empty().then_some(())).await;
}
