//! What is wrong with a request, collected so that a client learns all of it at once.

/// Longest list that is returned; a request can hold a million mistakes.
pub const MOST_PROBLEMS: usize = 50;

/// Why a request is refused. Entries read `<dotted path> must …` or `<path> is required`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// Fields that are missing, of the wrong type or out of range (400).
    Invalid(Vec<String>),
    /// Fields that contradict each other or what this host can do (422).
    Contradictory(Vec<String>),
}

/// Collects problems while a request is read.
#[derive(Debug, Default)]
pub(super) struct Problems {
    invalid: Vec<String>,
    contradictory: Vec<String>,
}

impl Problems {
    /// A field that is wrong by itself.
    pub fn invalid(&mut self, entry: impl Into<String>) {
        push(&mut self.invalid, entry.into());
    }

    /// A field that is wrong beside another, or on this host.
    pub fn contradictory(&mut self, entry: impl Into<String>) {
        push(&mut self.contradictory, entry.into());
    }

    /// Several fields that are wrong by themselves.
    pub fn invalid_all(&mut self, entries: impl IntoIterator<Item = String>) {
        for entry in entries {
            self.invalid(entry);
        }
    }

    /// The verdict. Fields that are wrong by themselves come first: what they contradict
    /// may be no more than a consequence.
    pub fn verdict(self) -> Result<(), Rejection> {
        if !self.invalid.is_empty() {
            return Err(Rejection::Invalid(self.invalid));
        }
        if !self.contradictory.is_empty() {
            return Err(Rejection::Contradictory(self.contradictory));
        }
        Ok(())
    }
}

fn push(list: &mut Vec<String>, entry: String) {
    if list.len() < MOST_PROBLEMS {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_fields_hide_contradictions() {
        let mut problems = Problems::default();
        problems.contradictory("a must not be b");
        problems.invalid("a must be a string");
        assert_eq!(problems.verdict(), Err(Rejection::Invalid(vec!["a must be a string".into()])));
    }

    #[test]
    fn the_list_has_an_end() {
        let mut problems = Problems::default();
        problems.invalid_all((0..1000).map(|at| format!("a.{at} must be a string")));
        let Err(Rejection::Invalid(entries)) = problems.verdict() else { panic!() };
        assert_eq!(entries.len(), MOST_PROBLEMS);
    }
}
