//! Conversion of faster-whisper folders, all forms and sizes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use tympan::modelfile::{ModelFileError, ModelsFolder, Silent, Weights, check, import};

use crate::synthetic::{Array, Form, Ggml, STATE, Synthetic};

/// Imports a made-up folder; the temporary folder keeps the result alive.
fn convert(
    made: Synthetic,
    arrays: &BTreeMap<String, Array>,
    weights: Weights,
) -> Result<(TempDir, PathBuf), ModelFileError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = folder.path().join("faster-whisper-mini");
    made.write(&source, arrays);
    let models = ModelsFolder::new(folder.path().join("models"));
    let installed = import(&models, &source, None, Some(weights), &Silent)?;
    Ok((folder, installed.path))
}

fn convert_f16(made: Synthetic) -> Ggml {
    let (_folder, path) = convert(made, &made.arrays(), Weights::F16).expect("converted");
    check(&path).expect("what was converted is usable");
    Ggml::parse(&fs::read(path).expect("read"))
}

fn rows(array: &Array, from: usize, to: usize) -> &[f32] {
    let row = array.values.len() / array.dims[0];
    &array.values[from * row..to * row]
}

#[test]
fn f16_values_arrive_unchanged_in_their_places() {
    let made = Synthetic::MULTILINGUAL;
    let arrays = made.arrays();
    let ggml = convert_f16(made);
    assert_eq!(ggml.header, [51865, 1500, 64, 1, 1, 448, 64, 1, 1, 80, 1]);
    assert_eq!(ggml.tensors.len(), 11 + 15 + 24);
    let own = "decoder/layer_0/self_attention/linear_0/weight";
    let cross = "decoder/layer_0/attention/linear_1";
    for (name, variable, from, to) in [
        ("encoder.conv1.weight", "encoder/conv1/weight", 0, STATE),
        ("encoder.conv2.bias", "encoder/conv2/bias", 0, STATE),
        ("encoder.positional_embedding", "encoder/position_encodings/encodings", 0, 1500),
        ("decoder.token_embedding.weight", "decoder/embeddings/weight", 0, 51865),
        ("decoder.blocks.0.attn.query.weight", own, 0, STATE),
        ("decoder.blocks.0.attn.key.weight", own, STATE, 2 * STATE),
        ("decoder.blocks.0.attn.value.weight", own, 2 * STATE, 3 * STATE),
        ("decoder.blocks.0.attn.value.bias", "decoder/layer_0/self_attention/linear_0/bias", 128, 192),
        ("decoder.blocks.0.cross_attn.key.weight", &format!("{cross}/weight"), 0, STATE),
        ("decoder.blocks.0.cross_attn.value.weight", &format!("{cross}/weight"), STATE, 2 * STATE),
        ("decoder.blocks.0.cross_attn.value.bias", &format!("{cross}/bias"), STATE, 2 * STATE),
        ("decoder.blocks.0.cross_attn.out.weight", "decoder/layer_0/attention/linear_2/weight", 0, STATE),
        ("encoder.blocks.0.mlp.2.weight", "encoder/layer_0/ffn/linear_1/weight", 0, STATE),
        ("encoder.blocks.0.mlp_ln.bias", "encoder/layer_0/ffn/layer_norm/beta", 0, STATE),
        ("decoder.ln.weight", "decoder/layer_norm/gamma", 0, STATE),
    ] {
        assert_eq!(ggml.tensors[name].values(), rows(&arrays[variable], from, to), "{name}");
    }
    assert_eq!(ggml.tensors["encoder.conv1.bias"].dims, [STATE, 1]);
    assert!(!ggml.tensors.contains_key("decoder.blocks.0.attn.key.bias"));
}

