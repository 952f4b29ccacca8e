//! What the linker puts in the place of `llamafile_sgemm`.

use std::ffi::{c_int, c_uint, c_void};

use half::f16;
use whisper_rs::whisper_rs_sys as sys;

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

// Which instructions this processor has.
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

fn has_avx512() -> bool {
    has_avx2() && is_x86_feature_detected!("avx512f")
}

fn has_vnni() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512vnni")
}

/// The instructions that are used on this processor, in its maker's words; for the log.
pub fn in_use() -> &'static str {
    match () {
        () if has_vnni() => "AVX-512 VNNI",
        () if has_avx512() => "AVX-512",
        () if has_avx2() => "AVX2",
        () => "whisper.cpp's own",
    }
}

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
