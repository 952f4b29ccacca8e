//! Which add-ons a job gets: those asked for, those forced, and those they need.

use std::collections::BTreeSet;

use super::set::{AddonSet, Entry};

/// The add-ons of a job in running order: those whose flag is in `flags`, those that the
/// operator forces, and everything these require.
pub fn plan<'a>(set: &'a AddonSet, flags: &BTreeSet<String>) -> Vec<&'a Entry> {
    let entries = set.entries();
    let asked =
        |entry: &&Entry| entry.operator.force || flags.contains(&entry.addon.descriptor().request_flag);
    let mut open: Vec<&Entry> = entries.iter().filter(asked).collect();
    let mut wanted = BTreeSet::new();
    while let Some(entry) = open.pop() {
        let descriptor = entry.addon.descriptor();
        if wanted.insert(descriptor.name.as_str()) {
            open.extend(descriptor.requires.iter().filter_map(|name| set.by_name(name)));
        }
    }
    entries.iter().filter(|entry| wanted.contains(entry.addon.descriptor().name.as_str())).collect()
}
