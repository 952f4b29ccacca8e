//! The sizes of a Whisper model and which of them are possible.

use super::error::Fault;

/// Positions of the encoder: 30 s in steps of 20 ms.
pub(super) const AUDIO_POSITIONS: u32 = 1500;
/// Positions of the decoder.
pub(super) const TEXT_POSITIONS: u32 = 448;
/// Bins of the 400-point FFT that the mel filters weigh.
pub(super) const FFT_BINS: u32 = 201;

/// Width of one attention head in every Whisper model.
const HEAD_WIDTH: u32 = 64;
/// Wider or deeper than any published Whisper model (1280 and 32).
const MAX_STATE: u32 = 2048;
const MAX_LAYERS: u32 = 64;

/// Sizes that decide which tensors a model has and their shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// Tokens, special ones included.
    pub vocabulary: u32,
    /// Width of encoder and decoder.
    pub state: u32,
    /// Attention heads of the encoder.
    pub audio_heads: u32,
    /// Blocks of the encoder.
    pub audio_layers: u32,
    /// Attention heads of the decoder.
    pub text_heads: u32,
    /// Blocks of the decoder.
    pub text_layers: u32,
    /// Mel bands of the spectrogram.
    pub mels: u32,
}

impl Architecture {
    /// Refuses sizes that whisper.cpp cannot run: it checks hardly any of them itself.
    pub(super) fn validate(&self) -> Result<(), Fault> {
        // Above 51866, whisper.cpp asks for the name of a language that it does not have.
        one_of("vocabulary size", self.vocabulary, &[51864, 51865, 51866])?;
        one_of("number of mel bands", self.mels, &[80, 128])?;
        within("state width", self.state, HEAD_WIDTH, MAX_STATE)?;
        within("number of encoder layers", self.audio_layers, 1, MAX_LAYERS)?;
        within("number of decoder layers", self.text_layers, 1, MAX_LAYERS)?;
        one_of("number of encoder heads", self.audio_heads, &[self.state / HEAD_WIDTH])?;
        one_of("number of decoder heads", self.text_heads, &[self.state / HEAD_WIDTH])?;
        if !self.state.is_multiple_of(HEAD_WIDTH) {
            let expected = format!("a multiple of {HEAD_WIDTH}");
            return Err(Fault::Size { field: "state width", found: self.state.into(), expected });
        }
        Ok(())
    }

    /// Whether the model knows more than English.
    pub fn is_multilingual(&self) -> bool {
        self.vocabulary >= 51865
    }

    /// How many languages the model can be asked for.
    pub fn languages(&self) -> u32 {
        if self.is_multilingual() { self.vocabulary - 51766 } else { 1 }
    }

    /// Id of `<|endoftext|>`; all ids below it are pieces of text.
    pub(super) fn end_of_text(&self) -> u32 {
        if self.is_multilingual() { 50257 } else { 50256 }
    }

    /// The published model with these sizes, for its known alignment heads.
    pub fn preset(&self) -> Option<Preset> {
        let multilingual = self.is_multilingual();
        let preset = match (self.audio_layers, self.text_layers, self.state, self.vocabulary) {
            (4, 4, 384, _) if multilingual => Preset::Tiny,
            (4, 4, 384, _) => Preset::TinyEn,
            (6, 6, 512, _) if multilingual => Preset::Base,
            (6, 6, 512, _) => Preset::BaseEn,
            (12, 12, 768, _) if multilingual => Preset::Small,
            (12, 12, 768, _) => Preset::SmallEn,
            (24, 24, 1024, _) if multilingual => Preset::Medium,
            (24, 24, 1024, _) => Preset::MediumEn,
            (32, 32, 1280, 51865) => Preset::LargeV2,
            (32, 32, 1280, 51866) => Preset::LargeV3,
            (32, 4, 1280, 51866) => Preset::LargeV3Turbo,
            _ => return None,
        };
        Some(preset)
    }
}

/// The published Whisper models, as far as their sizes tell them apart: the first large
/// model has those of the second and counts as it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    Tiny,
    TinyEn,
    Base,
    BaseEn,
    Small,
    SmallEn,
    Medium,
    MediumEn,
    LargeV2,
    LargeV3,
    LargeV3Turbo,
}

fn one_of(field: &'static str, found: u32, allowed: &[u32]) -> Result<(), Fault> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let expected = allowed.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ");
    Err(Fault::Size { field, found: found.into(), expected })
}

fn within(field: &'static str, found: u32, least: u32, most: u32) -> Result<(), Fault> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Fault::Size { field, found: found.into(), expected: format!("{least} to {most}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Architecture = Architecture {
        vocabulary: 51865,
        state: 512,
        audio_heads: 8,
        audio_layers: 6,
        text_heads: 8,
        text_layers: 6,
        mels: 80,
    };

    #[test]
    fn published_sizes_are_valid_and_named() {
        let turbo = Architecture {
            vocabulary: 51866,
            state: 1280,
            audio_heads: 20,
            audio_layers: 32,
            text_heads: 20,
            text_layers: 4,
            mels: 128,
        };
        for (architecture, preset, languages) in [
            (BASE, Preset::Base, 99),
            (Architecture { vocabulary: 51864, ..BASE }, Preset::BaseEn, 1),
            (turbo, Preset::LargeV3Turbo, 100),
        ] {
            assert!(architecture.validate().is_ok());
            assert_eq!(architecture.preset(), Some(preset));
            assert_eq!(architecture.languages(), languages);
        }
        assert_eq!(Architecture { text_layers: 2, ..BASE }.preset(), None);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for wrong in [
            Architecture { vocabulary: 51867, ..BASE },
            Architecture { vocabulary: 0, ..BASE },
            Architecture { mels: 81, ..BASE },
            Architecture { state: 0, audio_heads: 0, text_heads: 0, ..BASE },
            Architecture { state: 520, ..BASE },
            Architecture { state: 1 << 30, ..BASE },
            Architecture { audio_heads: 7, ..BASE },
            Architecture { text_heads: 0, ..BASE },
            Architecture { audio_layers: 0, ..BASE },
            Architecture { text_layers: u32::MAX, ..BASE },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
