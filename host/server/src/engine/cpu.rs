//! Whether this processor can run this build.

use super::EngineError;

/// `ON`: whisper.cpp was compiled for whatever the building machine has (`make build NATIVE=1`).
const NATIVE: Option<&str> = option_env!("GGML_NATIVE");

/// whisper.cpp is compiled for these instruction sets (`.cargo/config.toml`); on a
/// processor without them it would end the process at its first call.
pub fn check() -> Result<(), EngineError> {
    let missing = if NATIVE == Some("ON") { Vec::new() } else { missing() };
    if missing.is_empty() { Ok(()) } else { Err(EngineError::Cpu { missing: missing.join(", ") }) }
}

#[cfg(target_arch = "x86_64")]
fn missing() -> Vec<&'static str> {
    let sets = [
        ("AVX2", std::is_x86_feature_detected!("avx2")),
        ("FMA", std::is_x86_feature_detected!("fma")),
        ("F16C", std::is_x86_feature_detected!("f16c")),
        ("BMI2", std::is_x86_feature_detected!("bmi2")),
    ];
    sets.into_iter().filter(|(_, present)| !present).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn missing() -> Vec<&'static str> {
    Vec::new()
}

/// What computes the large products of matrices, for the log.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn products() -> &'static str {
    tympan_matmul::in_use()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn products() -> &'static str {
    "whisper.cpp's own"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_what_is_missing_and_the_way_out() {
        let error = EngineError::Cpu { missing: "AVX2, FMA".to_owned() };
        assert!(error.to_string().contains("AVX2, FMA"));
        assert!(error.to_string().contains("make build NATIVE=1"));
    }
}
