//! Which instructions this processor has.

pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

pub fn has_avx512() -> bool {
    has_avx2() && is_x86_feature_detected!("avx512f")
}

pub fn has_vnni() -> bool {
    has_avx512() && is_x86_feature_detected!("avx512vnni")
}

/// The instructions that are used on this processor, in its maker's words; for the log.
pub fn in_use() -> &'static str {
    match () {
        () if has_vnni() => "AVX-512 VNNI",
        () if has_avx512() => "AVX-512",
        () if has_avx2() => "AVX2",
        () => "whisper.cpp's own",
    }
}