#[test]
fn vocabulary_becomes_bytes_for_every_size() {
    for (vocabulary, mels, vocabulary_is_json, tokens) in
        [(51865, 80, true, 50257), (51864, 80, false, 50256), (51866, 128, true, 50257)]
    {
        let ggml = convert_f16(Synthetic { vocabulary, mels, vocabulary_is_json, ..Synthetic::MULTILINGUAL });
        assert_eq!((ggml.header[0], ggml.header[9]), (vocabulary as u32, mels as u32));
        assert_eq!((ggml.tokens.len(), ggml.filters.len()), (tokens, mels * 201));
        assert_eq!(ggml.tokens[..3], [b" ".to_vec(), "×".as_bytes().to_vec(), b" t2".to_vec()]);
        assert_eq!(ggml.tokens[50256 - usize::from(tokens == 50256)].is_empty(), tokens == 50257);
    }
}

#[test]
fn other_float_forms_and_versions_give_the_same_model() {
    let expected = convert_f16(Synthetic::MULTILINGUAL).tensors;
    for version in [4, 5] {
        assert_eq!(convert_f16(Synthetic { version, ..Synthetic::MULTILINGUAL }).tensors, expected);
    }
    assert_eq!(convert_f16(Synthetic { form: Form::F32, ..Synthetic::MULTILINGUAL }).tensors, expected);
    let coarse = convert_f16(Synthetic { form: Form::Bf16, ..Synthetic::MULTILINGUAL }).tensors;
    for (name, tensor) in &coarse {
        for (found, exact) in tensor.values().iter().zip(expected[name].values()) {
            assert!((found - exact).abs() <= exact.abs() / 256.0, "{name}: {found} and {exact}");
        }
    }
}

#[test]
fn integers_are_divided_by_their_scales() {
    let exact = convert_f16(Synthetic::MULTILINGUAL).tensors;
    for (form, steps) in [(Form::Int8, 127.0), (Form::Int16, 1024.0)] {
        let found = convert_f16(Synthetic { form, ..Synthetic::MULTILINGUAL }).tensors;
        assert_eq!(found.len(), exact.len());
        for (name, tensor) in &found {
            // The made-up values lie between -0.5 and 0.5; f16 adds its own rounding.
            let tolerance = 0.5 / steps / 2.0 + 0.0005;
            for (found, exact) in tensor.values().iter().zip(exact[name].values()) {
                assert!((found - exact).abs() <= tolerance, "{form:?} {name}: {found} and {exact}");
            }
        }
        assert_eq!(found["decoder.ln.bias"], exact["decoder.ln.bias"]);
        assert_ne!(
            found["decoder.token_embedding.weight"].bytes,
            exact["decoder.token_embedding.weight"].bytes
        );
    }
}

#[test]
fn quantising_a_folder_equals_quantising_its_f16_file() {
    let made = Synthetic::MULTILINGUAL;
    let arrays = made.arrays();
    let (folder, f16) = convert(made, &arrays, Weights::F16).expect("converted");
    let models = ModelsFolder::new(folder.path().join("again"));
    for (weights, code) in [(Weights::Q8_0, 8), (Weights::Q5_1, 7)] {
        let (_other, direct) = convert(made, &arrays, weights).expect("converted");
        let again = import(&models, &f16, None, Some(weights), &Silent).expect("quantised").path;
        let bytes = fs::read(&direct).expect("read");
        assert!(bytes == fs::read(&again).expect("read"), "{weights:?} differs");
        assert_eq!(check(&direct).expect("usable").weights, weights);
        let ggml = Ggml::parse(&bytes);
        assert_eq!(ggml.tensors["decoder.token_embedding.weight"].type_code, code);
        assert_eq!(ggml.tensors["encoder.conv1.weight"].type_code, 1);
        assert_eq!(ggml.tensors["decoder.positional_embedding"].type_code, 0);
        let error = import(&models, &direct, Some("x"), Some(Weights::F16), &Silent).expect_err("refused");
        assert!(matches!(error, ModelFileError::CannotQuantize { .. }), "{error}");
    }
}

