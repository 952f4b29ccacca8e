//! What the file changes in a plan: limits, credits, request rates, periods; each within its range.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use super::error::ConfigError;
use crate::model::plan::{Credits, Policy, RequestRate, Retention, WhenFull};

/// The specification allows zero data retention for enterprise accounts only.
const NEVER_ZERO_RETENTION: [&str; 2] = ["free", "paid"];

/// Largest amount of credits, and largest price of an hour.
const MOST_CREDITS: f64 = 1e12;

/// Largest limit that is a number; whoever wants more wants `"unlimited"`.
const MOST: u32 = 1_000_000;

/// Longest period of retention, days.
const MOST_DAYS: u32 = 36_500;

/// Price of an hour for a plan with credits: 50 buy 100 hours.
pub(super) const PRICE_PER_HOUR: f64 = 0.5;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PlanFile {
    concurrent_prerecorded: Option<Cap>,
    concurrent_live: Option<Cap>,
    queued_jobs: Option<Cap>,
    when_full: Option<WhenFull>,
    credits: Option<Cap>,
    price_per_hour: Option<f64>,
    requests_per_s: Option<Cap>,
    burst: Option<Cap>,
    retention: Option<Retention>,
    zero_retention: Option<bool>,
}

/// A number, or the word `unlimited`.
#[derive(Debug, Clone, Copy)]
struct Cap(Option<f64>);

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Cap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or \"unlimited\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Cap, E> {
                Ok(Cap(Some(number as f64)))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Cap, E> {
                Ok(Cap(Some(number)))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Cap, E> {
                match word {
                    "unlimited" => Ok(Cap(None)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }
        from.deserialize_any(Visitor)
    }
}

pub(super) fn change(policy: &mut Policy, at: &str, file: PlanFile) -> Result<(), ConfigError> {
    if let Some(cap) = file.concurrent_prerecorded {
        policy.concurrent_prerecorded = whole(&format!("{at}.concurrent_prerecorded"), cap, 1)?;
    }
    if let Some(cap) = file.concurrent_live {
        policy.concurrent_live = whole(&format!("{at}.concurrent_live"), cap, 0)?;
    }
    if let Some(cap) = file.queued_jobs {
        policy.queued_jobs = whole(&format!("{at}.queued_jobs"), cap, 1)?.map(u64::from);
    }
    policy.when_full = file.when_full.unwrap_or(policy.when_full);
    policy.credits = credits(policy.credits, at, file.credits, file.price_per_hour)?;
    policy.request_rate = request_rate(policy.request_rate, at, file.requests_per_s, file.burst)?;
    keep(policy, at, file.retention, file.zero_retention)
}

pub(super) fn keep(
    policy: &mut Policy,
    at: &str,
    retention: Option<Retention>,
    zero_retention: Option<bool>,
) -> Result<(), ConfigError> {
    // The whole table is replaced, because an absent class is one that is kept.
    policy.retention = retention.unwrap_or(policy.retention);
    let Retention { audio_days, transcript_days, metadata_days, logs_days } = policy.retention;
    for (class, days) in [
        ("audio_days", audio_days),
        ("transcript_days", transcript_days),
        ("metadata_days", metadata_days),
        ("logs_days", logs_days),
    ] {
        if let Some(days) = days.filter(|days| *days > MOST_DAYS) {
            let problem = format!("must not be greater than {MOST_DAYS}, it is {days}");
            return Err(ConfigError::invalid(format!("{at}.retention.{class}"), problem));
        }
    }
    policy.zero_retention = zero_retention.unwrap_or(policy.zero_retention);
    if policy.zero_retention && NEVER_ZERO_RETENTION.contains(&policy.plan.as_str()) {
        let problem = format!("must not be true for the plan {}", policy.plan);
        return Err(ConfigError::invalid(format!("{at}.zero_retention"), problem));
    }
    Ok(())
}

fn credits(
    now: Option<Credits>,
    at: &str,
    total: Option<Cap>,
    price_per_hour: Option<f64>,
) -> Result<Option<Credits>, ConfigError> {
    let price = price_per_hour.or(now.map(|credits| credits.price_per_hour)).unwrap_or(PRICE_PER_HOUR);
    if !(price > 0.0 && price <= MOST_CREDITS) {
        let problem = format!("must be greater than 0 and at most {MOST_CREDITS}, it is {price}");
        return Err(ConfigError::invalid(format!("{at}.price_per_hour"), problem));
    }
    let total = total.map_or(now.map(|credits| credits.total), |cap| cap.0);
    let Some(total) = total else { return Ok(None) };
    if !(0.0..=MOST_CREDITS).contains(&total) {
        let problem = format!("must be between 0 and {MOST_CREDITS}, it is {total}");
        return Err(ConfigError::invalid(format!("{at}.credits"), problem));
    }
    Ok(Some(Credits { total, price_per_hour: price }))
}

fn request_rate(
    now: Option<RequestRate>,
    at: &str,
    per_s: Option<Cap>,
    burst: Option<Cap>,
) -> Result<Option<RequestRate>, ConfigError> {
    let per_s = match per_s {
        Some(cap) => whole(&format!("{at}.requests_per_s"), cap, 1)?,
        None => now.map(|rate| rate.per_s),
    };
    let setting = format!("{at}.burst");
    let burst = match burst {
        Some(cap) => whole(&setting, cap, 1)?,
        None => now.map(|rate| rate.burst),
    };
    match (per_s, burst) {
        (Some(per_s), burst) => Ok(Some(RequestRate { per_s, burst: burst.unwrap_or(per_s) })),
        (None, Some(_)) => Err(ConfigError::invalid(setting, "must not be set without requests_per_s")),
        (None, None) => Ok(None),
    }
}

fn whole(setting: &str, cap: Cap, least: u32) -> Result<Option<u32>, ConfigError> {
    let Some(number) = cap.0 else { return Ok(None) };
    if number.fract() != 0.0 || number < f64::from(least) || number > f64::from(MOST) {
        let problem =
            format!("must be \"unlimited\" or a whole number from {least} to {MOST}, it is {number}");
        return Err(ConfigError::invalid(setting, problem));
    }
    Ok(Some(number as u32))
}
