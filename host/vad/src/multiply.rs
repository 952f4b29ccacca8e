//! Vectors times one matrix: all the arithmetic of the detector, in a form that compilers
//! turn into SIMD instructions.

use super::weights::Layer;

/// `outputs[t] = inputs[t] x layer + bias` for `T` vectors at once.
///
/// `BLOCK` columns are summed together; it divides the layer's width. `T * BLOCK` sums
/// should fit the processor's registers (64 floats fill half of AVX2's).
pub fn multiply<const T: usize, const BLOCK: usize>(
    layer: &Layer,
    inputs: [&[f32]; T],
    outputs: &mut [&mut [f32]; T],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions that the function is compiled for.
        #[allow(unsafe_code)]
        unsafe {
            multiply_avx2::<T, BLOCK>(layer, inputs, outputs);
        }
        return;
    }
    multiply_with::<T, BLOCK>(layer, inputs, outputs, |x, weight, sum| x * weight + sum);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_avx2<const T: usize, const BLOCK: usize>(
    layer: &Layer,
    inputs: [&[f32]; T],
    outputs: &mut [&mut [f32]; T],
) {
    multiply_with::<T, BLOCK>(layer, inputs, outputs, f32::mul_add);
}

#[inline(always)]
fn multiply_with<const T: usize, const BLOCK: usize>(
    layer: &Layer,
    inputs: [&[f32]; T],
    outputs: &mut [&mut [f32]; T],
    multiply_add: impl Fn(f32, f32, f32) -> f32,
) {
    let width = layer.bias.len();
    for column in (0..width).step_by(BLOCK) {
        let mut sums = [[0.0; BLOCK]; T];
        for sum in &mut sums {
            sum.copy_from_slice(&layer.bias[column..column + BLOCK]);
        }
        for (row, weights) in layer.matrix.chunks_exact(width).enumerate() {
            let weights = &weights[column..column + BLOCK];
            for t in 0..T {
                let x = inputs[t][row];
                for lane in 0..BLOCK {
                    sums[t][lane] = multiply_add(x, weights[lane], sums[t][lane]);
                }
            }
        }
        for t in 0..T {
            outputs[t][column..column + BLOCK].copy_from_slice(&sums[t]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_plain_sum() {
        let (inputs, outputs) = (5, 8);
        let layer = Layer {
            matrix: (0..inputs * outputs).map(|i| (i % 7) as f32 - 3.0).collect(),
            bias: (0..outputs).map(|o| o as f32).collect(),
        };
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [0.5, -1.0, 0.0, 2.0, 1.0]);
        let (mut out_a, mut out_b) = ([0.0; 8], [0.0; 8]);
        multiply::<2, 4>(&layer, [&a, &b], &mut [&mut out_a, &mut out_b]);
        for o in 0..outputs {
            let plain = |x: &[f32; 5]| {
                (0..inputs).map(|i| x[i] * layer.matrix[i * outputs + o]).sum::<f32>() + o as f32
            };
            assert_eq!(out_a[o], plain(&a));
            assert_eq!(out_b[o], plain(&b));
        }
    }
}
