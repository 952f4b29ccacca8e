//! The tensors: each one there once, in the shape and type that the sizes ask for.

use std::collections::HashMap;
use std::io::{Read, Seek};

use crate::modelfile::bytes::Input;
use crate::modelfile::error::Fault;
use crate::modelfile::layout::{Layout, Tensor};
use crate::modelfile::weights::Weights;

/// Longer than any tensor's name.
const MAX_NAME_BYTES: u32 = 64;

/// Where the values of each tensor of `layout` start.
pub(super) fn find_tensors<R: Read + Seek>(
    input: &mut Input<R>,
    layout: &Layout,
    weights: Weights,
) -> Result<Vec<u64>, Fault> {
    let places: HashMap<&str, usize> =
        layout.tensors.iter().enumerate().map(|(at, tensor)| (tensor.name.as_str(), at)).collect();
    let mut offsets = vec![None; layout.tensors.len()];
    for _ in 0..layout.tensors.len() {
        if input.remaining_bytes() == 0 {
            break;
        }
        let (at, offset) = read_tensor(input, layout, &places, weights)?;
        if offsets[at].replace(offset).is_some() {
            return Err(Fault::Twice { name: layout.tensors[at].name.clone() });
        }
    }
    let missing = |at: usize| Fault::Missing { name: layout.tensors[at].name.clone() };
    let offsets = offsets.into_iter().enumerate().map(|(at, offset)| offset.ok_or_else(|| missing(at)));
    let offsets = offsets.collect::<Result<Vec<u64>, Fault>>()?;
    match input.remaining_bytes() {
        0 => Ok(offsets),
        extra_bytes => Err(Fault::Trailing { extra_bytes }),
    }
}

/// Reads one tensor's head and steps over its values: its place in the layout and where
/// the values start.
fn read_tensor<R: Read + Seek>(
    input: &mut Input<R>,
    layout: &Layout,
    places: &HashMap<&str, usize>,
    weights: Weights,
) -> Result<(usize, u64), Fault> {
    const HEAD: &str = "the head of a tensor";
    let (rank, name_bytes, type_code) = (input.u32(HEAD)?, input.u32(HEAD)?, input.u32(HEAD)?);
    if !(1..=4).contains(&rank) || name_bytes > MAX_NAME_BYTES {
        return Err(Fault::UnknownTensor { name: format!("of rank {rank}, name of {name_bytes} bytes") });
    }
    let mut dims = (0..rank).map(|_| input.u32(HEAD)).collect::<Result<Vec<u32>, Fault>>()?;
    dims.reverse();
    let name = String::from_utf8_lossy(&input.take(name_bytes as usize, HEAD)?).into_owned();
    let Some(&at) = places.get(name.as_str()) else { return Err(Fault::UnknownTensor { name }) };
    let tensor = &layout.tensors[at];
    check_tensor(tensor, &dims, type_code, weights)?;
    let offset = input.position();
    input.skip(weights.stored(tensor.role).size_bytes(tensor.values()), &format!("the tensor {name}"))?;
    Ok((at, offset))
}

fn check_tensor(tensor: &Tensor, dims: &[u32], type_code: u32, weights: Weights) -> Result<(), Fault> {
    let name = || tensor.name.clone();
    if dims != tensor.dims {
        return Err(Fault::Shape { name: name(), found: dims.to_vec(), expected: tensor.dims.clone() });
    }
    let expected = weights.stored(tensor.role);
    if type_code != expected.code() {
        return Err(Fault::TensorType {
            name: name(),
            found: type_name(type_code),
            expected: expected.name(),
        });
    }
    Ok(())
}

/// Names of ggml's tensor types, for messages.
fn type_name(code: u32) -> String {
    let name = match code {
        0 => "f32",
        1 => "f16",
        2 => "q4_0",
        3 => "q4_1",
        6 => "q5_0",
        7 => "q5_1",
        8 => "q8_0",
        other => return format!("number {other}"),
    };
    name.to_owned()
}
