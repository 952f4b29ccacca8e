//! One thread's part of a product: operands are packed into the order in which a kernel reads them.

use std::ops::Range;

/// What a kernel computes at once: `ROWS` rows of the left operand times `COLUMNS` of the right.
///
/// Both operands are read along `k`, a step at a time.
pub trait Kernel<const ROWS: usize, const COLUMNS: usize> {
    /// An element, or a block of elements, of the left operand as ggml keeps it.
    type Left;
    /// The same of the right operand.
    type Right;
    /// `ROWS` elements of the left operand at one step.
    type Step: Clone + Default;
    /// An element of the right operand.
    type Factor: Copy + Default;

    /// Puts a row into a lane of its panel.
    fn pack_row(row: &[Self::Left], lane: usize, panel: &mut [Self::Step]);

    /// Puts a column into a lane of its tile.
    fn pack_column(column: &[Self::Right], lane: usize, tile: &mut [[Self::Factor; COLUMNS]]);

    /// The products of all rows of a panel and all columns of a tile, which are equally long.
    fn multiply(panel: &[Self::Step], tile: &[[Self::Factor; COLUMNS]]) -> [[f32; ROWS]; COLUMNS];
}

/// Vectors of `length` elements, each `stride` elements after the one before.
pub struct Operand<T> {
    pub data: *const T,
    pub count: usize,
    pub stride: usize,
    pub length: usize,
}

impl<T> Operand<T> {
    fn vector(&self, index: usize) -> &[T] {
        debug_assert!(index < self.count);
        // SAFETY: whoever made the operand promised `count` vectors of `length` elements.
        unsafe { std::slice::from_raw_parts(self.data.add(index * self.stride), self.length) }
    }
}

/// Where products go: row `i` of the left operand and column `j` of the right at `j * stride + i`.
pub struct Products {
    pub data: *mut f32,
    pub stride: usize,
}

/// This thread among those that compute one product together.
#[derive(Clone, Copy)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

impl Share {
    /// The part of `count` things, taken `unit` at a time.
    fn part(self, count: usize, unit: usize) -> Range<usize> {
        let units = count.div_ceil(unit);
        let bound = |index: usize| (units * index / self.of * unit).min(count);
        bound(self.index)..bound(self.index + 1)
    }
}

/// Packed rows that stay in a core's second cache while all columns pass.
const PACKED_BYTES: usize = 1 << 19;

/// Computes this thread's share of `left` times `right`: of the longer side.
pub fn multiply<K: Kernel<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize>(
    left: &Operand<K::Left>,
    right: &Operand<K::Right>,
    products: &Products,
    share: Share,
) {
    let (rows, columns) = if left.count > right.count {
        (share.part(left.count, ROWS), 0..right.count)
    } else {
        (0..left.count, share.part(right.count, COLUMNS))
    };
    let panel_bytes = left.length * size_of::<K::Step>();
    let panels = (PACKED_BYTES / panel_bytes.max(1)).max(1);
    let mut packed = Vec::new();
    let mut tile = vec![[K::Factor::default(); COLUMNS]; left.length];
    for first in rows.clone().step_by(panels * ROWS) {
        let rows = first..(first + panels * ROWS).min(rows.end);
        pack_rows::<K, ROWS, COLUMNS>(left, rows.clone(), &mut packed);
        for first_column in columns.clone().step_by(COLUMNS) {
            let width = COLUMNS.min(columns.end - first_column);
            for lane in 0..width {
                K::pack_column(right.vector(first_column + lane), lane, &mut tile);
            }
            for (row, panel) in rows.clone().step_by(ROWS).zip(packed.chunks_exact(left.length)) {
                let sums = K::multiply(panel, &tile);
                let height = ROWS.min(rows.end - row);
                for (lane, sums) in sums.iter().enumerate().take(width) {
                    products.put((first_column + lane) * products.stride + row, &sums[..height]);
                }
            }
        }
    }
}

impl Products {
    fn put(&self, at: usize, values: &[f32]) {
        // SAFETY: whoever made this promised room for each row and column, and each thread writes
        // only the rows and columns of its share.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data.add(at), values.len()) }
    }
}

fn pack_rows<K: Kernel<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize>(
    left: &Operand<K::Left>,
    rows: Range<usize>,
    packed: &mut Vec<K::Step>,
) {
    packed.clear();
    packed.resize(rows.len().div_ceil(ROWS) * left.length, K::Step::default());
    for (index, row) in rows.enumerate() {
        let panel = index / ROWS * left.length;
        K::pack_row(left.vector(row), index % ROWS, &mut packed[panel..panel + left.length]);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// All products, computed by `threads` shares; at row `i` and column `j` of `[j][i]`.
    pub fn products<K: Kernel<ROWS, COLUMNS>, const ROWS: usize, const COLUMNS: usize>(
        left: &[Vec<K::Left>],
        right: &[Vec<K::Right>],
        threads: usize,
    ) -> Vec<Vec<f32>>
    where
        K::Left: Copy,
        K::Right: Copy,
    {
        let (left_data, right_data) = (left.concat(), right.concat());
        let length = left[0].len();
        let left = Operand { data: left_data.as_ptr(), count: left.len(), stride: length, length };
        let right = Operand { data: right_data.as_ptr(), count: right.len(), stride: length, length };
        let mut sums = vec![f32::NAN; left.count * right.count];
        let products = Products { data: sums.as_mut_ptr(), stride: left.count };
        for index in 0..threads {
            multiply::<K, ROWS, COLUMNS>(&left, &right, &products, Share { index, of: threads });
        }
        sums.chunks(left.count).map(<[f32]>::to_vec).collect()
    }

    /// Counts at which panels, tiles and shares end early, fit, or are left empty: rows, columns
    /// and threads.
    pub const SHAPES: [(usize, usize, usize); 7] =
        [(1, 1, 1), (16, 8, 1), (33, 17, 2), (7, 90, 3), (90, 7, 3), (5, 3, 8), (64, 48, 4)];

    #[test]
    fn shares_cover_everything_once() {
        for (count, unit, of) in [(0, 16, 2), (1, 16, 3), (100, 16, 3), (96, 8, 5), (7, 8, 64)] {
            let parts = (0..of).flat_map(|index| Share { index, of }.part(count, unit));
            assert!(parts.eq(0..count), "{count} by {unit} for {of}");
        }
    }
}
