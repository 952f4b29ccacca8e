//! What the linker puts in the place of `llamafile_sgemm`.

use std::ffi::{c_int, c_uint, c_void};

use half::f16;
use whisper_rs::whisper_rs_sys as sys;

use crate::cpu::{has_avx2, has_avx512, has_vnni};
use crate::product::{Kernel, Operand, Products, Share, multiply};
use crate::{float, quantised};

/// The beginning of `ggml_compute_params` (`ggml-cpu-impl.h`).
#[repr(C)]
pub struct Params {
    thread: c_int,
    threads: c_int,
}

const F32: c_uint = sys::ggml_type_GGML_TYPE_F32;
const F16: c_uint = sys::ggml_type_GGML_TYPE_F16;
const Q8_0: c_uint = sys::ggml_type_GGML_TYPE_Q8_0;

/// With fewer columns the packing costs more than it gives.
const FEWEST_COLUMNS: usize = 16;

unsafe extern "C" {
    fn __real_llamafile_sgemm(
        params: *const Params,
        rows: i64,
        columns: i64,
        k: i64,
        left: *const c_void,
        left_stride: i64,
        right: *const c_void,
        right_stride: i64,
        products: *mut c_void,
        products_stride: i64,
        left_type: c_uint,
        right_type: c_uint,
        products_type: c_uint,
    ) -> bool;
}

/// Computes a product, or says that it cannot (`false`), as `llamafile_sgemm` does.
///
/// # Safety
/// The pointers and counts describe two operands and the room for their products, as ggml's
/// `ggml_compute_forward_mul_mat` passes them; each of `threads` threads calls with the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_llamafile_sgemm(
    params: *const Params,
    rows: i64,
    columns: i64,
    k: i64,
    left: *const c_void,
    left_stride: i64,
    right: *const c_void,
    right_stride: i64,
    products: *mut c_void,
    products_stride: i64,
    left_type: c_uint,
    right_type: c_uint,
    products_type: c_uint,
) -> bool {
    let size = |value: i64| usize::try_from(value).unwrap_or_default();
    // SAFETY: ggml passes its parameters to every call.
    let Params { thread, threads } = unsafe { &*params };
    let call = Call {
        rows: size(rows),
        columns: size(columns),
        k: size(k),
        left,
        left_stride: size(left_stride),
        right,
        right_stride: size(right_stride),
        products: Products { data: products.cast(), stride: size(products_stride) },
        share: Share { index: size((*thread).into()), of: size((*threads).into()) },
    };
    let is_large = call.k > 0 && call.columns >= FEWEST_COLUMNS && products_type == F32;
    match (left_type, right_type) {
        (Q8_0, Q8_0) if is_large && has_vnni() => call.run::<quantised::Vnni, _, _>(),
        (Q8_0, Q8_0) if is_large && has_avx2() => call.run::<quantised::Avx2, _, _>(),
        (F16, F16) if is_large && has_avx512() => call.run::<float::Avx512<f16>, _, _>(),
        (F16, F16) if is_large && has_avx2() => call.run::<float::Avx2<f16>, _, _>(),
        (F16, F32) if is_large && has_avx512() => call.run::<float::Avx512<f32>, _, _>(),
        (F16, F32) if is_large && has_avx2() => call.run::<float::Avx2<f32>, _, _>(),
        // SAFETY: the same call.
        _ => unsafe {
            __real_llamafile_sgemm(
                params,
                rows,
                columns,
                k,
                left,
                left_stride,
                right,
                right_stride,
                products,
                products_stride,
                left_type,
                right_type,
                products_type,
            )
        },
    }
}

/// A call as whisper.cpp makes it. Vectors of both operands lie along `k`, counted in elements or
/// in blocks, as are the strides.
struct Call {
    rows: usize,
    columns: usize,
    k: usize,
    left: *const c_void,
    left_stride: usize,
    right: *const c_void,
    right_stride: usize,
    products: Products,
    share: Share,
}

impl Call {
    fn run<K: Kernel<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize>(self) -> bool {
        let left =
            Operand { data: self.left.cast(), count: self.rows, stride: self.left_stride, length: self.k };
        let right = Operand {
            data: self.right.cast(),
            count: self.columns,
            stride: self.right_stride,
            length: self.k,
        };
        multiply::<K, ROWS, COLUMNS>(&left, &right, &self.products, self.share);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 33;
    const LENGTH: usize = 5;
    const THREADS: c_int = 2;

    /// What ggml gets for its call, both operands and the products with a gap behind each vector;
    /// `None` if it has to compute by itself.
    fn called<L: Copy, R: Copy>(
        (left, left_type): (&[Vec<L>], c_uint),
        (right, right_type): (&[Vec<R>], c_uint),
    ) -> Option<Vec<Vec<f32>>> {
        let (k, stride) = (left[0].len(), ROWS + 3);
        let left: Vec<L> = left.iter().flat_map(|row| row.iter().chain(row.first())).copied().collect();
        let apart: Vec<R> =
            right.iter().flat_map(|column| column.iter().chain(column.first())).copied().collect();
        let mut products = vec![f32::NAN; right.len() * stride];
        let computed = (0..THREADS).map(|thread| {
            // SAFETY: the counts are those of the vectors above.
            unsafe {
                __wrap_llamafile_sgemm(
                    &Params { thread, threads: THREADS },
                    ROWS as i64,
                    right.len() as i64,
                    k as i64,
                    left.as_ptr().cast(),
                    k as i64 + 1,
                    apart.as_ptr().cast(),
                    k as i64 + 1,
                    products.as_mut_ptr().cast(),
                    stride as i64,
                    left_type,
                    right_type,
                    F32,
                )
            }
        });
        let computed: Vec<bool> = computed.collect();
        let (found, gaps): (Vec<_>, Vec<_>) =
            products.chunks(stride).map(|column| column.split_at(ROWS)).unzip();
        assert!(gaps.concat().iter().all(|value| value.is_nan()), "written beyond the rows");
        computed.iter().all(|computed| *computed).then(|| found.into_iter().map(<[f32]>::to_vec).collect())
    }

    #[test]
    fn large_products_of_each_kind_are_computed_here() {
        use crate::{float::tests as float, quantised::tests as quantised};
        if !has_avx2() {
            return eprintln!("left out: this processor has no AVX2");
        }
        let (left, right) =
            (quantised::vectors(ROWS, LENGTH, 3), quantised::vectors(FEWEST_COLUMNS, LENGTH, 11));
        assert_eq!(called((&left, Q8_0), (&right, Q8_0)), Some(quantised::plain(&left, &right)));
        let left = float::vectors(ROWS, LENGTH, 1, f16::from_f32);
        let right = float::vectors(FEWEST_COLUMNS, LENGTH, 5, f16::from_f32);
        assert_eq!(called((&left, F16), (&right, F16)), Some(float::plain(&left, &right)));
        let right = float::vectors(FEWEST_COLUMNS, LENGTH, 5, |value| value);
        assert_eq!(called((&left, F16), (&right, F32)), Some(float::plain(&left, &right)));
    }

    #[test]
    fn products_of_one_column_go_on_to_whisper() {
        use crate::quantised::tests::vectors;
        let (left, right) = (vectors(ROWS, LENGTH, 3), vectors(1, LENGTH, 11));
        assert_eq!(called((&left, Q8_0), (&right, Q8_0)), None, "it leaves them to ggml's own loop");
    }
}
