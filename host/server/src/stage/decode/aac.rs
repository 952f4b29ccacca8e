//! The AudioSpecificConfig of AAC: tells the plain profile from the extended ones.

/// What a config asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AacFlavour {
    /// The profile that is decoded completely.
    LowComplexity,
    /// A low-complexity core with extensions on top (SBR, PS).
    HighEfficiency,
    /// Anything else: its name.
    Other(&'static str),
}

/// The fields up to the extension (ISO/IEC 14496-3, section 1.6.2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AacConfig {
    /// What is asked for.
    pub(super) flavour: AacFlavour,
    rate_index: u32,
    rate: u32,
    channel_config: u32,
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }

    fn object_type(&mut self) -> Option<u32> {
        match self.take(5)? {
            31 => Some(32 + self.take(6)?),
            kind => Some(kind),
        }
    }

    fn rate(&mut self) -> Option<(u32, u32)> {
        match self.take(4)? {
            15 => Some((15, self.take(24)?)),
            index => Some((index, 0)),
        }
    }
}

impl AacConfig {
    /// Reads the config; `None` when it is cut.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut bits = Bits { bytes, at: 0 };
        let kind = bits.object_type()?;
        let (rate_index, rate) = bits.rate()?;
        let channel_config = bits.take(4)?;
        let flavour = match kind {
            2 => AacFlavour::LowComplexity,
            5 | 29 => {
                bits.rate()?;
                if bits.object_type()? == 2 {
                    AacFlavour::HighEfficiency
                } else {
                    AacFlavour::Other("HE-AAC without a plain core")
                }
            }
            1 => AacFlavour::Other("AAC Main"),
            3 => AacFlavour::Other("AAC SSR"),
            4 => AacFlavour::Other("AAC LTP"),
            23 => AacFlavour::Other("AAC-LD"),
            39 => AacFlavour::Other("AAC-ELD"),
            42 => AacFlavour::Other("xHE-AAC"),
            36 => AacFlavour::Other("MPEG-4 ALS"),
            _ => AacFlavour::Other("this profile of AAC"),
        };
        Some(Self { flavour, rate_index, rate, channel_config })
    }

    /// Channels by table 1.19; 0 when the config describes them itself or nobody knows them.
    pub(super) fn channels(&self) -> u32 {
        match self.channel_config {
            known @ 0..=6 => known,
            7 | 12 | 14 => 8,
            11 => 7,
            13 => 24,
            _ => 0,
        }
    }

    /// A config for the low-complexity core alone.
    pub(super) fn core_config(&self) -> Vec<u8> {
        let mut value = u64::from(2u32) << 4 | u64::from(self.rate_index);
        let mut length = 9;
        if self.rate_index == 15 {
            value = value << 24 | u64::from(self.rate);
            length += 24;
        }
        // Three more bits stay 0: frame length 1024, no core coder, no extension.
        value = value << 7 | u64::from(self.channel_config) << 3;
        length += 7;
        value.to_be_bytes()[8 - length / 8..].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_extended_configs() {
        let plain = AacConfig::parse(&[0x14, 0x08]).expect("valid");
        assert_eq!(
            (plain.flavour, plain.rate_index, plain.channel_config),
            (AacFlavour::LowComplexity, 8, 1)
        );
        // Object type 5, core 24 kHz, stereo, extension 48 kHz, core object type 2.
        let extended = AacConfig::parse(&[0x2b, 0x11, 0x88, 0x00]).expect("valid");
        assert_eq!(extended.flavour, AacFlavour::HighEfficiency);
        assert_eq!(extended.core_config(), [0x13, 0x10]);
        assert_eq!(
            AacConfig::parse(&[0xf9, 0x46, 0x40]).map(|c| c.flavour),
            Some(AacFlavour::Other("xHE-AAC"))
        );
        assert_eq!(AacConfig::parse(&[0x14]), None);
    }

    #[test]
    fn channels_are_counted() {
        let channels = |bytes: &[u8]| AacConfig::parse(bytes).map(|config| config.channels());
        assert_eq!(channels(&[0x12, 0x10]), Some(2));
        assert_eq!(channels(&[0x13, 0xb0]), Some(6));
        assert_eq!(channels(&[0x13, 0xb8]), Some(8));
    }

    #[test]
    fn an_explicit_rate_is_kept() {
        let config = AacConfig {
            flavour: AacFlavour::HighEfficiency,
            rate_index: 15,
            rate: 22_000,
            channel_config: 1,
        };
        let again = AacConfig::parse(&config.core_config()).expect("valid");
        assert_eq!((again.flavour, again.rate, again.channel_config), (AacFlavour::LowComplexity, 22_000, 1));
    }
}
