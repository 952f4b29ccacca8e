//! What was lost while decoding, and how it is told to the client.

/// A file that ends this much before the stated length is called cut, seconds.
const CUT_S: f64 = 1.0;

/// Counts what went wrong.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Packets that gave samples.
    pub(super) good_packets: u64,
    bad_packets: u64,
    bad_s: f64,
    passages: u64,
    is_in_passage: bool,
    jumps: u64,
    is_broken: bool,
    is_late: bool,
    notes: Vec<&'static str>,
}

impl Damage {
    /// A packet was decoded.
    pub(super) fn good(&mut self) {
        self.good_packets += 1;
        self.is_in_passage = false;
    }

    /// A packet of this length was lost.
    pub(super) fn bad(&mut self, length_s: f64) {
        self.bad_packets += 1;
        self.bad_s += length_s;
        self.passages += u64::from(!self.is_in_passage);
        self.is_in_passage = true;
    }

    /// Timestamps contradicted each other.
    pub(super) fn jump(&mut self) {
        self.jumps += 1;
    }

    /// The container could not be read to its end.
    pub(super) fn broken(&mut self) {
        self.is_broken = true;
    }

    /// Something was lost before the first packet.
    pub(super) fn late(&mut self) {
        self.is_late = true;
    }

    /// Something that is no damage but worth saying.
    pub(super) fn note(&mut self, note: Option<&'static str>) {
        if let Some(note) = note.filter(|note| !self.notes.contains(note)) {
            self.notes.push(note);
        }
    }

    /// Too little decodes for the file to be what it looks like.
    pub(super) fn is_hopeless(&self) -> bool {
        self.bad_packets > 8 * self.good_packets
    }

    /// Sentences for the client; `stated_s` is the length that the header promises.
    pub(super) fn describe(&self, decoded_s: f64, stated_s: Option<f64>) -> Vec<String> {
        let mut notes: Vec<String> = self.notes.iter().map(|note| (*note).to_owned()).collect();
        if self.is_late {
            notes.push("the beginning is damaged; times count from the first sound behind it".to_owned());
        }
        let lost = lost(self.bad_s);
        match self.passages {
            0 => {}
            1 => notes.push(format!("a damaged passage of {lost} could not be decoded and is silent")),
            passages => notes.push(format!(
                "{passages} damaged passages, {lost} in all, could not be decoded and are silent"
            )),
        }
        match self.jumps {
            0 => {}
            1 => notes.push("timestamps jump once; the audio was joined there".to_owned()),
            jumps => notes.push(format!("timestamps jump {jumps} times; the audio was joined there")),
        }
        match stated_s.filter(|stated_s| decoded_s + CUT_S < *stated_s) {
            Some(stated_s) => notes.push(format!(
                "the file ends early: {decoded_s:.1} of {stated_s:.1} seconds could be decoded"
            )),
            None if self.is_broken => {
                notes.push(format!("the file is damaged after {decoded_s:.1} seconds; the rest is left out"));
            }
            None => {}
        }
        notes
    }
}

fn lost(length_s: f64) -> String {
    if length_s < 0.05 { "less than 0.1 seconds".to_owned() } else { format!("{length_s:.1} seconds") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_counted_not_packets() {
        let mut damage = Damage::default();
        damage.good();
        damage.bad(0.1);
        damage.bad(0.1);
        damage.good();
        damage.bad(0.1);
        let notes = damage.describe(10.0, Some(10.0));
        assert_eq!(notes, ["2 damaged passages, 0.3 seconds in all, could not be decoded and are silent"]);
        assert!(!damage.is_hopeless());
    }

    #[test]
    fn one_is_not_counted() {
        let mut damage = Damage::default();
        damage.good();
        damage.bad(0.1);
        damage.jump();
        let passage = "a damaged passage of 0.1 seconds could not be decoded and is silent";
        let expected = [passage, "timestamps jump once; the audio was joined there"];
        assert_eq!(damage.describe(10.0, None), expected);
        damage.jump();
        assert_eq!(damage.describe(10.0, None)[1], "timestamps jump 2 times; the audio was joined there");
    }

    #[test]
    fn a_cut_file_is_told_from_a_whole_one() {
        let mut damage = Damage::default();
        assert!(damage.describe(9.5, Some(10.0)).is_empty());
        assert_eq!(damage.describe(5.0, Some(10.0)).len(), 1);
        damage.broken();
        assert!(damage.describe(5.0, None)[0].contains("damaged after 5.0"));
    }
}
