//! Takes an Opus packet of several streams apart (RFC 7845, section 3; RFC 6716, appendix B).

/// Most bytes of one frame; a larger size is damage (RFC 6716, section 3.4).
const MAX_FRAME_BYTES: usize = 1275;

/// Splits the first stream off `packet`, which is written in self-delimiting form: returns the
/// stream's packet in plain form and the rest. `None` when the packet is damaged.
pub(super) fn split_first(packet: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (toc, body) = packet.split_first()?;
    match toc & 3 {
        0 => {
            let (size, rest) = frame_size(body)?;
            take(vec![*toc], rest, size)
        }
        1 => {
            let (size, rest) = frame_size(body)?;
            take(vec![*toc], rest, 2 * size)
        }
        2 => {
            let (first, after_first) = frame_size(body)?;
            let (second, rest) = frame_size(after_first)?;
            let mut plain = vec![*toc];
            plain.extend_from_slice(&body[..body.len() - after_first.len()]);
            take(plain, rest, first + second)
        }
        _ => split_counted(*toc, body),
    }
}

/// Code 3: a count, optional padding, sizes of all frames but the last in plain form.
fn split_counted(toc: u8, body: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (count_byte, mut rest) = body.split_first()?;
    let count = usize::from(count_byte & 0x3f);
    let mut padding = 0;
    if count_byte & 0x40 != 0 {
        loop {
            let (byte, after) = rest.split_first()?;
            rest = after;
            padding += usize::from(*byte).min(254);
            if *byte != 255 {
                break;
            }
        }
    }
    let mut plain = vec![toc];
    plain.extend_from_slice(&body[..body.len() - rest.len()]);
    let mut total = 0;
    if count_byte & 0x80 != 0 {
        let sizes = rest;
        for _ in 1..count {
            let (size, after) = frame_size(rest)?;
            total += size;
            rest = after;
        }
        plain.extend_from_slice(&sizes[..sizes.len() - rest.len()]);
        let (last, after) = frame_size(rest)?;
        take(plain, after, total + last + padding)
    } else {
        let (size, after) = frame_size(rest)?;
        take(plain, after, size * count + padding)
    }
}

fn take(mut plain: Vec<u8>, rest: &[u8], size: usize) -> Option<(Vec<u8>, &[u8])> {
    let (frames, after) = rest.split_at_checked(size)?;
    plain.extend_from_slice(frames);
    Some((plain, after))
}

/// One or two bytes (RFC 6716, section 3.2.1).
fn frame_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let first = usize::from(*first);
    if first < 252 {
        return Some((first, rest));
    }
    let (second, rest) = rest.split_first()?;
    let size = usize::from(*second) * 4 + first;
    (size <= MAX_FRAME_BYTES).then_some((size, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame() {
        let (plain, rest) = split_first(&[0x08, 3, 1, 2, 3, 9, 9]).expect("valid");
        assert_eq!((plain.as_slice(), rest), ([0x08, 1, 2, 3].as_slice(), [9, 9].as_slice()));
    }

    #[test]
    fn two_frames() {
        let (plain, rest) = split_first(&[0x09, 2, 1, 2, 3, 4, 9]).expect("valid");
        assert_eq!((plain.as_slice(), rest), ([0x09, 1, 2, 3, 4].as_slice(), [9].as_slice()));
        let (plain, rest) = split_first(&[0x0a, 1, 2, 7, 8, 8, 9]).expect("valid");
        assert_eq!((plain.as_slice(), rest), ([0x0a, 1, 7, 8, 8].as_slice(), [9].as_slice()));
    }

    #[test]
    fn counted_frames_with_padding() {
        let packet = [0x0b, 0x80 | 0x40 | 2, 1, 1, 2, 5, 6, 6, 0, 9];
        let (plain, rest) = split_first(&packet).expect("valid");
        assert_eq!(plain, [0x0b, 0xc2, 1, 1, 5, 6, 6, 0]);
        assert_eq!(rest, [9]);
        let (plain, _) = split_first(&[0x0b, 3, 1, 7, 8, 9]).expect("valid");
        assert_eq!(plain, [0x0b, 3, 7, 8, 9]);
    }

    #[test]
    fn damage_gives_nothing() {
        for packet in [&[][..], &[0x08], &[0x08, 5, 1], &[0x0b, 0x42], &[0x08, 255, 255]] {
            assert_eq!(split_first(packet), None, "{packet:?}");
        }
    }
}
