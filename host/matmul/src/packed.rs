//! ggml's blocks of 8-bit numbers (Q8_0), and the order in which the kernels of `quantised` read them.

use half::f16;

/// `block_q8_0` of ggml: 32 numbers, each times the scale.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Block {
    pub scale: f16,
    pub numbers: [i8; 32],
}

/// Blocks of several rows: four numbers of each row side by side, eight times.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Step<const ROWS: usize> {
    pub numbers: [[[u8; 4]; ROWS]; 8],
    pub scales: [f32; ROWS],
}

impl<const ROWS: usize> Default for Step<ROWS> {
    fn default() -> Self {
        Self { numbers: [[[0; 4]; ROWS]; 8], scales: [0.0; ROWS] }
    }
}

/// A block of one column.
#[derive(Clone, Copy, Default)]
pub struct Factor {
    /// Four numbers each.
    pub numbers: [i32; 8],
    pub scale: f32,
    /// What the shift of the rows' numbers adds to a sum, to be taken away.
    pub excess: i32,
}

/// Added to a row's numbers where an instruction wants them without a sign.
pub const SHIFT: u8 = 128;

pub fn pack_row<const ROWS: usize>(row: &[Block], lane: usize, panel: &mut [Step<ROWS>], shift: u8) {
    for (block, step) in row.iter().zip(panel) {
        step.scales[lane] = block.scale.to_f32();
        let (fours, _) = block.numbers.as_chunks::<4>();
        for (four, numbers) in fours.iter().zip(&mut step.numbers) {
            numbers[lane] = four.map(|number| number.cast_unsigned().wrapping_add(shift));
        }
    }
}

pub fn pack_column<const COLUMNS: usize>(column: &[Block], lane: usize, tile: &mut [[Factor; COLUMNS]]) {
    for (block, factors) in column.iter().zip(tile) {
        let (fours, _) = block.numbers.as_chunks::<4>();
        let factor = &mut factors[lane];
        for (number, four) in factor.numbers.iter_mut().zip(fours) {
            *number = i32::from_ne_bytes(four.map(i8::cast_unsigned));
        }
        factor.scale = block.scale.to_f32();
        factor.excess = i32::from(SHIFT) * block.numbers.iter().map(|number| i32::from(*number)).sum::<i32>();
    }
}
