//! Which attention heads of the decoder follow the sound; word times are read from them.
#![allow(unsafe_code)]

use std::ffi::c_int;

use whisper_rs::whisper_rs_sys as sys;

use crate::modelfile::{ModelInfo, Preset};

/// As many as the published model with the most; the room for an alignment is fixed.
const MOST_HEADS: usize = 23;

/// The choice for one model.
pub struct Alignment {
    preset: sys::whisper_alignment_heads_preset,
    /// Used where neither the model's own config nor its size tells the heads.
    top_layers: c_int,
    heads: Box<[sys::whisper_ahead]>,
}

// SAFETY: plain numbers that nobody changes.
unsafe impl Send for Alignment {}
// SAFETY: as above.
unsafe impl Sync for Alignment {}

impl Alignment {
    /// The heads that the model's own config names, else those of the published model of
    /// its size, else all of the upper layers.
    pub fn of(model: &ModelInfo) -> Self {
        let own = &model.alignment_heads;
        let is_own = (1..=MOST_HEADS).contains(&own.len());
        let preset = match model.preset {
            _ if is_own => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_CUSTOM,
            Some(preset) => published(preset),
            None => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_N_TOP_MOST,
        };
        let heads = own
            .iter()
            .filter(|_| is_own)
            .map(|&(layer, head)| sys::whisper_ahead { n_text_layer: layer as c_int, n_head: head as c_int });
        let sizes = &model.architecture;
        let affordable = (MOST_HEADS as u32 / sizes.text_heads).max(1);
        let top_layers = affordable.min(sizes.text_layers.div_ceil(2)) as c_int;
        Self { preset, top_layers, heads: heads.collect() }
    }

    /// Puts the choice into the settings of a context, which must not outlive `self`:
    /// whisper.cpp reads the list whenever a state is made.
    pub fn apply(&self, settings: &mut sys::whisper_context_params) {
        settings.dtw_token_timestamps = true;
        settings.dtw_aheads_preset = self.preset;
        settings.dtw_n_top = self.top_layers;
        settings.dtw_aheads = sys::whisper_aheads { n_heads: self.heads.len(), heads: self.heads.as_ptr() };
    }
}

fn published(preset: Preset) -> sys::whisper_alignment_heads_preset {
    match preset {
        Preset::Tiny => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_TINY,
        Preset::TinyEn => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_TINY_EN,
        Preset::Base => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE,
        Preset::BaseEn => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE_EN,
        Preset::Small => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_SMALL,
        Preset::SmallEn => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_SMALL_EN,
        Preset::Medium => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_MEDIUM,
        Preset::MediumEn => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_MEDIUM_EN,
        Preset::LargeV2 => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V2,
        Preset::LargeV3 => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V3,
        Preset::LargeV3Turbo => sys::whisper_alignment_heads_preset_WHISPER_AHEADS_LARGE_V3_TURBO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modelfile::{Architecture, Weights};

    fn model(text_layers: u32, alignment_heads: Vec<(u32, u32)>) -> ModelInfo {
        let architecture = Architecture {
            vocabulary: 51865,
            state: 512,
            audio_heads: 8,
            audio_layers: 6,
            text_heads: 8,
            text_layers,
            mels: 80,
        };
        let preset = architecture.preset();
        ModelInfo { architecture, weights: Weights::Q8_0, size_bytes: 1, preset, alignment_heads }
    }

    #[test]
    fn own_heads_go_before_those_of_the_size() {
        let own = Alignment::of(&model(6, vec![(3, 1), (5, 7)]));
        assert_eq!(own.preset, sys::whisper_alignment_heads_preset_WHISPER_AHEADS_CUSTOM);
        assert_eq!((own.heads.len(), own.heads[1].n_text_layer, own.heads[1].n_head), (2, 5, 7));
        let by_size = Alignment::of(&model(6, Vec::new()));
        assert_eq!(by_size.preset, sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE);
    }

    #[test]
    fn never_more_heads_than_there_is_room_for() {
        let many = Alignment::of(&model(6, vec![(0, 0); MOST_HEADS + 1]));
        assert_eq!(many.preset, sys::whisper_alignment_heads_preset_WHISPER_AHEADS_BASE);
        assert!(many.heads.is_empty());
        let unknown = Alignment::of(&model(12, Vec::new()));
        assert_eq!(unknown.preset, sys::whisper_alignment_heads_preset_WHISPER_AHEADS_N_TOP_MOST);
        assert_eq!(unknown.top_layers, 2, "two layers of eight heads");
        assert_eq!(Alignment::of(&model(2, Vec::new())).top_layers, 1);
    }
}
