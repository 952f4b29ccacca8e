//! The mel filters of the header, computed: CTranslate2 models do not carry them.
//!
//! Slaney's mel scale with filters of equal area, as in librosa's `filters.mel` with its
//! defaults, which is where Whisper's own table comes from.

use super::architecture::FFT_BINS;

/// Sample rate over FFT length: distance of two bins.
const BIN_HZ: f64 = 16_000.0 / 400.0;
const HIGHEST_HZ: f64 = 8_000.0;
/// The scale is linear below this frequency, logarithmic above.
const LINEAR_UP_TO_HZ: f64 = 1_000.0;
const HZ_PER_MEL: f64 = 200.0 / 3.0;
const LINEAR_UP_TO_MEL: f64 = LINEAR_UP_TO_HZ / HZ_PER_MEL;

/// `bands` rows of [`FFT_BINS`] weights each.
pub(super) fn filters(bands: u32) -> Vec<f32> {
    let top = mel_of_hz(HIGHEST_HZ);
    let edges =
        (0..bands + 2).map(|at| hz_of_mel(top * f64::from(at) / f64::from(bands + 1))).collect::<Vec<_>>();
    edges.windows(3).flat_map(triangle).collect()
}

/// One filter: rises between the first two edges, falls between the last two.
fn triangle(edges: &[f64]) -> impl Iterator<Item = f32> {
    let (low, middle, high) = (edges[0], edges[1], edges[2]);
    (0..FFT_BINS).map(move |bin| {
        let hz = f64::from(bin) * BIN_HZ;
        let rising = (hz - low) / (middle - low);
        let falling = (high - hz) / (high - middle);
        (rising.min(falling).max(0.0) * (2.0 / (high - low))) as f32
    })
}

fn log_step() -> f64 {
    6.4_f64.ln() / 27.0
}

fn mel_of_hz(hz: f64) -> f64 {
    if hz < LINEAR_UP_TO_HZ {
        return hz / HZ_PER_MEL;
    }
    LINEAR_UP_TO_MEL + (hz / LINEAR_UP_TO_HZ).ln() / log_step()
}

fn hz_of_mel(mel: f64) -> f64 {
    if mel < LINEAR_UP_TO_MEL {
        return mel * HZ_PER_MEL;
    }
    LINEAR_UP_TO_HZ * (log_step() * (mel - LINEAR_UP_TO_MEL)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Band, bin and weight, from the formulas with a program of its own.
    type Weight = (usize, usize, f64);

    const OF_80: [Weight; 6] = [
        (0, 1, 0.024_862_593_984_176_09),
        (1, 1, 0.001_990_821_888_098_070_6),
        (1, 2, 0.022_871_772_096_078_023),
        (40, 43, 0.014_735_565_741_439_144),
        (79, 192, 0.003_164_711_739_176_483_6),
        (79, 199, 0.000_448_759_027_589_047_76),
    ];
    const OF_128: [Weight; 6] = [
        (0, 1, 0.012_373_986_332_636_965),
        (1, 1, 0.030_392_564_871_355_22),
        (1, 2, 0.0),
        (64, 43, 0.018_091_517_621_076_098),
        (127, 195, 0.005_041_601_675_024_642),
        (127, 199, 0.001_114_280_198_753_211),
    ];

    #[test]
    fn weights_are_those_of_the_formulas() {
        for (bands, known) in [(80, OF_80), (128, OF_128)] {
            let filters = filters(bands);
            assert_eq!(filters.len() as u32, bands * FFT_BINS);
            for (band, bin, expected) in known {
                let weight = f64::from(filters[band * FFT_BINS as usize + bin]);
                assert!((weight - expected).abs() < 1e-8, "band {band} of {bands}, bin {bin}: {weight}");
            }
        }
    }

    #[test]
    fn scale_reads_back() {
        for hz in [0.0, 440.0, 999.9, 1000.0, 4321.0, 8000.0] {
            assert!((hz_of_mel(mel_of_hz(hz)) - hz).abs() < 1e-9);
        }
    }
}
