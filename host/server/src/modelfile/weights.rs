//! The forms in which weights are stored: f16, q8_0, q5_1, and f32 for the small tensors.
//!
//! The quantised forms are ggml's: 32 values of a row share a scale. The arithmetic is
//! that of ggml's reference quantisers in every rounding, so that the same weights give
//! the same file.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::layout::Role;

/// Values that share one scale.
const BLOCK: usize = 32;

/// How the matrices of a model are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weights {
    /// 16-bit floating point.
    F16,
    /// 8 bits and a scale per 32 values.
    Q8_0,
    /// 5 bits, a scale and a minimum per 32 values.
    Q5_1,
}

impl Weights {
    /// All forms, most exact first.
    pub const ALL: [Self; 3] = [Self::F16, Self::Q8_0, Self::Q5_1];

    /// The name used on the command line and in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
            Self::Q5_1 => "q5_1",
        }
    }

    /// Reads [`Self::name`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|weights| weights.name() == name)
    }

    /// `ftype` of the header: ggml's number of the file type, plus 1000 times the version
    /// of the quantised blocks.
    pub(super) fn file_type(self) -> u32 {
        match self {
            Self::F16 => 1,
            Self::Q8_0 => 2007,
            Self::Q5_1 => 2009,
        }
    }

    /// How a tensor of this role is stored.
    pub(super) fn stored(self, role: Role) -> Stored {
        match (role, self) {
            (Role::Exact, _) => Stored::F32,
            (Role::Kernel, _) | (Role::Matrix, Self::F16) => Stored::F16,
            (Role::Matrix, Self::Q8_0) => Stored::Q8_0,
            (Role::Matrix, Self::Q5_1) => Stored::Q5_1,
        }
    }
}

/// How one tensor is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    F32,
    F16,
    Q8_0,
    Q5_1,
}

impl Stored {
    /// ggml's number of the type.
    pub fn code(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q5_1 => 7,
            Self::Q8_0 => 8,
        }
    }

    /// Name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
            Self::Q5_1 => "q5_1",
        }
    }

    /// Bytes that `values` values take; quantised rows are whole blocks.
    pub fn size_bytes(self, values: u64) -> u64 {
        match self {
            Self::F32 => values * 4,
            Self::F16 => values * 2,
            Self::Q8_0 => values / BLOCK as u64 * 34,
            Self::Q5_1 => values / BLOCK as u64 * 24,
        }
    }

    /// Appends `values` (whole rows) to `out`.
    pub fn encode(self, values: &[f32], out: &mut Vec<u8>) {
        match self {
            Self::F32 => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::F16 => encode_f16(values, out),
            Self::Q8_0 => values.as_chunks().0.iter().for_each(|block| encode_q8_0(block, out)),
            Self::Q5_1 => values.as_chunks().0.iter().for_each(|block| encode_q5_1(block, out)),
        }
    }
}

fn encode_f16(values: &[f32], out: &mut Vec<u8>) {
    let mut halves = vec![f16::ZERO; values.len()];
    halves.convert_from_f32_slice(values);
    out.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
}

/// Scale (f16), then 32 × i8; value = scale × integer.
fn encode_q8_0(block: &[f32; BLOCK], out: &mut Vec<u8>) {
    let largest = block.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let inverse = inverse_of(scale);
    out.extend(f16::from_f32(scale).to_le_bytes());
    out.extend(block.iter().map(|value| (value * inverse).round() as i8 as u8));
}

/// Scale and minimum (f16), the fifth bits (u32), then 16 bytes with the low four bits of
/// values `i` and `i + 16`; value = scale × integer + minimum.
fn encode_q5_1(block: &[f32; BLOCK], out: &mut Vec<u8>) {
    let least = block.iter().copied().fold(f32::MAX, f32::min);
    let most = block.iter().copied().fold(f32::MIN, f32::max);
    let scale = (most - least) / 31.0;
    let inverse = inverse_of(scale);
    let levels = block.map(|value| ((value - least) * inverse + 0.5) as u8);
    let high =
        levels.iter().enumerate().fold(0u32, |bits, (at, level)| bits | u32::from(level >> 4 & 1) << at);
    out.extend(f16::from_f32(scale).to_le_bytes());
    out.extend(f16::from_f32(least).to_le_bytes());
    out.extend(high.to_le_bytes());
    out.extend((0..BLOCK / 2).map(|at| levels[at] & 15 | levels[at + BLOCK / 2] << 4));
}

fn inverse_of(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_at(bytes: &[u8], at: usize) -> f32 {
        f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
    }

    fn wave() -> [f32; BLOCK] {
        std::array::from_fn(|at| (at as f32 * 0.7).sin() * 0.3 - 0.05)
    }

    #[test]
    fn q8_0_keeps_values_within_half_a_step() {
        let block = wave();
        let mut bytes = Vec::new();
        Stored::Q8_0.encode(&block, &mut bytes);
        assert_eq!(bytes.len() as u64, Stored::Q8_0.size_bytes(32));
        let scale = half_at(&bytes, 0);
        for (value, byte) in block.iter().zip(&bytes[2..]) {
            let back = f32::from(*byte as i8) * scale;
            assert!((value - back).abs() <= scale * 0.55, "{value} became {back}");
        }
    }

    #[test]
    fn q8_0_rounds_halves_away_from_zero() {
        let mut block = [0.0; BLOCK];
        block[..5].copy_from_slice(&[127.0, 0.5, -0.5, 1.5, -2.5]);
        let mut bytes = Vec::new();
        Stored::Q8_0.encode(&block, &mut bytes);
        assert_eq!(bytes[2..8].iter().map(|byte| *byte as i8).collect::<Vec<_>>(), [127, 1, -1, 2, -3, 0]);
    }

    #[test]
    fn q5_1_keeps_values_within_half_a_step() {
        let block = wave();
        let mut bytes = Vec::new();
        Stored::Q5_1.encode(&block, &mut bytes);
        assert_eq!(bytes.len() as u64, Stored::Q5_1.size_bytes(32));
        let (scale, least) = (half_at(&bytes, 0), half_at(&bytes, 2));
        let high = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        for (at, value) in block.iter().enumerate() {
            let packed = bytes[8 + at % 16];
            let low = if at < 16 { packed & 15 } else { packed >> 4 };
            let level = u32::from(low) | (high >> at & 1) << 4;
            let back = level as f32 * scale + least;
            assert!((value - back).abs() <= scale * 0.55, "{value} became {back}");
        }
    }

    #[test]
    fn blocks_of_equal_values_do_not_divide_by_zero() {
        for stored in [Stored::Q8_0, Stored::Q5_1] {
            let mut bytes = Vec::new();
            stored.encode(&[0.0; BLOCK], &mut bytes);
            assert!(bytes.iter().all(|byte| *byte == 0), "{}", stored.name());
        }
    }

    #[test]
    fn names_read_back() {
        for weights in Weights::ALL {
            assert_eq!(Weights::parse(weights.name()), Some(weights));
        }
        assert_eq!(Weights::parse("q4_0"), None);
    }
}
