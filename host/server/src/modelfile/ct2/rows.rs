//! The values of an array, a few rows at a time and at their true size.

use std::io::{Read, Seek};

use super::model::Ct2Model;
use super::variable::{Kind, Variable};
use crate::modelfile::error::Fault;
use crate::modelfile::layout::Rows;

/// Values read at once: 1 MiB as f32.
const VALUES_AT_ONCE: u64 = 1 << 18;

impl<R: Read + Seek> Ct2Model<R> {
    /// Calls `sink` with the values of the given rows, whole rows at a time.
    pub fn read_rows<E: From<Fault>>(
        &mut self,
        part: &Rows,
        dims: &[u32],
        sink: &mut dyn FnMut(&[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let variable = self.index.find(&part.variable)?.clone();
        check_shape(part, &variable, dims)?;
        let rows = variable.rows() / part.of;
        let row_values = variable.row_values();
        let scales = self.scales(&part.variable, &variable)?;
        let first = rows * part.index;
        let rows_at_once = u32::try_from((VALUES_AT_ONCE / row_values).max(1)).unwrap_or(u32::MAX);
        let mut done = 0;
        while done < rows {
            let count = rows_at_once.min(rows - done);
            let mut values = self.read_values(&variable, first + done, count, &part.variable)?;
            scales.apply(&mut values, row_values as usize, (first + done) as usize);
            if !values.iter().all(|value| value.is_finite()) {
                return Err(Fault::NotFinite { place: part.variable.clone() }.into());
            }
            sink(&values)?;
            done += count;
        }
        Ok(())
    }

    /// Integers come with what they were multiplied by: a number per row, or one for all.
    fn scales(&mut self, name: &str, variable: &Variable) -> Result<Scales, Fault> {
        match variable.kind {
            Kind::F32 | Kind::F16 | Kind::Bf16 => return Ok(Scales::None),
            Kind::I8 | Kind::I16 => {}
            Kind::I32 => return Err(Fault::Weights { found: format!("packed integers ({name})") }),
        }
        let scale_name = format!("{}_scale", self.index.resolve(name));
        let scale = self.index.find(&scale_name)?.clone();
        if !scale.dims.is_empty() && scale.dims != [1] && scale.dims != [variable.rows()] {
            return Err(Fault::Shape {
                name: scale_name,
                found: scale.dims,
                expected: vec![variable.rows()],
            });
        }
        let values = self.read_values(&scale, 0, scale.rows(), &scale_name)?;
        if !values.iter().all(|value| value.is_finite() && *value != 0.0) {
            return Err(Fault::NotFinite { place: scale_name });
        }
        Ok(match values.as_slice() {
            [one] => Scales::One(*one),
            _ => Scales::PerRow(values),
        })
    }
}

/// What stored numbers were multiplied by.
enum Scales {
    None,
    One(f32),
    PerRow(Vec<f32>),
}

impl Scales {
    fn apply(&self, values: &mut [f32], row_values: usize, first_row: usize) {
        match self {
            Self::None => {}
            Self::One(scale) => values.iter_mut().for_each(|value| *value /= scale),
            Self::PerRow(scales) => {
                for (row, scale) in values.chunks_mut(row_values).zip(&scales[first_row..]) {
                    row.iter_mut().for_each(|value| *value /= scale);
                }
            }
        }
    }
}

/// The part must have the tensor's values. A bias of a convolution is one column more in
/// ggml, so the leading sizes and the product count.
fn check_shape(part: &Rows, variable: &Variable, dims: &[u32]) -> Result<(), Fault> {
    let mut found = variable.dims.clone();
    let divides = found.first().is_some_and(|rows| rows.is_multiple_of(part.of));
    if divides {
        found[0] /= part.of;
    }
    let expected = dims.iter().copied().rev().skip_while(|dim| *dim == 1).collect::<Vec<_>>();
    if divides && found.iter().rev().copied().eq(expected) {
        return Ok(());
    }
    Err(Fault::Shape { name: part.variable.clone(), found, expected: dims.to_vec() })
}
