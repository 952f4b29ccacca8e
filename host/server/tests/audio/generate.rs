//! Small files with known content: wave, Matroska, MP4, CAF, AIFF with uncompressed samples.

/// A sine of 440 Hz at half of full scale.
pub fn tone(sample_rate: u32, seconds: f64) -> Vec<i16> {
    let frames = (f64::from(sample_rate) * seconds).round() as usize;
    let step = 440.0 * std::f64::consts::TAU / f64::from(sample_rate);
    (0..frames).map(|at| (16_384.0 * (at as f64 * step).sin()) as i16).collect()
}

/// Weaves channels of equal length into frames.
pub fn interleave(channels: &[Vec<i16>]) -> Vec<i16> {
    (0..channels[0].len()).flat_map(|at| channels.iter().map(move |channel| channel[at])).collect()
}

/// Samples as bytes.
pub fn little(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// Samples as bytes, big end first.
pub fn big(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_be_bytes()).collect()
}

/// A wave file; `tag`, `bits` and `align` go into its header as they are.
pub fn wave_raw(tag: u16, channels: u16, sample_rate: u32, align: u16, bits: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    bytes.extend(tag.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(sample_rate.to_le_bytes());
    bytes.extend((sample_rate.wrapping_mul(u32::from(align))).to_le_bytes());
    bytes.extend(align.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    let size = (bytes.len() - 8) as u32;
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// A wave file of 16-bit samples.
pub fn wave(sample_rate: u32, channels: &[Vec<i16>]) -> Vec<u8> {
    let count = channels.len() as u16;
    wave_raw(1, count, sample_rate, 2 * count, 16, &little(&interleave(channels)))
}

/// An element of Matroska.
pub fn ebml(id: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_vec();
    bytes.extend(((body.len() as u64) | 1 << 56).to_be_bytes());
    bytes.extend(body);
    bytes
}

/// An element of Matroska that holds a number.
pub fn ebml_number(id: &[u8], value: u64) -> Vec<u8> {
    ebml(id, &value.to_be_bytes())
}

/// A packet of a Matroska file: track, milliseconds, content.
pub struct Block {
    pub track: u8,
    pub time_ms: u64,
    pub data: Vec<u8>,
}

/// A Matroska file: track 1 is 16-bit mono, track 2 video; every block has its own cluster.
pub fn matroska(sample_rate: u32, blocks: &[Block]) -> Vec<u8> {
    let audio = [
        ebml(&[0xb5], &f64::from(sample_rate).to_be_bytes()),
        ebml_number(&[0x9f], 1),
        ebml_number(&[0x62, 0x64], 16),
    ];
    let first = [
        ebml_number(&[0xd7], 1),
        ebml_number(&[0x83], 2),
        ebml(&[0x86], b"A_PCM/INT/LIT"),
        ebml(&[0xe1], &audio.concat()),
    ];
    let second = [ebml_number(&[0xd7], 2), ebml_number(&[0x83], 1), ebml(&[0x86], b"V_VP8")];
    let tracks = [ebml(&[0xae], &first.concat()), ebml(&[0xae], &second.concat())];
    let mut segment = ebml(&[0x15, 0x49, 0xa9, 0x66], &ebml_number(&[0x2a, 0xd7, 0xb1], 1_000_000));
    segment.extend(ebml(&[0x16, 0x54, 0xae, 0x6b], &tracks.concat()));
    for block in blocks {
        let mut content = vec![0x80 | block.track, 0, 0, 0x80];
        content.extend(&block.data);
        let cluster = [ebml_number(&[0xe7], block.time_ms), ebml(&[0xa3], &content)];
        segment.extend(ebml(&[0x1f, 0x43, 0xb6, 0x75], &cluster.concat()));
    }
    let mut bytes = ebml(&[0x1a, 0x45, 0xdf, 0xa3], &ebml(&[0x42, 0x82], b"matroska"));
    bytes.extend(ebml(&[0x18, 0x53, 0x80, 0x67], &segment));
    bytes
}

/// A box of an MP4 file.
pub fn mp4_box(kind: &[u8; 4], parts: &[Vec<u8>]) -> Vec<u8> {
    let body = parts.concat();
    let mut bytes = (body.len() as u32 + 8).to_be_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(body);
    bytes
}

/// Numbers as bytes, big end first.
pub fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// An entry of an edit list: length in milliseconds, first frame; -1 is a pause.
pub type Edit = (u32, i32);

/// A QuickTime file of 16-bit mono samples with an edit list; without `ftyp` and with its index
/// at the end, as old cameras write it. `has_video` adds an empty video track.
pub fn quicktime(sample_rate: u32, samples: &[i16], edits: &[Edit], has_video: bool) -> Vec<u8> {
    let data = big(samples);
    let mut entry = vec![0; 6];
    entry.extend([0, 1]);
    entry.extend([0; 8]);
    entry.extend([0, 1, 0, 16, 0, 0, 0, 0]);
    entry.extend((sample_rate << 16).to_be_bytes());
    let stsd = mp4_box(b"stsd", &[words(&[0, 1]), mp4_box(b"twos", &[entry])]);
    let frames = samples.len() as u32;
    let stbl = mp4_box(
        b"stbl",
        &[
            stsd,
            mp4_box(b"stts", &[words(&[0, 1, frames, 1])]),
            mp4_box(b"stsc", &[words(&[0, 1, 1, frames, 1])]),
            mp4_box(b"stsz", &[words(&[0, 1, frames])]),
            mp4_box(b"stco", &[words(&[0, 1, 8])]),
        ],
    );
    let minf = mp4_box(b"minf", &[stbl]);
    let hdlr = mp4_box(b"hdlr", &[words(&[0, 0]), b"soun".to_vec(), words(&[0, 0, 0])]);
    let mdhd = mp4_box(b"mdhd", &[words(&[0, 0, 0, sample_rate, frames, 0])]);
    let rows: Vec<u8> =
        edits.iter().flat_map(|(length, start)| words(&[*length, start.cast_unsigned(), 0x1_0000])).collect();
    let edts = mp4_box(b"edts", &[mp4_box(b"elst", &[words(&[0, edits.len() as u32]), rows])]);
    let tkhd = mp4_box(b"tkhd", &[words(&[1, 0, 0, 1, 0, 0])]);
    let trak = mp4_box(b"trak", &[tkhd, edts, mp4_box(b"mdia", &[mdhd, hdlr, minf])]);
    let mvhd = mp4_box(b"mvhd", &[words(&[0, 0, 0, 1000, 0])]);
    let video_minf = mp4_box(b"minf", &[mp4_box(b"vmhd", &[words(&[0, 0, 0])])]);
    let video = mp4_box(b"trak", &[mp4_box(b"mdia", &[video_minf])]);
    let moov =
        if has_video { mp4_box(b"moov", &[mvhd, video, trak]) } else { mp4_box(b"moov", &[mvhd, trak]) };
    [mp4_box(b"mdat", &[data]), moov].concat()
}

/// A Core Audio file of 16-bit samples.
pub fn caf(sample_rate: u32, channels: u32, samples: &[i16]) -> Vec<u8> {
    // Flag 2: little endian.
    caf_raw(sample_rate, b"lpcm", &[2, 2 * channels, 1, channels, 16], &little(samples))
}

/// A Core Audio file; `layout` is flags, bytes and frames of a packet, channels and bits.
pub fn caf_raw(sample_rate: u32, codec: &[u8; 4], layout: &[u32; 5], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"caff\0\x01\0\0desc".to_vec();
    bytes.extend(32u64.to_be_bytes());
    bytes.extend(f64::from(sample_rate).to_be_bytes());
    bytes.extend(codec);
    bytes.extend(words(layout));
    bytes.extend(b"data");
    bytes.extend((data.len() as u64 + 4).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(data);
    bytes
}

/// An AIFF file of 16-bit samples at 16 kHz.
pub fn aiff(channels: u16, samples: &[i16]) -> Vec<u8> {
    let data = big(samples);
    let mut comm = channels.to_be_bytes().to_vec();
    comm.extend((samples.len() as u32 / u32::from(channels)).to_be_bytes());
    comm.extend(16u16.to_be_bytes());
    // 16,000 as an 80-bit float.
    comm.extend([0x40, 0x0c, 0xfa, 0, 0, 0, 0, 0, 0, 0]);
    let ssnd = [words(&[0, 0]), data].concat();
    let chunks = [iff_chunk(b"COMM", &comm), iff_chunk(b"SSND", &ssnd)].concat();
    iff_chunk(b"FORM", &[b"AIFF".to_vec(), chunks].concat())
}

/// A chunk of an IFF file: type, then size, both big end first.
pub fn iff_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}
