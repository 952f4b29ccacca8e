//! The numbers at the head of a ggml file, as far as word times need them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use whisper_rs::whisper_rs_sys as sys;

/// Which Whisper a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    vocabulary: i32,
    audio_layers: i32,
    pub text_layers: i32,
}

impl Header {
    pub fn read(file: &Path) -> Result<Self, String> {
        let mut bytes = [0; 44];
        File::open(file)
            .and_then(|mut file| file.read_exact(&mut bytes))
            .map_err(|error| error.to_string())?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let [magic, vocabulary, _, _, _, audio_layers, _, _, _, text_layers, _] =
            std::array::from_fn(|i| i32::from_le_bytes(numbers[i]));
        if magic != 0x6767_6d6c {
            return Err("not a ggml model".to_owned());
        }
        Ok(Self { vocabulary, audio_layers, text_layers })
    }

    /// The attention heads that follow the sound, by the published models' sizes. Models
    /// of other sizes use all heads of their upper half.
    pub fn alignment_preset(self) -> sys::whisper_alignment_heads_preset {
        let english = self.vocabulary == 51_864;
        match (self.audio_layers, self.text_layers, english) {
            (4, 4, true) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_TINY_EN,
            (4, 4, false) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_TINY,
            (6, 6, true) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE_EN,
            (6, 6, false) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE,
            (12, 12, true) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_SMALL_EN,
            (12, 12, false) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_SMALL,
            (24, 24, true) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_MEDIUM_EN,
            (24, 24, false) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_MEDIUM,
            (32, 32, _) if self.vocabulary == 51_866 => {
                sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V3
            }
            (32, 32, _) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V2,
            (32, 4, _) => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V3_TURBO,
            _ => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_N_TOP_MOST,
        }
    }
}
