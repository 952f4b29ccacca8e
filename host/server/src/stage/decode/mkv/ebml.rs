//! Elements of EBML (RFC 8794) as far as Matroska needs them.

use super::super::window::Window;

/// An element's place: its id with the length marker, as specifications print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) id: u32,
    /// Where its body starts.
    pub(super) body: u64,
    /// Bytes of the body; `None` when the writer did not know.
    pub(super) size: Option<u64>,
}

/// Reads the element header at `at`.
pub(super) fn element(file: &Window, at: u64) -> Option<Element> {
    let bytes = file.slice(at, 12).ok()?;
    let id_bytes = bytes.first()?.leading_zeros() as usize + 1;
    if id_bytes > 4 {
        return None;
    }
    let id = bytes.get(..id_bytes)?.iter().fold(0u32, |id, byte| id << 8 | u32::from(*byte));
    let (size, size_bytes) = number(bytes.get(id_bytes..)?)?;
    let unknown = (1u64 << (7 * size_bytes)) - 1;
    let body = at + (id_bytes + size_bytes) as u64;
    Some(Element { id, body, size: (size != unknown).then_some(size) })
}

/// A number of variable length and how many bytes it takes.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = first.leading_zeros() as usize + 1;
    if length > 8 {
        return None;
    }
    let marked = u64::from(first) & (0xff >> length);
    let value = bytes.get(1..length)?.iter().fold(marked, |value, byte| value << 8 | u64::from(*byte));
    Some((value, length))
}

/// The children of a body of known size, small ones: ids with their content.
pub(super) fn children(body: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let (id, content, after) = split_child(rest)?;
        rest = after;
        Some((id, content))
    })
}

fn split_child(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let id_bytes = bytes.first()?.leading_zeros() as usize + 1;
    if id_bytes > 4 {
        return None;
    }
    let id = bytes.get(..id_bytes)?.iter().fold(0u32, |id, byte| id << 8 | u32::from(*byte));
    let (size, size_bytes) = number(bytes.get(id_bytes..)?)?;
    let body = bytes.get(id_bytes + size_bytes..)?;
    let (content, after) = body.split_at_checked(usize::try_from(size).ok()?)?;
    Some((id, content, after))
}

/// An unsigned integer of up to eight bytes.
pub(super) fn unsigned(content: &[u8]) -> u64 {
    content.iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// A signed integer of up to eight bytes.
pub(super) fn signed(content: &[u8]) -> i64 {
    let unused = 64 - 8 * content.len().clamp(1, 8) as u32;
    (unsigned(content) << unused).cast_signed() >> unused
}

/// A float of four or eight bytes; 0 when it is neither.
pub(super) fn float(content: &[u8]) -> f64 {
    match (content.first_chunk::<8>(), content.first_chunk::<4>()) {
        (Some(bytes), _) => f64::from_be_bytes(*bytes),
        (None, Some(bytes)) => f64::from(f32::from_be_bytes(*bytes)),
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_any_length() {
        assert_eq!(number(&[0x81]), Some((1, 1)));
        assert_eq!(number(&[0x40, 0x02]), Some((2, 2)));
        assert_eq!(number(&[0x01, 0, 0, 0, 0, 0, 1, 0]), Some((256, 8)));
        assert_eq!(number(&[0x00, 1]), None);
        assert_eq!(number(&[0x40]), None);
        assert_eq!((signed(&[0xff]), signed(&[0x01, 0x00]), signed(&[])), (-1, 256, 0));
    }

    #[test]
    fn children_end_where_they_make_no_sense() {
        let found: Vec<_> = children(&[0xe7, 0x81, 5, 0xa3, 0x82, 1, 2]).collect();
        assert_eq!(found, [(0xe7, &[5][..]), (0xa3, &[1, 2][..])]);
        assert_eq!(children(&[0xe7, 0x85, 5]).next(), None);
    }
}
