//! The options of a landing, and the settings where they are silent.

use std::num::NonZeroU32;

use clap::builder::NonEmptyStringValueParser;
use flagpost_core::{
    config::keys::{self, AnySetting},
    landing::ReviewRule,
};
use flagpost_model::task::LandingMethod;
use flagpost_run::landing::LandingTerms;
use jiff::SignedDuration;

use crate::{commands::claim::time, context::Context};

/// How work lands.
#[derive(Debug, Default, clap::Args)]
pub struct LandingOptions {
    /// The target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH", value_parser = NonEmptyStringValueParser::new())]
    onto: Option<String>,
    /// The command that must succeed on the merged tree; a shell runs it [default: the setting land.check]
    #[arg(long, value_name = "CMD")]
    check: Option<String>,
    /// How long the check may take: 90s, 20m [default: the setting land.timeout, else 30m]
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<SignedDuration>,
    /// merge, rebase or squash [default: the setting land.how, else merge]
    #[arg(long, value_name = "HOW")]
    how: Option<LandingMethod>,
    /// How many branches are merged and checked together [default: the setting land.batch, else 4]
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroU32>,
    /// How often refused work is done again before you are asked [default: the setting land.retries,
    /// else 2]
    #[arg(long, value_name = "N")]
    retries: Option<NonZeroU32>,
    /// Push the target to this remote after each batch; with --pr, the branches
    #[arg(long, value_name = "REMOTE", value_parser = NonEmptyStringValueParser::new())]
    push: Option<String>,
    /// Only what you approved [default: the setting land.review]
    #[arg(long)]
    review: bool,
}

/// A time that the setting would take, too.
fn timeout(text: &str) -> Result<SignedDuration, String> {
    let (time, limits) = (time(text)?, &keys::LAND_TIMEOUT.kind);
    match limits.contains(time) {
        true => Ok(time),
        false => Err(format!("it must be {}", keys::LAND_TIMEOUT.allowed())),
    }
}

impl LandingOptions {
    /// With a target and a check, where they are named.
    pub fn named(onto: Option<&String>, check: Option<&String>) -> Self {
        Self {
            onto: onto.cloned(),
            check: check.cloned(),
            ..Self::default()
        }
    }

    /// The target, where it is named.
    pub fn onto(&self) -> Option<&str> {
        self.onto.as_deref()
    }
}

/// What the options say, and the settings where they are silent.
pub fn resolve(context: &Context, options: &LandingOptions) -> anyhow::Result<LandingTerms> {
    let settings = context.config()?;
    let check = match &options.check {
        Some(check) => Some(check.clone()),
        None => settings.get(&keys::LAND_CHECK)?,
    };
    let batch = match options.batch {
        Some(batch) => batch,
        None => settings.need(&keys::LAND_BATCH)?,
    };
    Ok(LandingTerms {
        onto: options.onto.clone(),
        method: match options.how {
            Some(how) => how,
            None => settings.need(&keys::LAND_HOW)?,
        },
        // A check that is empty checks nothing.
        check: check.filter(|it| !it.trim().is_empty()),
        timeout: match options.timeout {
            Some(timeout) => timeout,
            None => settings.need(&keys::LAND_TIMEOUT)?,
        },
        git_timeout: settings.need(&keys::LAND_GIT_TIMEOUT)?,
        batch: usize::try_from(batch.get()).unwrap_or(usize::MAX),
        retries: match options.retries {
            Some(retries) => retries.get(),
            None => settings.need(&keys::LAND_RETRIES)?.get(),
        },
        push: options.push.clone(),
        keep: false,
        only: Vec::new(),
        requests: false,
        review: match options.review || settings.need(&keys::LAND_REVIEW)? {
            true => ReviewRule::Required,
            false => ReviewRule::Optional,
        },
    })
}
