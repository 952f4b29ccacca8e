//! What `pull` can fetch: names, sources and the digests that were seen there.
//!
//! A digest is written down only where it is known: those of the hub are the ones that it
//! publishes for [`HUB_REVISION`], those of packages and results were computed.

use super::weights::Weights;

/// Folder of the hub that carries whisper.cpp's files, at one revision: the files behind
/// it never change.
pub(super) const HUB_FOLDER: &str = "ggerganov/whisper.cpp/resolve/5359861c739e955e79d9a303bcbc70fb988958b1";

/// The model that is used where none is named.
pub const DEFAULT_MODEL: &str = "base";
/// How its weights are stored where nothing else is said.
pub const DEFAULT_WEIGHTS: Weights = Weights::Q8_0;

/// A model that can be pulled.
#[derive(Debug, Clone, Copy)]
pub struct CatalogEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it can transcribe, for `list`.
    pub languages: &'static str,
    /// Files of the hub; f16 always, so that every form can be made from it.
    pub hub: &'static [HubFile],
    /// Families of packages with the same weights; the next is tried where one fails.
    pub packages: &'static [PackageFamily],
    /// Digests of the ggml files made from the packages.
    pub results: &'static [(Weights, &'static str)],
}

/// One file of the hub.
#[derive(Debug, Clone, Copy)]
pub struct HubFile {
    pub weights: Weights,
    pub size_bytes: u64,
    /// Hex.
    pub sha256: &'static str,
}

/// Packages that together hold a faster-whisper folder.
#[derive(Debug, Clone, Copy)]
pub struct PackageFamily {
    pub parts: &'static [PackagePart],
}

/// One file of a package; parts with the same `target` are joined in order.
#[derive(Debug, Clone, Copy)]
pub struct PackagePart {
    pub package: &'static str,
    pub version: &'static str,
    /// Path inside the wheel.
    pub file: &'static str,
    /// Name in the faster-whisper folder.
    pub target: &'static str,
    pub size_bytes: u64,
    /// Hex.
    pub sha256: &'static str,
}

impl CatalogEntry {
    /// Finds a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        CATALOG.iter().find(|entry| entry.name == name)
    }

    /// The digest that the file made from packages must have.
    pub(super) fn result(&self, weights: Weights) -> Option<&'static str> {
        self.results.iter().find(|(form, _)| *form == weights).map(|(_, sha256)| *sha256)
    }
}

const fn hub(weights: Weights, size_bytes: u64, sha256: &'static str) -> HubFile {
    HubFile { weights, size_bytes, sha256 }
}

const MULTILINGUAL: &str = "99 languages";
const ENGLISH: &str = "English";

