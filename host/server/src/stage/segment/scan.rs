//! One pass of the voice activity detector over a channel.

use std::sync::atomic::{AtomicBool, Ordering};

use super::SegmentError;
use crate::engine::Pcm;
use tympan_vad::{Vad, WINDOW};

/// Steps read at once: 16 s.
const STEPS_A_BLOCK: usize = 500;

/// What is known of 32 ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Of speech, 0.0 to 1.0.
    pub probability: f32,
    /// Mean square of the samples.
    pub power: f32,
}

/// All steps of a channel. `report` gets the number of samples done.
pub fn scan(pcm: &dyn Pcm, cancel: &AtomicBool, report: &dyn Fn(u64)) -> Result<Vec<Step>, SegmentError> {
    let frames = pcm.frames();
    let mut vad = Vad::new();
    let mut steps = Vec::with_capacity(usize::try_from(frames).unwrap_or_default() / WINDOW + 1);
    let mut block = vec![0.0; STEPS_A_BLOCK * WINDOW];
    let mut start = 0;
    while start < frames {
        if cancel.load(Ordering::Relaxed) {
            return Err(SegmentError::Cancelled);
        }
        let length = usize::try_from(frames - start).unwrap_or(usize::MAX).min(block.len());
        pcm.read(start, &mut block[..length])?;
        // The last step is filled up with silence.
        let padded = length.next_multiple_of(WINDOW);
        block[length..padded].fill(0.0);
        let (windows, _) = block[..padded].as_chunks::<WINDOW>();
        for window in windows {
            let power = window.iter().map(|sample| sample * sample).sum::<f32>() / WINDOW as f32;
            steps.push(Step { probability: vad.push(window), power });
        }
        start += length as u64;
        report(start);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_last_step_counts() {
        let cancel = AtomicBool::new(false);
        let silence = vec![0.0; STEPS_A_BLOCK * WINDOW + 1];
        let steps = scan(&silence, &cancel, &|_| {}).expect("memory can be read");
        assert_eq!(steps.len(), STEPS_A_BLOCK + 1);
        assert!(steps.iter().all(|step| step.probability < 0.3));
    }

    #[test]
    fn cancelling_stops_it() {
        let cancel = AtomicBool::new(true);
        assert!(matches!(scan(&vec![0.0; 600], &cancel, &|_| {}), Err(SegmentError::Cancelled)));
    }
}
