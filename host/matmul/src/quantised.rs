//! Weights of 8 bits times activations of 8 bits, both in ggml's blocks of 32 with one scale (Q8_0).
//!
//! A lane of a vector belongs to a row: the products of a block are summed without crossing lanes,
//! and the scales of all rows are applied at once.

use std::arch::x86_64::{
    __m256, __m256i, __m512, __m512i, _mm256_abs_epi8, _mm256_add_epi32, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8,
    _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mul_ps,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
};
use std::mem::transmute;

use crate::packed::{Block, Factor, SHIFT, Step, pack_column, pack_row};
use crate::product::Kernel;

/// With the instructions of AVX2.
pub struct Avx2;
/// With those of AVX-512 VNNI.
pub struct Vnni;

#[target_feature(enable = "avx2,fma")]
fn multiply_avx2<const COLUMNS: usize>(panel: &[Step<8>], tile: &[[Factor; COLUMNS]]) -> [[f32; 8]; COLUMNS] {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_ps(); COLUMNS];
    for (step, factors) in panel.iter().zip(tile) {
        let mut whole = [_mm256_setzero_si256(); COLUMNS];
        for (index, numbers) in step.numbers.iter().enumerate() {
            // SAFETY: 32 bytes either way.
            let rows = unsafe { transmute::<[[u8; 4]; 8], __m256i>(*numbers) };
            let sizes = _mm256_abs_epi8(rows);
            for (whole, factor) in whole.iter_mut().zip(factors) {
                // The rows' signs go to the column: the instruction multiplies unsigned by signed.
                let signed = _mm256_sign_epi8(_mm256_set1_epi32(factor.numbers[index]), rows);
                let pairs = _mm256_maddubs_epi16(sizes, signed);
                *whole = _mm256_add_epi32(*whole, _mm256_madd_epi16(pairs, ones));
            }
        }
        // SAFETY: eight floats.
        let scales = unsafe { _mm256_loadu_ps(step.scales.as_ptr()) };
        for ((sum, whole), factor) in sums.iter_mut().zip(whole).zip(factors) {
            let scales = _mm256_mul_ps(scales, _mm256_set1_ps(factor.scale));
            *sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole), scales, *sum);
        }
    }
    // SAFETY: eight floats either way.
    sums.map(|sum| unsafe { transmute::<__m256, [f32; 8]>(sum) })
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_vnni<const COLUMNS: usize>(
    panel: &[Step<16>],
    tile: &[[Factor; COLUMNS]],
) -> [[f32; 16]; COLUMNS] {
    let mut sums = [_mm512_setzero_ps(); COLUMNS];
    for (step, factors) in panel.iter().zip(tile) {
        // SAFETY: eight times 64 bytes either way.
        let rows = unsafe { transmute::<[[[u8; 4]; 16]; 8], [__m512i; 8]>(step.numbers) };
        // SAFETY: sixteen floats.
        let scales = unsafe { _mm512_loadu_ps(step.scales.as_ptr()) };
        for (sum, factor) in sums.iter_mut().zip(factors) {
            let mut whole = _mm512_set1_epi32(-factor.excess);
            for (rows, numbers) in rows.iter().zip(factor.numbers) {
                whole = _mm512_dpbusd_epi32(whole, *rows, _mm512_set1_epi32(numbers));
            }
            let scales = _mm512_mul_ps(scales, _mm512_set1_ps(factor.scale));
            *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scales, *sum);
        }
    }
    // SAFETY: sixteen floats either way.
    sums.map(|sum| unsafe { transmute::<__m512, [f32; 16]>(sum) })
}

macro_rules! kernel {
    ($kernel:ident, $rows:literal, $columns:literal, $shift:expr, $multiply:ident) => {
        impl Kernel<$rows, $columns> for $kernel {
            type Left = Block;
            type Right = Block;
            type Step = Step<$rows>;
            type Factor = Factor;

            fn pack_row(row: &[Block], lane: usize, panel: &mut [Step<$rows>]) {
                pack_row(row, lane, panel, $shift);
            }

            fn pack_column(column: &[Block], lane: usize, tile: &mut [[Factor; $columns]]) {
                pack_column(column, lane, tile);
            }

            fn multiply(panel: &[Step<$rows>], tile: &[[Factor; $columns]]) -> [[f32; $rows]; $columns] {
                // SAFETY: `entry` uses a kernel only where the processor has its instructions.
                unsafe { $multiply(panel, tile) }
            }
        }
    };
}

kernel!(Avx2, 8, 4, 0, multiply_avx2);
kernel!(Vnni, 16, 8, SHIFT, multiply_vnni);

#[cfg(test)]
pub mod tests {
    use half::f16;

    use super::*;
    use crate::cpu::{has_avx2, has_vnni};
    use crate::product::tests::{SHAPES, products};

    /// Blocks with all numbers that ggml makes (-127 to 127), and scales that are powers of two, so
    /// that sums are exact.
    pub fn vectors(count: usize, length: usize, seed: usize) -> Vec<Vec<Block>> {
        let number = |i: usize| (((i * 37 + seed) % 255) as i16 - 127) as i8;
        let block = |i: usize| Block {
            scale: f16::from_f32([0.5, 1.0, 2.0][i % 3]),
            numbers: std::array::from_fn(|k| number(i * 32 + k)),
        };
        (0..count).map(|i| (0..length).map(|l| block(i * length + l)).collect()).collect()
    }

    /// All products, of whole numbers; at row `i` and column `j` of `[j][i]`.
    pub fn plain(left: &[Vec<Block>], right: &[Vec<Block>]) -> Vec<Vec<f32>> {
        let of_blocks = |a: &Block, b: &Block| {
            let whole: i32 = a.numbers.iter().zip(b.numbers).map(|(a, b)| i32::from(*a) * i32::from(b)).sum();
            whole as f32 * (a.scale.to_f32() * b.scale.to_f32())
        };
        let product =
            |row: &[Block], column: &[Block]| row.iter().zip(column).map(|(a, b)| of_blocks(a, b)).sum();
        right.iter().map(|column| left.iter().map(|row| product(row, column)).collect()).collect()
    }

    fn equals_plain_sums<K, const ROWS: usize, const COLUMNS: usize>()
    where
        K: Kernel<ROWS, COLUMNS, Left = Block, Right = Block>,
    {
        for (rows, columns, threads) in SHAPES {
            let (left, right) = (vectors(rows, 9, 3), vectors(columns, 9, 11));
            let found = products::<K, ROWS, COLUMNS>(&left, &right, threads);
            assert_eq!(found, plain(&left, &right), "{rows} by {columns} for {threads}");
        }
    }

    #[test]
    fn avx2_equals_plain_sums() {
        if !has_avx2() {
            return eprintln!("left out: this processor has no AVX2");
        }
        equals_plain_sums::<Avx2, _, _>();
    }

    #[test]
    fn vnni_equals_plain_sums() {
        if !has_vnni() {
            return eprintln!("left out: this processor has no AVX-512 VNNI");
        }
        equals_plain_sums::<Vnni, _, _>();
    }
}
