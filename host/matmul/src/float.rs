//! Half-precision rows (keys and values of the attention) times half or single-precision columns.

use std::arch::x86_64::{
    __m256, __m512, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps,
};
use std::marker::PhantomData;
use std::mem::transmute;

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::product::Kernel;

/// Elements that are widened at a time.
const CHUNK: usize = 64;

/// Elements that can be read as single precision.
pub trait Widen: Sized {
    fn widen(narrow: &[Self], wide: &mut [f32]);
}

impl Widen for f16 {
    fn widen(narrow: &[Self], wide: &mut [f32]) {
        narrow.convert_to_f32_slice(wide);
    }
}

impl Widen for f32 {
    fn widen(narrow: &[Self], wide: &mut [f32]) {
        wide.copy_from_slice(narrow);
    }
}

/// With the instructions of AVX2 and FMA.
pub struct Avx2<Right>(PhantomData<Right>);
/// With those of AVX-512.
pub struct Avx512<Right>(PhantomData<Right>);

fn pack<T: Widen, const LANES: usize>(vector: &[T], lane: usize, packed: &mut [[f32; LANES]]) {
    let mut wide = [0.0; CHUNK];
    for (narrow, packed) in vector.chunks(CHUNK).zip(packed.chunks_mut(CHUNK)) {
        let wide = &mut wide[..narrow.len()];
        T::widen(narrow, wide);
        for (value, packed) in wide.iter().zip(packed) {
            packed[lane] = *value;
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn multiply_avx2<const COLUMNS: usize>(panel: &[[f32; 16]], tile: &[[f32; COLUMNS]]) -> [[f32; 16]; COLUMNS] {
    let mut sums = [[_mm256_setzero_ps(); 2]; COLUMNS];
    for (rows, factors) in panel.iter().zip(tile) {
        // SAFETY: twice eight floats.
        let rows = unsafe { [_mm256_loadu_ps(rows.as_ptr()), _mm256_loadu_ps(rows[8..].as_ptr())] };
        for (sums, factor) in sums.iter_mut().zip(factors) {
            let factor = _mm256_set1_ps(*factor);
            sums[0] = _mm256_fmadd_ps(rows[0], factor, sums[0]);
            sums[1] = _mm256_fmadd_ps(rows[1], factor, sums[1]);
        }
    }
    // SAFETY: sixteen floats either way.
    sums.map(|sums| unsafe { transmute::<[__m256; 2], [f32; 16]>(sums) })
}

#[target_feature(enable = "avx512f")]
fn multiply_avx512<const COLUMNS: usize>(
    panel: &[[f32; 32]],
    tile: &[[f32; COLUMNS]],
) -> [[f32; 32]; COLUMNS] {
    let mut sums = [[_mm512_setzero_ps(); 2]; COLUMNS];
    for (rows, factors) in panel.iter().zip(tile) {
        // SAFETY: twice sixteen floats.
        let rows = unsafe { [_mm512_loadu_ps(rows.as_ptr()), _mm512_loadu_ps(rows[16..].as_ptr())] };
        for (sums, factor) in sums.iter_mut().zip(factors) {
            let factor = _mm512_set1_ps(*factor);
            sums[0] = _mm512_fmadd_ps(rows[0], factor, sums[0]);
            sums[1] = _mm512_fmadd_ps(rows[1], factor, sums[1]);
        }
    }
    // SAFETY: thirty-two floats either way.
    sums.map(|sums| unsafe { transmute::<[__m512; 2], [f32; 32]>(sums) })
}

macro_rules! kernel {
    ($kernel:ident, $rows:literal, $columns:literal, $multiply:ident) => {
        impl<Right: Widen> Kernel<$rows, $columns> for $kernel<Right> {
            type Left = f16;
            type Right = Right;
            type Step = [f32; $rows];
            type Factor = f32;

            fn pack_row(row: &[f16], lane: usize, panel: &mut [[f32; $rows]]) {
                pack(row, lane, panel);
            }

            fn pack_column(column: &[Right], lane: usize, tile: &mut [[f32; $columns]]) {
                pack(column, lane, tile);
            }

            fn multiply(panel: &[[f32; $rows]], tile: &[[f32; $columns]]) -> [[f32; $rows]; $columns] {
                // SAFETY: `entry` uses a kernel only where the processor has its instructions.
                unsafe { $multiply(panel, tile) }
            }
        }
    };
}

kernel!(Avx2, 16, 6, multiply_avx2);
kernel!(Avx512, 32, 8, multiply_avx512);

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::cpu::{has_avx2, has_avx512};
    use crate::product::tests::{SHAPES, products};

    /// Small whole numbers: sums of their products are exact.
    pub fn vectors<T>(count: usize, length: usize, seed: usize, make: impl Fn(f32) -> T) -> Vec<Vec<T>> {
        let value = |i: usize, k: usize| ((i * 31 + k * 7 + seed) % 19) as f32 - 9.0;
        (0..count).map(|i| (0..length).map(|k| make(value(i, k))).collect()).collect()
    }

    /// All products as sums in single precision; at row `i` and column `j` of `[j][i]`.
    pub fn plain<Right: Copy + Into<f32>>(left: &[Vec<f16>], right: &[Vec<Right>]) -> Vec<Vec<f32>> {
        let product = |row: &[f16], column: &[Right]| -> f32 {
            row.iter().zip(column).map(|(a, b)| a.to_f32() * (*b).into()).sum()
        };
        right.iter().map(|column| left.iter().map(|row| product(row, column)).collect()).collect()
    }

    fn equals_plain_sums<K, Right, const ROWS: usize, const COLUMNS: usize>(make: impl Fn(f32) -> Right)
    where
        K: Kernel<ROWS, COLUMNS, Left = f16, Right = Right>,
        Right: Copy + Into<f32>,
    {
        for (rows, columns, threads) in SHAPES {
            let left = vectors(rows, 77, 1, f16::from_f32);
            let right = vectors(columns, 77, 5, &make);
            let found = products::<K, ROWS, COLUMNS>(&left, &right, threads);
            assert_eq!(found, plain(&left, &right), "{rows} by {columns} for {threads}");
        }
    }

    #[test]
    fn avx2_equals_plain_sums() {
        if !has_avx2() {
            return eprintln!("left out: this processor has no AVX2");
        }
        equals_plain_sums::<Avx2<f16>, f16, _, _>(f16::from_f32);
        equals_plain_sums::<Avx2<f32>, f32, _, _>(|value| value);
    }

    #[test]
    fn avx512_equals_plain_sums() {
        if !has_avx512() {
            return eprintln!("left out: this processor has no AVX-512");
        }
        equals_plain_sums::<Avx512<f16>, f16, _, _>(f16::from_f32);
        equals_plain_sums::<Avx512<f32>, f32, _, _>(|value| value);
    }
}