/// All models that can be pulled, small ones first.
pub static CATALOG: &[CatalogEntry] = &[
    CatalogEntry {
        name: "tiny",
        languages: MULTILINGUAL,
        hub: &[
            hub(Weights::F16, 77_691_713, "be07e048e1e599ad46341c8d2a135645097a538221678b7acdd1b1919c6e1b21"),
            hub(
                Weights::Q8_0,
                43_537_433,
                "c2085835d3f50733e2ff6e4b41ae8a2b8d8110461e18821b09a15c40c42d1cca",
            ),
            hub(
                Weights::Q5_1,
                32_152_673,
                "818710568da3ca15689e31a743197b520007872ff9576237bda97bd1b469c3d7",
            ),
        ],
        packages: &[],
        results: &[],
    },
    CatalogEntry {
        name: "tiny.en",
        languages: ENGLISH,
        hub: &[
            hub(Weights::F16, 77_704_715, "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f"),
            hub(
                Weights::Q8_0,
                43_550_795,
                "5bc2b3860aa151a4c6e7bb095e1fcce7cf12c7b020ca08dcec0c6d018bb7dd94",
            ),
            hub(
                Weights::Q5_1,
                32_166_155,
                "c77c5766f1cef09b6b7d47f21b546cbddd4157886b3b5d6d4f709e91e66c7c2b",
            ),
        ],
        packages: super::packaged::TINY_EN,
        results: super::packaged::TINY_EN_RESULTS,
    },
    CatalogEntry {
        name: "base",
        languages: MULTILINGUAL,
        hub: &[
            hub(
                Weights::F16,
                147_951_465,
                "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe",
            ),
            hub(
                Weights::Q8_0,
                81_768_585,
                "c577b9a86e7e048a0b7eada054f4dd79a56bbfa911fbdacf900ac5b567cbb7d9",
            ),
            hub(
                Weights::Q5_1,
                59_707_625,
                "422f1ae452ade6f30a004d7e5c6a43195e4433bc370bf23fac9cc591f01a8898",
            ),
        ],
        packages: super::packaged::BASE,
        results: super::packaged::BASE_RESULTS,
    },
    hub_only(
        "base.en",
        ENGLISH,
        &[hub(Weights::F16, 147_964_211, "a03779c86df3323075f5e796cb2ce5029f00ec8869eee3fdfb897afe36c6d002")],
    ),
    hub_only(
        "small",
        MULTILINGUAL,
        &[
            hub(
                Weights::F16,
                487_601_967,
                "1be3a9b2063867b937e64e2ec7483364a79917e157fa98c5d94b5c1fffea987b",
            ),
            hub(
                Weights::Q8_0,
                264_464_607,
                "49c8fb02b65e6049d5fa6c04f81f53b867b5ec9540406812c643f177317f779f",
            ),
            hub(
                Weights::Q5_1,
                190_085_487,
                "ae85e4a935d7a567bd102fe55afc16bb595bdb618e11b2fc7591bc08120411bb",
            ),
        ],
    ),
    hub_only(
        "small.en",
        ENGLISH,
        &[hub(Weights::F16, 487_614_201, "c6138d6d58ecc8322097e0f987c32f1be8bb0a18532a3f88f734d1bbf9c41e5d")],
    ),
    hub_only(
        "medium",
        MULTILINGUAL,
        &[
            hub(
                Weights::F16,
                1_533_763_059,
                "6c14d5adee5f86394037b4e4e8b59f1673b6cee10e3cf0b11bbdbee79c156208",
            ),
            hub(
                Weights::Q8_0,
                823_369_779,
                "42a1ffcbe4167d224232443396968db4d02d4e8e87e213d3ee2e03095dea6502",
            ),
        ],
    ),
    hub_only(
        "large-v2",
        MULTILINGUAL,
        &[
            hub(
                Weights::F16,
                3_094_623_691,
                "9a423fe4d40c82774b6af34115b8b935f34152246eb19e80e376071d3f999487",
            ),
            hub(
                Weights::Q8_0,
                1_656_129_691,
                "fef54e6d898246a65c8285bfa83bd1807e27fadf54d5d4e81754c47634737e8c",
            ),
        ],
    ),
    hub_only(
        "large-v3",
        "100 languages",
        &[hub(
            Weights::F16,
            3_095_033_483,
            "64d182b440b98d5203c4f9bd541544d84c605196c4f7b845dfa11fb23594d1e2",
        )],
    ),
    hub_only(
        "large-v3-turbo",
        "100 languages",
        &[
            hub(
                Weights::F16,
                1_624_555_275,
                "1fc70f774d38eb169993ac391eea357ef47c88757ef72ee5943879b7e8e2bc69",
            ),
            hub(
                Weights::Q8_0,
                874_188_075,
                "317eb69c11673c9de1e1f0d459b253999804ec71ac4c23c17ecf5fbe24e259a1",
            ),
        ],
    ),
];

const fn hub_only(name: &'static str, languages: &'static str, hub: &'static [HubFile]) -> CatalogEntry {
    CatalogEntry { name, languages, hub, packages: &[], results: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_complete() {
        for entry in CATALOG {
            assert!(entry.hub.iter().any(|file| file.weights == Weights::F16), "{} has f16", entry.name);
            let digests = entry.hub.iter().map(|file| file.sha256);
            let parts = entry.packages.iter().flat_map(|family| family.parts).map(|part| part.sha256);
            for digest in digests.chain(parts).chain(entry.results.iter().map(|(_, sha256)| *sha256)) {
                assert!(digest.len() == 64 && hex::decode(digest).is_ok(), "{digest} of {}", entry.name);
            }
            assert_eq!(entry.packages.is_empty(), entry.results.is_empty(), "{}", entry.name);
        }
        assert!(CatalogEntry::find(DEFAULT_MODEL).is_some());
        assert!(CatalogEntry::find("base-q8_0").is_none());
    }
}
