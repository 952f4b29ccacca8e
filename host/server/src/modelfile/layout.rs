//! Every tensor of a Whisper model: its name and shape in a ggml file, and where a
//! CTranslate2 model keeps it.

use super::architecture::{AUDIO_POSITIONS, Architecture, TEXT_POSITIONS};

/// What a tensor is for, which decides how its values may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Biases, norms, position tables: always f32.
    Exact,
    /// Kernels of the two convolutions: always f16.
    Kernel,
    /// Everything else: f16 or quantised.
    Matrix,
}

/// Rows of a CTranslate2 variable: part `index` of `of` equal parts. CTranslate2 keeps
/// query, key and value in one matrix, ggml in three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    pub variable: String,
    pub index: u32,
    pub of: u32,
}

/// One tensor.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    /// Name in the ggml file.
    pub name: String,
    /// Sizes, slowest first: rows, then columns.
    pub dims: Vec<u32>,
    pub role: Role,
    pub rows: Rows,
}

impl Tensor {
    /// Number of values.
    pub fn values(&self) -> u64 {
        self.dims.iter().map(|dim| u64::from(*dim)).product()
    }
}

/// All tensors in the order in which this crate writes them.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub tensors: Vec<Tensor>,
    /// Biases of the keys: Whisper has none, CTranslate2 stores zeros, ggml has no place.
    pub zero_biases: Vec<Rows>,
}

impl Layout {
    /// The tensors of a model of these sizes.
    pub fn new(sizes: &Architecture) -> Self {
        let mut layout = Self::default();
        let state = sizes.state;
        layout.exact(
            "encoder.positional_embedding",
            vec![AUDIO_POSITIONS, state],
            "encoder/position_encodings/encodings",
        );
        layout.convolution("conv1", sizes.mels, state);
        layout.convolution("conv2", state, state);
        layout.norm("encoder.ln_post", "encoder/layer_norm", state);
        for index in 0..sizes.audio_layers {
            layout.encoder_block(index, state);
        }
        layout.exact(
            "decoder.positional_embedding",
            vec![TEXT_POSITIONS, state],
            "decoder/position_encodings/encodings",
        );
        layout.add(
            "decoder.token_embedding.weight".to_owned(),
            vec![sizes.vocabulary, state],
            Role::Matrix,
            whole("decoder/embeddings/weight".to_owned()),
        );
        layout.norm("decoder.ln", "decoder/layer_norm", state);
        for index in 0..sizes.text_layers {
            layout.decoder_block(index, state);
        }
        layout
    }

    fn encoder_block(&mut self, index: u32, state: u32) {
        let ggml = format!("encoder.blocks.{index}");
        let ct2 = format!("encoder/layer_{index}");
        self.self_attention(&ggml, &ct2, state);
        self.feed_forward(&ggml, &ct2, state);
    }

    fn decoder_block(&mut self, index: u32, state: u32) {
        let ggml = format!("decoder.blocks.{index}");
        let ct2 = format!("decoder/layer_{index}");
        self.self_attention(&ggml, &ct2, state);
        self.cross_attention(&ggml, &ct2, state);
        self.feed_forward(&ggml, &ct2, state);
    }

    fn self_attention(&mut self, ggml: &str, ct2: &str, state: u32) {
        let fused = format!("{ct2}/self_attention/linear_0");
        let square = [state, state];
        self.norm(&format!("{ggml}.attn_ln"), &format!("{ct2}/self_attention/layer_norm"), state);
        self.linear(&format!("{ggml}.attn.query"), &fused, square, 0, 3);
        self.linear_without_bias(&format!("{ggml}.attn.key"), &fused, square, 1, 3);
        self.linear(&format!("{ggml}.attn.value"), &fused, square, 2, 3);
        self.linear(&format!("{ggml}.attn.out"), &format!("{ct2}/self_attention/linear_1"), square, 0, 1);
    }

