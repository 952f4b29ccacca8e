//! `tympan keys`: API keys in the database of the data folder. A server that runs on it
//! follows within a second or two.

use anyhow::Context;
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::output;
use crate::config::Config;
use crate::model::date;
use crate::model::id::AccountId;
use crate::store::{Store, StoredKey};
use crate::{app, auth};

/// Longest label, in characters.
const LABEL_CHARACTERS: usize = 100;

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key and print it; it cannot be shown again
    Create(CreateArguments),
    /// Show the keys: id, account, plan, label, but never the key
    List,
    /// Refuse a key from now on
    Revoke {
        /// Its id, as `list` shows it
        id: Uuid,
    },
}

/// A key to be.
#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Owner of the jobs that this key makes
    #[arg(long)]
    account: String,
    /// Plan of the account; without it the account keeps the one that it has
    #[arg(long)]
    plan: Option<String>,
    /// What to call the key in lists
    #[arg(long, default_value = "")]
    label: String,
    /// Allow the operator's part of the API
    #[arg(long)]
    admin: bool,
}

/// Runs one of the commands.
///
/// # Errors
/// When the database cannot be opened or written, a name cannot be used, or a key does not
/// exist.
pub async fn run(command: KeysCommand, config: &Config) -> anyhow::Result<()> {
    let store = app::open_store(&config.paths.database_file).await?;
    let outcome = match command {
        KeysCommand::Create(arguments) => create(&store, config, arguments).await,
        KeysCommand::List => list(&store, config).await,
        KeysCommand::Revoke { id } => revoke(&store, id).await,
    };
    store.close().await;
    outcome
}

async fn create(store: &Store, config: &Config, arguments: CreateArguments) -> anyhow::Result<()> {
    let CreateArguments { account, plan, label, admin } = arguments;
    anyhow::ensure!(AccountId::is_valid(&account), "--account {}", AccountId::RULE);
    anyhow::ensure!(
        label.chars().count() <= LABEL_CHARACTERS && !label.chars().any(char::is_control),
        "--label must have at most {LABEL_CHARACTERS} printable characters"
    );
    let account_id = AccountId(account);
    if let Some(plan) = &plan {
        check_plan(config, &account_id, plan)?;
    }
    let key = auth::new_key().context("the system gives no random bits")?;
    let stored = StoredKey {
        id: Uuid::new_v4(),
        account_id,
        digest: auth::digest(key.expose().as_bytes()),
        label,
        is_admin: admin,
        created_ms: date::now_ms(),
        revoked_ms: None,
    };
    let id = stored.id;
    store.create_key(stored, plan).await?;
    if let Err(error) = output::line(key.expose()) {
        store.revoke_key(id, date::now_ms()).await?;
        return Err(anyhow::Error::new(error).context("the key cannot be shown, so it was revoked again"));
    }
    output::note(format_args!("key {id}; it is shown this once"));
    Ok(())
}

/// The plan must exist, and the configuration must not give the account another one.
fn check_plan(config: &Config, account: &AccountId, plan: &str) -> anyhow::Result<()> {
    let plans = &config.plans;
    if !plans.by_name().contains_key(plan) {
        let known: Vec<&str> = plans.by_name().keys().map(String::as_str).collect();
        anyhow::bail!("--plan must be one of {}, {plan:?} is none", known.join(", "));
    }
    if let Some(configured) = plans.configured(account).filter(|policy| policy.plan != plan) {
        anyhow::bail!(
            "the configuration gives this account the plan {}; change accounts.{}.plan instead",
            configured.plan,
            account.0
        );
    }
    Ok(())
}

async fn list(store: &Store, config: &Config) -> anyhow::Result<()> {
    let assigned = store.assigned_plans().await?;
    output::line(format_args!(
        "{:<36} {:<20} {:<12} {:<5} {:<24} {:<24} LABEL",
        "ID", "ACCOUNT", "PLAN", "ADMIN", "CREATED", "REVOKED"
    ))?;
    for key in store.keys().await? {
        let plan = config.plans.policy(&key.account_id, assigned.get(&key.account_id).map(String::as_str));
        output::line(format_args!(
            "{:<36} {:<20} {:<12} {:<5} {:<24} {:<24} {}",
            key.id.to_string(),
            key.account_id.0,
            plan.plan,
            if key.is_admin { "yes" } else { "no" },
            date::iso(key.created_ms),
            key.revoked_ms.map_or_else(|| "-".to_owned(), date::iso),
            key.label
        ))?;
    }
    Ok(())
}

async fn revoke(store: &Store, id: Uuid) -> anyhow::Result<()> {
    let is_revoked = store.revoke_key(id, date::now_ms()).await?;
    anyhow::ensure!(is_revoked, "no key in force has the id {id}; `tympan keys list` shows all");
    output::line(format_args!("revoked {id}"))?;
    Ok(())
}
