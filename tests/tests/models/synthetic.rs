//! A Whisper model of the smallest possible size with made-up weights, as a faster-whisper
//! folder, and a reader of ggml files that shares nothing with the one under test.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use half::{bf16, f16};

pub const STATE: usize = 64;
const END_OF_TEXT: &str = "<|endoftext|>";

/// How the arrays of a folder are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    F32,
    F16,
    Bf16,
    Int8,
    Int16,
}

/// What to make.
#[derive(Debug, Clone, Copy)]
pub struct Synthetic {
    pub vocabulary: usize,
    pub mels: usize,
    pub form: Form,
    pub version: u32,
    pub vocabulary_is_json: bool,
}

impl Synthetic {
    /// Multilingual, as the packages are.
    pub const MULTILINGUAL: Self =
        Self { vocabulary: 51865, mels: 80, form: Form::F16, version: 6, vocabulary_is_json: true };

    pub fn end_of_text(&self) -> usize {
        if self.vocabulary >= 51865 { 50257 } else { 50256 }
    }

    /// The weights by CTranslate2's names; all exactly representable as f16.
    pub fn arrays(&self) -> BTreeMap<String, Array> {
        let mut made = Maker { arrays: BTreeMap::new(), state: 1 };
        made.add("encoder/conv1/weight", &[STATE, self.mels, 3]);
        made.add("encoder/conv1/bias", &[STATE]);
        made.add("encoder/conv2/weight", &[STATE, STATE, 3]);
        made.add("encoder/conv2/bias", &[STATE]);
        made.add("encoder/position_encodings/encodings", &[1500, STATE]);
        made.add("decoder/position_encodings/encodings", &[448, STATE]);
        made.add("decoder/embeddings/weight", &[self.vocabulary, STATE]);
        for half in ["encoder", "decoder"] {
            let layer = format!("{half}/layer_0");
            made.norm(&format!("{half}/layer_norm"));
            made.norm(&format!("{layer}/self_attention/layer_norm"));
            made.linear(&format!("{layer}/self_attention/linear_0"), 3 * STATE, STATE, Some(STATE));
            made.linear(&format!("{layer}/self_attention/linear_1"), STATE, STATE, None);
            made.norm(&format!("{layer}/ffn/layer_norm"));
            made.linear(&format!("{layer}/ffn/linear_0"), 4 * STATE, STATE, None);
            made.linear(&format!("{layer}/ffn/linear_1"), STATE, 4 * STATE, None);
        }
        made.norm("decoder/layer_0/attention/layer_norm");
        made.linear("decoder/layer_0/attention/linear_0", STATE, STATE, None);
        made.linear("decoder/layer_0/attention/linear_1", 2 * STATE, STATE, Some(0));
        made.linear("decoder/layer_0/attention/linear_2", STATE, STATE, None);
        made.arrays
    }

    /// `model.bin` with these arrays.
    pub fn model_bin(&self, arrays: &BTreeMap<String, Array>) -> Vec<u8> {
        let mut bytes = self.version.to_le_bytes().to_vec();
        put_text(&mut bytes, "WhisperSpec");
        bytes.extend(3u32.to_le_bytes());
        let mut body = Vec::new();
        let mut count = 0u32;
        for (name, array) in arrays {
            count += self.put_array(&mut body, name, array);
        }
        for name in ["encoder/num_heads", "decoder/num_heads"] {
            put_raw(&mut body, name, &[], 2, &1i16.to_le_bytes());
            count += 1;
        }
        bytes.extend(count.to_le_bytes());
        bytes.extend(body);
        bytes.extend(1u32.to_le_bytes());
        put_text(&mut bytes, "decoder/projection/weight");
        put_text(&mut bytes, "decoder/embeddings/weight");
        bytes
    }

    /// A whole faster-whisper folder.
    pub fn write(&self, folder: &Path, arrays: &BTreeMap<String, Array>) {
        fs::create_dir_all(folder).expect("folder made");
        fs::write(folder.join("model.bin"), self.model_bin(arrays)).expect("model written");
        fs::write(folder.join("config.json"), r#"{"alignment_heads": [[0, 0]], "lang_ids": []}"#)
            .expect("written");
        let tokens = self.tokens();
        let (name, text) = match self.vocabulary_is_json {
            true => ("vocabulary.json", serde_json::to_string(&tokens).expect("plain texts")),
            false => ("vocabulary.txt", tokens.join("\n")),
        };
        fs::write(folder.join(name), text).expect("vocabulary written");
    }

    /// Token 0 is a space in GPT-2's alphabet, the last text token of a multilingual model
    /// is empty.
    fn tokens(&self) -> Vec<String> {
        let mut tokens = (0..self.end_of_text()).map(|id| format!("Ġt{id}")).collect::<Vec<_>>();
        tokens[0] = "Ġ".to_owned();
        tokens[1] = "ÃĹ".to_owned();
        if self.vocabulary >= 51865 {
            tokens[50256] = String::new();
        }
        tokens.push(END_OF_TEXT.to_owned());
        tokens.extend((tokens.len()..self.vocabulary).map(|id| format!("<|{id}|>")));
        tokens
    }

    fn put_array(&self, body: &mut Vec<u8>, name: &str, array: &Array) -> u32 {
        let values = &array.values;
        let is_weight = name.ends_with("/weight") && array.dims.len() > 1;
        match self.form {
            Form::F32 => put_raw(body, name, &array.dims, 0, &le(values, f32::to_le_bytes)),
            Form::Bf16 => {
                put_raw(body, name, &array.dims, 5, &le(values, |value| bf16::from_f32(value).to_le_bytes()))
            }
            Form::Int8 if is_weight => {
                let row = values.len() / array.dims[0];
                let scales = values.chunks(row).map(|row| 127.0 / largest(row)).collect::<Vec<_>>();
                let scaled = values.iter().enumerate().map(|(at, value)| value * scales[at / row]);
                let bytes = scaled.map(|value| value.round_ties_even() as i8 as u8).collect::<Vec<_>>();
                put_raw(body, name, &array.dims, 1, &bytes);
                put_raw(body, &format!("{name}_scale"), &[scales.len()], 0, &le(&scales, f32::to_le_bytes));
                return 2;
            }
            Form::Int16 if is_weight => {
                let scale = 1024.0 / largest(values);
                let bytes = le(values, |value| ((value * scale).round_ties_even() as i16).to_le_bytes());
                put_raw(body, name, &array.dims, 2, &bytes);
                put_raw(body, &format!("{name}_scale"), &[], 0, &scale.to_le_bytes());
                return 2;
            }
            _ => put_raw(body, name, &array.dims, 4, &le(values, |value| f16::from_f32(value).to_le_bytes())),
        }
        1
    }
}

/// One array, row by row.
#[derive(Debug, Clone)]
pub struct Array {
    pub dims: Vec<usize>,
    pub values: Vec<f32>,
}

struct Maker {
    arrays: BTreeMap<String, Array>,
    state: u32,
}

impl Maker {
    fn add(&mut self, name: &str, dims: &[usize]) {
        let values = (0..dims.iter().product()).map(|_| self.next()).collect();
        self.arrays.insert(name.to_owned(), Array { dims: dims.to_vec(), values });
    }