    fn cross_attention(&mut self, ggml: &str, ct2: &str, state: u32) {
        let fused = format!("{ct2}/attention/linear_1");
        let square = [state, state];
        self.norm(&format!("{ggml}.cross_attn_ln"), &format!("{ct2}/attention/layer_norm"), state);
        self.linear(&format!("{ggml}.cross_attn.query"), &format!("{ct2}/attention/linear_0"), square, 0, 1);
        self.linear_without_bias(&format!("{ggml}.cross_attn.key"), &fused, square, 0, 2);
        self.linear(&format!("{ggml}.cross_attn.value"), &fused, square, 1, 2);
        self.linear(&format!("{ggml}.cross_attn.out"), &format!("{ct2}/attention/linear_2"), square, 0, 1);
    }

    fn feed_forward(&mut self, ggml: &str, ct2: &str, state: u32) {
        let wide = 4 * state;
        self.norm(&format!("{ggml}.mlp_ln"), &format!("{ct2}/ffn/layer_norm"), state);
        self.linear(&format!("{ggml}.mlp.0"), &format!("{ct2}/ffn/linear_0"), [wide, state], 0, 1);
        self.linear(&format!("{ggml}.mlp.2"), &format!("{ct2}/ffn/linear_1"), [state, wide], 0, 1);
    }

    fn convolution(&mut self, name: &str, inputs: u32, state: u32) {
        let kernel = whole(format!("encoder/{name}/weight"));
        self.add(format!("encoder.{name}.weight"), vec![state, inputs, 3], Role::Kernel, kernel);
        // whisper.cpp adds this bias to a matrix with one column per output.
        self.exact(&format!("encoder.{name}.bias"), vec![state, 1], &format!("encoder/{name}/bias"));
    }

    fn norm(&mut self, ggml: &str, ct2: &str, state: u32) {
        self.exact(&format!("{ggml}.weight"), vec![state], &format!("{ct2}/gamma"));
        self.exact(&format!("{ggml}.bias"), vec![state], &format!("{ct2}/beta"));
    }

    fn linear(&mut self, ggml: &str, ct2: &str, dims: [u32; 2], index: u32, of: u32) {
        let weight = Rows { variable: format!("{ct2}/weight"), index, of };
        let bias = Rows { variable: format!("{ct2}/bias"), index, of };
        self.add(format!("{ggml}.weight"), dims.to_vec(), Role::Matrix, weight);
        self.add(format!("{ggml}.bias"), vec![dims[0]], Role::Exact, bias);
    }

    fn linear_without_bias(&mut self, ggml: &str, ct2: &str, dims: [u32; 2], index: u32, of: u32) {
        let weight = Rows { variable: format!("{ct2}/weight"), index, of };
        self.add(format!("{ggml}.weight"), dims.to_vec(), Role::Matrix, weight);
        self.zero_biases.push(Rows { variable: format!("{ct2}/bias"), index, of });
    }

    fn exact(&mut self, ggml: &str, dims: Vec<u32>, ct2: &str) {
        self.add(ggml.to_owned(), dims, Role::Exact, whole(ct2.to_owned()));
    }

    fn add(&mut self, name: String, dims: Vec<u32>, role: Role, rows: Rows) {
        self.tensors.push(Tensor { name, dims, role, rows });
    }
}

fn whole(variable: String) -> Rows {
    Rows { variable, index: 0, of: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_has_245_tensors_with_names_of_their_own() {
        let layout = Layout::new(&Architecture {
            vocabulary: 51865,
            state: 512,
            audio_heads: 8,
            audio_layers: 6,
            text_heads: 8,
            text_layers: 6,
            mels: 80,
        });
        let names =
            layout.tensors.iter().map(|tensor| &tensor.name).collect::<std::collections::HashSet<_>>();
        assert_eq!((layout.tensors.len(), names.len()), (245, 245));
        assert_eq!(layout.zero_biases.len(), 18);
        let values = layout.tensors.iter().map(Tensor::values).sum::<u64>();
        assert_eq!(values, 72_593_920, "parameters of the published base model");
    }
}