#[test]
fn alignment_heads_of_the_original_config_are_kept() {
    let made = Synthetic::MULTILINGUAL;
    let (folder, path) = convert(made, &made.arrays(), Weights::Q8_0).expect("converted");
    assert_eq!(check(&path).expect("usable").alignment_heads, [(0, 0)]);
    let models = ModelsFolder::new(folder.path().join("copied"));
    let copy = import(&models, &path, Some("copy"), None, &Silent).expect("copied");
    assert_eq!(copy.info.expect("usable").alignment_heads, [(0, 0)]);
    assert_eq!(copy.path.file_name().and_then(|name| name.to_str()), Some("ggml-copy-q8_0.bin"));
    assert_eq!(fs::read(&path).expect("read"), fs::read(&copy.path).expect("read"));
}

/// Spoils one of the arrays of a model.
type Damage = fn(&mut BTreeMap<String, Array>);

#[test]
fn folders_that_cannot_be_converted_are_refused_with_the_reason() {
    let made = Synthetic::MULTILINGUAL;
    let arrays = made.arrays();
    let cases: [(&str, &str, Damage); 5] = [
        ("a bias of attention keys", "bias that ggml cannot hold", |arrays| {
            arrays.get_mut("encoder/layer_0/self_attention/linear_0/bias").expect("made").values[70] = 0.1;
        }),
        ("not a finite number", "infinite weight", |arrays| {
            arrays.get_mut("decoder/embeddings/weight").expect("made").values[9] = f32::INFINITY;
        }),
        ("is missing", "missing array", |arrays| {
            arrays.remove("decoder/layer_0/attention/linear_2/weight");
        }),
        ("has the shape", "array of another shape", |arrays| {
            arrays.get_mut("encoder/layer_norm/beta").expect("made").dims = vec![32, 2];
        }),
        ("output layer of its own", "untied output", |arrays| {
            let output = arrays["encoder/layer_norm/beta"].clone();
            arrays.insert("decoder/projection/weight".to_owned(), output);
        }),
    ];
    for (expected, case, damage) in cases {
        let mut damaged = arrays.clone();
        damage(&mut damaged);
        // An alias wins over an array of the same name, so this case drops the alias.
        let error =
            convert_without_alias(made, &damaged, case == "untied output").expect_err(case).to_string();
        assert!(error.contains(expected), "{case}: {error}");
    }
    for version in [3, 7] {
        let error = convert(Synthetic { version, ..made }, &arrays, Weights::F16).expect_err("refused");
        assert!(error.to_string().contains(&format!("version {version}")), "{error}");
    }
}

fn convert_without_alias(
    made: Synthetic,
    arrays: &BTreeMap<String, Array>,
    drop_alias: bool,
) -> Result<(), ModelFileError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = folder.path().join("model");
    made.write(&source, arrays);
    if drop_alias {
        let path = source.join("model.bin");
        let mut bytes = fs::read(&path).expect("read");
        let alias_bytes = 4 + 2 * (2 + 26);
        bytes.truncate(bytes.len() - alias_bytes);
        bytes.extend(0u32.to_le_bytes());
        fs::write(path, bytes).expect("written");
    }
    let models = ModelsFolder::new(folder.path().join("models"));
    import(&models, &source, None, None, &Silent).map(drop)
}

#[test]
fn vocabularies_of_other_models_are_refused() {
    let made = Synthetic::MULTILINGUAL;
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = folder.path().join("model");
    made.write(&source, &made.arrays());
    let models = ModelsFolder::new(folder.path().join("models"));
    for text in ["", "[1, 2]", "[\"a\", \"b\"]", "{}", "\u{0}"] {
        fs::write(source.join("vocabulary.json"), text).expect("written");
        let error = import(&models, &source, None, None, &Silent).expect_err("refused").to_string();
        assert!(error.contains("vocabulary"), "{error}");
    }
    fs::remove_file(source.join("vocabulary.json")).expect("removed");
    let error = import(&models, &source, None, None, &Silent).expect_err("refused").to_string();
    assert!(error.contains("vocabulary"), "{error}");
    assert!(models.list().expect("listed").is_empty(), "nothing is left behind");
}
