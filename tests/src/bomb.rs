//! Files that are small and decode to a lot.

/// Samples of a frame: the most that FLAC has.
const BLOCK: u32 = 65_535;

/// Samples a second.
const RATE: u32 = 8_000;

/// A FLAC file of a constant sound that does not say how long it is: about 2 bytes a second
/// for one channel.
pub fn flac(length_s: u32, channels: u8) -> Vec<u8> {
    let mut file = b"fLaC".to_vec();
    // The last metadata block is STREAMINFO, 34 bytes.
    file.extend([0x80, 0, 0, 34]);
    let block = (BLOCK as u16).to_be_bytes();
    file.extend(block.into_iter().chain(block).chain([0; 6]));
    let packed = (u64::from(RATE) << 44) | (u64::from(channels - 1) << 41) | (15 << 36);
    file.extend(packed.to_be_bytes());
    file.extend([0; 16]);
    let frames = length_s.saturating_mul(RATE).div_ceil(BLOCK);
    for number in 0..frames {
        file.extend(frame(number, channels));
    }
    file
}

fn frame(number: u32, channels: u8) -> Vec<u8> {
    // Fixed block size, its value behind the number; 8 kHz; channels; 16 bits.
    let mut frame = vec![0xff, 0xf8, 0x74, ((channels - 1) << 4) | 0x08];
    let coded = char::from_u32(number).expect("below the surrogates");
    frame.extend(coded.encode_utf8(&mut [0; 4]).as_bytes());
    frame.extend(((BLOCK - 1) as u16).to_be_bytes());
    frame.push(crc(&frame, 8, 0x07) as u8);
    for _ in 0..channels {
        // A constant subframe.
        frame.extend([0, 0x10, 0x00]);
    }
    let sum = crc(&frame, 16, 0x8005);
    frame.extend(sum.to_be_bytes());
    frame
}

/// Most significant bit first, from zero.
fn crc(bytes: &[u8], width: u32, polynomial: u16) -> u16 {
    let (top, mask) = (1_u32 << (width - 1), (1_u32 << width) - 1);
    let mut sum = 0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte) << (width - 8);
        for _ in 0..8 {
            let shifted = sum << 1;
            sum = if sum & top == 0 { shifted } else { shifted ^ u32::from(polynomial) } & mask;
        }
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_format() {
        // Check values of CRC-8/SMBUS and CRC-16/UMTS.
        assert_eq!(crc(b"123456789", 8, 0x07), 0xf4);
        assert_eq!(crc(b"123456789", 16, 0x8005), 0xfee8);
    }
}
