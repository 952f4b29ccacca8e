//! What stands before the tensors: the sizes, the mel filters, the vocabulary.

use std::io::{Read, Seek};

use crate::modelfile::architecture::{AUDIO_POSITIONS, Architecture, FFT_BINS, TEXT_POSITIONS};
use crate::modelfile::bytes::{Input, f32_values};
use crate::modelfile::error::Fault;
use crate::modelfile::vocabulary::MAX_TOKEN_BYTES;
use crate::modelfile::weights::Weights;

/// First four bytes of the file, as a number.
pub(in crate::modelfile) const MAGIC: u32 = 0x6767_6d6c;

pub(super) fn read_header<R: Read + Seek>(input: &mut Input<R>) -> Result<(Architecture, Weights), Fault> {
    const HEADER: &str = "the header";
    if input.remaining_bytes() < 4 || input.u32(HEADER)? != MAGIC {
        return Err(Fault::NotGgml);
    }
    let mut next = |field: &'static str| {
        let found = input.i32(HEADER)?;
        u32::try_from(found).map_err(|_| Fault::Size {
            field,
            found: found.into(),
            expected: "a positive number".to_owned(),
        })
    };
    let vocabulary = next("vocabulary size")?;
    expect("number of encoder positions", next("number of encoder positions")?, AUDIO_POSITIONS)?;
    let state = next("state width")?;
    let audio_heads = next("number of encoder heads")?;
    let audio_layers = next("number of encoder layers")?;
    expect("number of decoder positions", next("number of decoder positions")?, TEXT_POSITIONS)?;
    expect("decoder's state width", next("decoder's state width")?, state)?;
    let text_heads = next("number of decoder heads")?;
    let text_layers = next("number of decoder layers")?;
    let mels = next("number of mel bands")?;
    let file_type = next("file type")?;
    let sizes = Architecture { vocabulary, state, audio_heads, audio_layers, text_heads, text_layers, mels };
    sizes.validate()?;
    let weights = Weights::ALL.into_iter().find(|weights| weights.file_type() == file_type);
    Ok((sizes, weights.ok_or_else(|| Fault::Weights { found: file_type_name(file_type) })?))
}

pub(super) fn check_filters<R: Read + Seek>(input: &mut Input<R>, sizes: &Architecture) -> Result<(), Fault> {
    const FILTERS: &str = "the mel filters";
    expect("number of mel filters", input.u32(FILTERS)?, sizes.mels)?;
    expect("length of a mel filter", input.u32(FILTERS)?, FFT_BINS)?;
    let values = f32_values(&input.take((sizes.mels * FFT_BINS * 4) as usize, FILTERS)?);
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Fault::NotFinite { place: FILTERS.to_owned() })
}

/// Files made by others also list the special tokens or some of them: whisper.cpp allows
/// it up to the vocabulary's size.
pub(super) fn check_vocabulary<R: Read + Seek>(
    input: &mut Input<R>,
    sizes: &Architecture,
) -> Result<(), Fault> {
    const VOCABULARY: &str = "the vocabulary";
    let count = input.u32(VOCABULARY)?;
    let allowed = sizes.end_of_text()..=sizes.vocabulary;
    if !allowed.contains(&count) {
        let problem = format!("{count} tokens instead of {} to {}", allowed.start(), allowed.end());
        return Err(Fault::Vocabulary { problem });
    }
    for id in 0..count {
        let size_bytes = input.u32(VOCABULARY)?;
        if size_bytes > MAX_TOKEN_BYTES {
            return Err(Fault::Vocabulary { problem: format!("token {id} has {size_bytes} bytes") });
        }
        input.skip(size_bytes.into(), VOCABULARY)?;
    }
    Ok(())
}

fn expect(field: &'static str, found: u32, expected: u32) -> Result<(), Fault> {
    if found == expected {
        return Ok(());
    }
    Err(Fault::Size { field, found: found.into(), expected: expected.to_string() })
}

/// Names of ggml's file types, which are numbered apart from the tensor types.
fn file_type_name(code: u32) -> String {
    let name = match code % 1000 {
        0 => "f32",
        1 => "f16",
        2 => "q4_0",
        3 => "q4_1",
        7 => "q8_0",
        8 => "q5_0",
        9 => "q5_1",
        _ => return format!("number {code}"),
    };
    match code / 1000 {
        0 | 2 => name.to_owned(),
        version => format!("{name} in block version {version}"),
    }
}