    fn norm(&mut self, name: &str) {
        self.add(&format!("{name}/gamma"), &[STATE]);
        self.add(&format!("{name}/beta"), &[STATE]);
    }

    /// `key_at`: where the bias of the keys starts, which Whisper does not have.
    fn linear(&mut self, name: &str, outputs: usize, inputs: usize, key_at: Option<usize>) {
        self.add(&format!("{name}/weight"), &[outputs, inputs]);
        self.add(&format!("{name}/bias"), &[outputs]);
        let bias = self.arrays.get_mut(&format!("{name}/bias")).expect("just added");
        if let Some(at) = key_at {
            bias.values[at..at + STATE].fill(0.0);
        }
    }

    fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f16::from_f32((self.state >> 8) as f32 / (1 << 24) as f32 - 0.5).to_f32()
    }
}

/// One tensor of a ggml file.
#[derive(Debug, Clone, PartialEq)]
pub struct GgmlTensor {
    pub dims: Vec<usize>,
    pub type_code: u32,
    pub bytes: Vec<u8>,
    /// Where its head starts in the file, and where its values do.
    pub head_at: usize,
    pub values_at: usize,
}

impl GgmlTensor {
    /// The values of an f32 or f16 tensor.
    pub fn values(&self) -> Vec<f32> {
        match self.type_code {
            0 => self.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            1 => self.bytes.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            other => panic!("type {other} has no plain values"),
        }
    }
}

/// A ggml file taken apart.
#[derive(Debug)]
pub struct Ggml {
    /// The eleven numbers after the mark.
    pub header: Vec<u32>,
    pub filters: Vec<f32>,
    pub tokens: Vec<Vec<u8>>,
    pub tokens_at: usize,
    pub tensors: BTreeMap<String, GgmlTensor>,
}

impl Ggml {
    pub fn parse(bytes: &[u8]) -> Self {
        let mut at = 0;
        let number = |at: &mut usize| {
            *at += 4;
            u32::from_le_bytes(bytes[*at - 4..*at].try_into().expect("four bytes"))
        };
        assert_eq!(number(&mut at), 0x6767_6d6c);
        let header = (0..11).map(|_| number(&mut at)).collect::<Vec<_>>();
        let filter_values = (number(&mut at) * number(&mut at)) as usize;
        let filters = (0..filter_values).map(|_| f32::from_bits(number(&mut at))).collect();
        let tokens_at = at;
        let mut tokens = Vec::new();
        for _ in 0..number(&mut at) {
            let size = number(&mut at) as usize;
            tokens.push(bytes[at..at + size].to_vec());
            at += size;
        }
        let mut tensors = BTreeMap::new();
        while at < bytes.len() {
            let head_at = at;
            let (rank, name_size, type_code) = (number(&mut at), number(&mut at) as usize, number(&mut at));
            let mut dims = (0..rank).map(|_| number(&mut at) as usize).collect::<Vec<_>>();
            dims.reverse();
            let name = String::from_utf8(bytes[at..at + name_size].to_vec()).expect("a name");
            at += name_size;
            let values = dims.iter().product::<usize>();
            let size = match type_code {
                0 => values * 4,
                1 => values * 2,
                7 => values / 32 * 24,
                8 => values / 32 * 34,
                other => panic!("type {other}"),
            };
            let tensor =
                GgmlTensor { dims, type_code, bytes: bytes[at..at + size].to_vec(), head_at, values_at: at };
            at += size;
            assert!(tensors.insert(name, tensor).is_none());
        }
        Self { header, filters, tokens, tokens_at, tensors }
    }
}

fn put_raw(body: &mut Vec<u8>, name: &str, dims: &[usize], code: u8, bytes: &[u8]) {
    put_text(body, name);
    body.push(dims.len() as u8);
    body.extend(dims.iter().flat_map(|dim| (*dim as u32).to_le_bytes()));
    body.push(code);
    body.extend((bytes.len() as u32).to_le_bytes());
    body.extend(bytes);
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16 + 1).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

fn le<const N: usize>(values: &[f32], encode: impl Fn(f32) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| encode(*value)).collect()
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()))
}
