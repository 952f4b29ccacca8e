//! One array of numbers in the file.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use crate::modelfile::bytes::f32_values;

/// How an array is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    F32,
    I8,
    I16,
    I32,
    F16,
    Bf16,
}

impl Kind {
    pub fn of_code(code: u8) -> Option<Self> {
        [Self::F32, Self::I8, Self::I16, Self::I32, Self::F16, Self::Bf16].get(usize::from(code)).copied()
    }

    pub fn size_bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let pairs = || bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        match self {
            Self::F32 => f32_values(bytes),
            Self::I8 => bytes.iter().map(|byte| f32::from(*byte as i8)).collect(),
            Self::I16 => pairs().map(|pair| f32::from(pair as i16)).collect(),
            Self::I32 => bytes.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word) as f32).collect(),
            Self::F16 => pairs().map(f16::from_bits).collect::<Vec<_>>().to_f32_vec(),
            Self::Bf16 => pairs().map(bf16::from_bits).collect::<Vec<_>>().to_f32_vec(),
        }
    }
}

/// Where an array lies and how to read it.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub dims: Vec<u32>,
    pub kind: Kind,
    pub offset: u64,
}

impl Variable {
    pub fn rows(&self) -> u32 {
        self.dims.first().copied().unwrap_or(1)
    }

    pub fn row_values(&self) -> u64 {
        self.dims.iter().skip(1).map(|dim| u64::from(*dim)).product()
    }
}
