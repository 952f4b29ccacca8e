//! Which add-ons a request switches on, and with which configs.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::numbers;
use super::problems::Problems;
use super::rules::{Catalogue, KnownAddon};
use super::schema::Schema;
use super::spec_schemas;
use crate::model::job::PlannedAddon;
use crate::model::spec;

/// Add-ons of a request, as far as they can be judged without running anything.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Those that will run, in order; `config` is what the client sent.
    pub planned: Vec<PlannedAddon>,
    /// Config keys of `planned`, in the same order.
    pub config_keys: Vec<Option<String>>,
    /// Flags of the specification that are on and that nobody serves.
    pub missing: Vec<String>,
    /// Flags and configs as they are echoed.
    pub echo: Map<String, Value>,
}

/// Reads all flags and config objects.
pub(super) fn read(request: &Fields<'_>, catalogue: &Catalogue, problems: &mut Problems) -> Wanted {
    let mut wanted = Wanted::default();
    let on = switched_on(request, catalogue, problems);
    for (addon, on) in catalogue.addons.iter().zip(on) {
        read_loaded(request, addon, on, &mut wanted, problems);
    }
    for flag in spec::ADDON_FLAGS {
        if !catalogue.addons.iter().any(|addon| addon.facts.flag == flag) {
            read_absent(request, flag, catalogue, &mut wanted, problems);
        }
    }
    refuse_absent_custom(request, catalogue, problems);
    check_order(request, &wanted, problems);
    wanted
}

/// For each loaded add-on whether it runs: asked for, forced, or required by another.
fn switched_on(request: &Fields<'_>, catalogue: &Catalogue, problems: &mut Problems) -> Vec<bool> {
    let addons = &catalogue.addons;
    let mut on: Vec<bool> =
        addons.iter().map(|addon| flag(request, &addon.facts.flag, problems) || addon.facts.forced).collect();
    // Each round can only switch on, so there are at most as many rounds as add-ons.
    for _ in 0..addons.len() {
        for at in 0..addons.len() {
            let name = &addons[at].facts.name;
            let needed = addons.iter().zip(&on).any(|(other, on)| *on && other.facts.requires.contains(name));
            on[at] |= needed;
        }
    }
    on
}

/// A flag. One client of this wire format sends the vocabulary itself where the flag
/// belongs; what cannot be meant as a flag there is ignored, as unknown fields are.
fn flag(request: &Fields<'_>, name: &str, problems: &mut Problems) -> bool {
    if name == "custom_vocabulary" && request.get(name).is_some_and(Value::is_array) {
        return false;
    }
    request.flag(name, problems)
}

fn read_loaded(
    request: &Fields<'_>,
    addon: &KnownAddon,
    on: bool,
    wanted: &mut Wanted,
    problems: &mut Problems,
) {
    let facts = &addon.facts;
    wanted.echo.insert(facts.flag.clone(), on.into());
    let config = match &facts.config_key {
        Some(key) => config(request, &facts.flag, key, &addon.schema, on, problems),
        None => on.then(Map::new),
    };
    if let Some(config) = config {
        wanted.config_keys.push(facts.config_key.clone());
        wanted.planned.push(PlannedAddon {
            name: facts.name.clone(),
            digest: facts.digest.clone(),
            config: Value::Object(config).to_string(),
            redacts: facts.redacts,
        });
    }
}

fn read_absent(
    request: &Fields<'_>,
    name: &str,
    catalogue: &Catalogue,
    wanted: &mut Wanted,
    problems: &mut Problems,
) {
    let operator = catalogue.absent.iter().find(|absent| absent.name == name);
    let on = flag(request, name, problems) || operator.is_some_and(|absent| absent.forced);
    wanted.echo.insert(name.to_owned(), on.into());
    let key = format!("{name}_config");
    if let Some(schema) = spec_schemas::of(name)
        && let Some(mut config) = config(request, name, &key, schema, on, problems)
    {
        schema.fill_defaults(&mut config);
        wanted.echo.insert(key, config.into());
    }
    // Without redaction nothing may be delivered, so nothing is accepted.
    if on && (name == "pii_redaction" || operator.is_some_and(|absent| absent.required)) {
        problems.contradictory(not_installed(name));
    } else if on {
        wanted.missing.push(name.to_owned());
    }
}

/// Add-ons of the operator's own that are required, and that a request asks for in vain.
fn refuse_absent_custom(request: &Fields<'_>, catalogue: &Catalogue, problems: &mut Problems) {
    for absent in &catalogue.absent {
        let is_custom = !spec::ADDON_FLAGS.contains(&absent.name.as_str());
        let is_asked_for = absent.forced || request.get(&absent.name) == Some(&Value::Bool(true));
        if is_custom && absent.required && is_asked_for {
            problems.contradictory(not_installed(&absent.name));
        }
    }
}

fn not_installed(flag: &str) -> String {
    format!("{flag} must not be used: this service has no add-on installed that does it")
}

/// The config object of an add-on that is on. Of one that is off only the type is checked.
fn config(
    request: &Fields<'_>,
    flag: &str,
    key: &str,
    schema: &Schema,
    on: bool,
    problems: &mut Problems,
) -> Option<Map<String, Value>> {
    let was_sent = request.get(key).is_some();
    let sent = request.object(key, problems);
    if !on || (was_sent && sent.is_none()) {
        return None;
    }
    let Some(sent) = sent else {
        if schema.has_required_members() {
            problems.contradictory(format!("{key} is required when {flag} is true"));
        }
        return Some(Map::new());
    };
    let mut config = schema.relevant(sent);
    config.values_mut().for_each(numbers::write_whole);
    problems.invalid_all(schema.problems(key, &config));
    Some(config)
}

/// Bounds between two members, which no schema can express.
const ORDERED: [(&str, &str, &str); 2] =
    [("diarization", "min_speakers", "max_speakers"), ("subtitles", "minimum_duration", "maximum_duration")];

fn check_order(request: &Fields<'_>, wanted: &Wanted, problems: &mut Problems) {
    for (flag, least, most) in ORDERED {
        let key = format!("{flag}_config");
        let bound = |name: &str| request.get(&key)?.get(name)?.as_f64();
        if wanted.echo.get(flag) == Some(&Value::Bool(true))
            && let (Some(low), Some(high)) = (bound(least), bound(most))
            && low > high
        {
            problems.contradictory(format!("{key}.{least} must not be greater than {most}"));
        }
    }
}
