//! The weights of the detector, built into the binary. `assets/make.py` writes the
//! file and describes its order.

use std::sync::OnceLock;

static FILE: &[u8] = include_bytes!("../assets/silero_vad.bin");

/// Frequencies of a 256-point spectrum.
pub const BINS: usize = 129;
/// Width of the LSTM.
pub const HIDDEN: usize = 128;

/// A matrix with its bias: `inputs` rows of `outputs` columns.
pub struct Layer {
    /// Row major.
    pub matrix: Vec<f32>,
    /// One a column.
    pub bias: Vec<f32>,
}

/// All layers in the order of use.
pub struct Weights {
    /// 3 spectra to 128 values.
    pub conv1: Layer,
    /// 3 x 128 values to 64.
    pub conv2: Layer,
    /// 2 x 64 values to 64.
    pub conv3: Layer,
    /// 64 values to 128.
    pub conv4: Layer,
    /// Input and hidden state to the four gates.
    pub lstm: Layer,
    /// Hidden state to the log-odds of speech.
    pub last: Layer,
}

impl Weights {
    /// The weights in memory, unpacked once a process.
    pub fn get() -> &'static Self {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(Self::unpack)
    }

    fn unpack() -> Self {
        let mut rest = FILE;
        let mut layer = |inputs: usize, outputs: usize| Layer {
            matrix: take(&mut rest, inputs * outputs),
            bias: take(&mut rest, outputs),
        };
        let weights = Self {
            conv1: layer(3 * BINS, 128),
            conv2: layer(3 * 128, 64),
            conv3: layer(2 * 64, 64),
            conv4: layer(64, 128),
            lstm: layer(2 * HIDDEN, 4 * HIDDEN),
            last: layer(HIDDEN, 1),
        };
        assert!(rest.is_empty(), "the weight file has the size of its layers");
        weights
    }
}

fn take(rest: &mut &[u8], count: usize) -> Vec<f32> {
    let (head, tail) = rest.split_at(count * 4);
    *rest = tail;
    let (values, _) = head.as_chunks::<4>();
    values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
