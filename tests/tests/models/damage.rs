//! Damaged files: each ends in one sentence, never in a panic or a large allocation.

use std::fs;

use tympan::modelfile::{
    Architecture, Fault, ModelsFolder, Silent, Weights, check_bytes, check_ctranslate2_bytes, import,
};

use crate::synthetic::{Ggml, Synthetic};

fn ggml_file(weights: Weights) -> Vec<u8> {
    let made = Synthetic::MULTILINGUAL;
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = folder.path().join("mini");
    made.write(&source, &made.arrays());
    let models = ModelsFolder::new(folder.path().join("models"));
    let path = import(&models, &source, None, Some(weights), &Silent).expect("converted").path;
    fs::read(path).expect("read")
}

/// Entry for fuzzers: any bytes as a ggml file.
fn fuzz_ggml(bytes: &[u8]) -> bool {
    match check_bytes(bytes) {
        Ok(info) => info.size_bytes == bytes.len() as u64,
        Err(fault) => !fault.to_string().is_empty() && !fault.to_string().contains('\n'),
    }
}

/// Entry for fuzzers: any bytes as CTranslate2's model.bin.
fn fuzz_ctranslate2(bytes: &[u8]) -> bool {
    let outcome: Result<Architecture, Fault> = check_ctranslate2_bytes(bytes);
    outcome.map_or_else(|fault| !fault.to_string().contains('\n'), |sizes| sizes.state > 0)
}

/// Numbers that follow each other without repeating soon.
fn numbers(count: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..count).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    })
}

#[test]
fn every_cut_of_a_ggml_file_is_refused() {
    for weights in Weights::ALL {
        let bytes = ggml_file(weights);
        assert!(check_bytes(&bytes).is_ok());
        let ggml = Ggml::parse(&bytes);
        let mut cuts =
            (0..64).chain([ggml.tokens_at - 1, ggml.tokens_at + 3, ggml.tokens_at + 50]).collect::<Vec<_>>();
        for tensor in ggml.tensors.values() {
            let (head, values) = (tensor.head_at, tensor.values_at);
            cuts.extend([head, head + 3, head + 12, head + 17, values - 1, values, values + 1]);
            cuts.push(values + tensor.bytes.len() - 1);
        }
        for cut in cuts {
            assert!(check_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(matches!(check_bytes(&longer), Err(Fault::Trailing { extra_bytes: 1 })));
    }
}

#[test]
fn a_changed_bit_in_any_byte_of_the_structure_is_refused() {
    let mut bytes = ggml_file(Weights::Q8_0);
    let ggml = Ggml::parse(&bytes);
    let structure = (0..56).chain(ggml.tokens_at..ggml.tokens_at + 8);
    let heads = ggml.tensors.values().flat_map(|tensor| tensor.head_at..tensor.values_at);
    for at in structure.chain(heads).collect::<Vec<_>>() {
        let bit = at % 8;
        bytes[at] ^= 1 << bit;
        assert!(check_bytes(&bytes).is_err(), "bit {bit} of byte {at}");
        bytes[at] ^= 1 << bit;
    }
}

#[test]
fn huge_numbers_allocate_nothing() {
    let mut bytes = ggml_file(Weights::F16);
    let ggml = Ggml::parse(&bytes);
    let head = ggml.tensors["encoder.conv1.weight"].head_at;
    let fields =
        (4..56).step_by(4).chain([ggml.tokens_at, ggml.tokens_at + 4]).chain((head..head + 24).step_by(4));
    for at in fields.collect::<Vec<_>>() {
        let kept: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
        for huge in [u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x4000_0000, 0] {
            bytes[at..at + 4].copy_from_slice(&huge.to_le_bytes());
            assert!(check_bytes(&bytes).is_err(), "{huge:#x} at {at}");
        }
        bytes[at..at + 4].copy_from_slice(&kept);
    }
}

#[test]
fn random_changes_never_panic() {
    let mut ggml = ggml_file(Weights::Q5_1);
    let made = Synthetic::MULTILINGUAL;
    let mut ct2 = made.model_bin(&made.arrays());
    // Most bytes are values, so half of the changes go to the start of the files.
    for (turn, number) in numbers(400).enumerate() {
        for (bytes, fuzz) in [(&mut ggml, fuzz_ggml as fn(&[u8]) -> bool), (&mut ct2, fuzz_ctranslate2)] {
            let reach = if turn % 2 == 0 { bytes.len() } else { 4096 };
            let at = number % reach;
            let kept = bytes[at];
            bytes[at] = (number >> 8) as u8;
            assert!(fuzz(bytes));
            bytes[at] = kept;
            assert!(fuzz(&bytes[number % 5000..]));
        }
    }
}

#[test]
fn foreign_bytes_are_refused() {
    let gguf = [b"GGUF".as_slice(), &[0; 400]].concat();
    let riff = [b"RIFF".as_slice(), &[1; 9000]].concat();
    let noise = numbers(50_000).map(|number| number as u8).collect::<Vec<_>>();
    for bytes in [&[][..], b"lmg", b"lmgg", b"<html>", &gguf, &riff, &noise, &[0; 100_000], &[255; 100_000]] {
        assert!(check_bytes(bytes).is_err() && fuzz_ggml(bytes));
        assert!(check_ctranslate2_bytes(bytes).is_err() && fuzz_ctranslate2(bytes));
    }
    assert!(matches!(check_bytes(&gguf), Err(Fault::NotGgml)));
}

#[test]
fn tensors_twice_missing_or_of_another_type_are_refused() {
    let bytes = ggml_file(Weights::F16);
    let ggml = Ggml::parse(&bytes);
    let last = ggml.tensors.values().max_by_key(|tensor| tensor.head_at).expect("there are tensors");
    let missing = &bytes[..last.head_at];
    assert!(matches!(check_bytes(missing), Err(Fault::Missing { .. })));
    let twin = ggml.tensors["decoder.blocks.0.mlp.2.weight"].clone();
    let twin = &bytes[twin.head_at..twin.values_at + twin.bytes.len()];
    assert!(matches!(check_bytes(&[missing, twin].concat()), Err(Fault::Twice { .. })));
    let mut wrong_type = bytes.clone();
    // An i16 is as long as an f16, so that the length would not tell.
    wrong_type[ggml.tensors["decoder.token_embedding.weight"].head_at + 8] = 25;
    assert!(matches!(check_bytes(&wrong_type), Err(Fault::TensorType { .. })));
    let mut not_finite = bytes;
    not_finite[56 + 400..56 + 404].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(check_bytes(&not_finite), Err(Fault::NotFinite { .. })));
}

#[test]
fn every_cut_of_a_model_bin_is_refused() {
    let made = Synthetic::MULTILINGUAL;
    let bytes = made.model_bin(&made.arrays());
    assert!(check_ctranslate2_bytes(&bytes).is_ok());
    let alias_bytes = 4 + 2 * (2 + 26);
    let cuts =
        (0..300).chain(bytes.len() - alias_bytes..bytes.len()).chain(numbers(500).map(|at| at % bytes.len()));
    for cut in cuts {
        assert!(check_ctranslate2_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..60 {
        let mut huge = bytes.clone();
        huge[at..at + 4].copy_from_slice(&[255; 4]);
        assert!(check_ctranslate2_bytes(&huge).is_err(), "at {at}");
    }
}
