use super::*;
use crate::data::job::VariantOutput;

fn word(text: &str, start: f64, end: f64) -> Word {
    Word { text: text.to_owned(), start, end, confidence: 0.9 }
}

fn utterance(id: u32, start: f64, words: Vec<Word>) -> Utterance {
    let text = words.iter().map(|word| word.text.as_str()).collect();
    let end = words.last().map_or(start, |word| word.end);
    Utterance {
        id,
        start,
        end,
        confidence: 0.9,
        channel: 0,
        speaker: None,
        language: Some("en".to_owned()),
        text,
        words,
        extra: None,
    }
}

fn sample() -> Transcript {
    let first = utterance(1, 0.5, vec![word("hello", 0.5, 1.0), word(" there", 1.0, 1.5)]);
    let second = utterance(2, 3.0, vec![word("yes", 3.0, 3.2)]);
    Transcript { utterances: vec![first, second], languages: vec!["en".to_owned()], extra: None }
}

/// Checks an output whose transcript is the sample after `change`.
fn changed(change: impl FnOnce(&mut Transcript)) -> Result<Transcript, AddonError> {
    let mut transcript = sample();
    change(&mut transcript);
    let output = AddonOutput { transcript: Some(transcript), ..AddonOutput::default() };
    checked(output).map(|output| output.transcript.unwrap())
}

fn checked(output: AddonOutput) -> Result<AddonOutput, AddonError> {
    let input = sample();
    let audio = AudioInfo { duration: 5.0, sample_rate: 16_000, channels: 1, frames: 80_000 };
    let limits = Limits { result_bytes: 20, ..Limits::default() };
    check(output, &Expectation { input: &input, audio: &audio, limits: &limits, shows_text: true })
}

#[track_caller]
fn refuses(part: &str, change: impl FnOnce(&mut Transcript)) {
    let error = changed(change).unwrap_err();
    assert_eq!(error.exception, "InvalidOutput");
    assert!(error.message.contains(part), "{}", error.message);
}

#[test]
fn the_input_itself_passes_unchanged() {
    assert_eq!(changed(|_| {}).unwrap(), sample());
}

#[test]
fn times_must_be_finite_ordered_and_inside() {
    refuses("not a number", |t| t.utterances[0].start = f64::NAN);
    refuses("not a number", |t| t.utterances[0].words[0].end = f64::INFINITY);
    refuses("ends before it starts", |t| t.utterances[1].end = 2.0);
    refuses("ends before it starts", |t| t.utterances[0].words[0].start = 1.2);
    refuses("outside the recording", |t| t.utterances[1].end = 5.1);
    refuses("outside the recording", |t| t.utterances[0].start = -0.1);
    refuses("a word lies outside", |t| t.utterances[0].words[1].end = 1.6);
    refuses("not in order of time", |t| {
        let words = vec![word("there", 1.0, 1.5), word(" hello", 0.5, 1.0)];
        t.utterances[0] = Utterance { end: 1.5, ..utterance(1, 0.5, words) };
    });
}

#[test]
fn text_must_equal_its_words() {
    refuses("differs from its words", |t| t.utterances[0].text = "hello  there".to_owned());
    refuses("differs from its words", |t| t.utterances[0].text = "hello there!".to_owned());
    refuses("starts with a space", |t| t.utterances[0] = utterance(1, 0.5, vec![word(" hello", 0.5, 1.0)]));
    refuses("without text", |t| t.utterances[1].words[0].text = String::new());
    refuses("no words", |t| t.utterances[0].words.clear());
}

#[test]
fn channel_confidence_language_and_extra_are_checked() {
    refuses("no channel 1", |t| t.utterances[0].channel = 1);
    refuses("confidence", |t| t.utterances[0].confidence = 1.01);
    refuses("confidence", |t| t.utterances[0].words[0].confidence = f64::NAN);
    refuses("language", |t| t.utterances[0].language = Some("what was said".to_owned()));
    refuses("languages", |t| t.languages.push(String::new()));
    refuses("languages", |t| t.languages = vec!["en".to_owned(); OUTPUT_LANGUAGES + 1]);
    refuses("extra", |t| t.extra = Some("[]".to_owned()));
}

#[test]
fn ids_must_not_repeat_and_new_ones_are_numbered() {
    refuses("id 1 repeats", |t| t.utterances[1].id = 1);
    let numbered = changed(|t| {
        t.utterances[1].id = 0;
        t.utterances.insert(0, utterance(0, 4.0, vec![word("no", 4.0, 4.5)]));
    })
    .unwrap();
    let ids: Vec<u32> = numbered.utterances.iter().map(|utterance| utterance.id).collect();
    assert_eq!(ids, [1, 4, 3], "numbered past the input, sorted by time");
}

#[test]
fn a_transcript_may_neither_vanish_nor_explode() {
    refuses("is gone", |t| t.utterances.clear());
    let many = |count: usize| (0..count).map(|_| utterance(0, 1.0, vec![word("a", 1.0, 1.0)])).collect();
    assert!(changed(|t| t.utterances = many(1012)).is_ok());
    refuses("1013 words", |t| t.utterances = many(1013));
}

#[test]
fn the_result_must_be_json_within_its_limit() {
    let with =
        |result: &str| checked(AddonOutput { result: Some(result.to_owned()), ..AddonOutput::default() });
    assert!(with("[1, 2]").is_ok());
    assert_eq!(with("[1, 2").unwrap_err().exception, "InvalidOutput");
    assert_eq!(with("\"aaaaaaaaaaaaaaaaaaa\"").unwrap_err().exception, "OutputTooLarge");
}

#[test]
fn a_variant_fails_alone() {
    let variant = |id: &str, outcome| VariantOutput { id: id.to_owned(), language: "fr".to_owned(), outcome };
    let mut broken = sample();
    broken.utterances[0].channel = 9;
    let failed = AddonError { status_code: 503, exception: "NoModel".to_owned(), message: "no".to_owned() };
    let variants = vec![variant("a", Ok(sample())), variant("b", Ok(broken)), variant("c", Err(failed))];
    let output = checked(AddonOutput { variants: variants.clone(), ..AddonOutput::default() }).unwrap();
    let exceptions: Vec<_> = output
        .variants
        .iter()
        .map(|variant| variant.outcome.as_ref().err().map(|error| error.exception.as_str()))
        .collect();
    assert_eq!(exceptions, [None, Some("InvalidOutput"), Some("NoModel")]);

    let twice = vec![variants[0].clone(), variants[0].clone()];
    assert!(checked(AddonOutput { variants: twice, ..AddonOutput::default() }).is_err());
}
