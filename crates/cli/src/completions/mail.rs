//! The numbers of messages that a shell may offer.
//!
//! Owns which messages fit which verb: the operator's those that wait for a decision, a worker's those
//! that were let through, an outbox its reports.

use clap_complete::engine::CompletionCandidate;
use flagpost_core::relay::{
    Mail,
    briefs::{self, BriefStatus, BriefView},
    reports,
};
use flagpost_model::{Seq, envelope::summary_of};

use super::{SUBJECT, context};
use crate::terminal;

/// Which messages are offered.
#[derive(Debug, Clone, Copy)]
pub(super) enum MailFilter {
    /// Briefs that wait for a decision.
    Pending,
    /// Briefs that the worker has not acknowledged.
    Unread,
    /// Every brief.
    Briefs,
    /// Every report.
    Reports,
}

/// What a verb is about.
pub(super) fn of_verb(verb: &str) -> MailFilter {
    match verb {
        "ack" => MailFilter::Unread,
        "outbox" => MailFilter::Reports,
        "inbox" => MailFilter::Briefs,
        _ => MailFilter::Pending,
    }
}

/// The numbers in the mail of the worker that the line names; without one, of who acts.
pub(super) fn seqs(wanted: MailFilter) -> anyhow::Result<Vec<CompletionCandidate>> {
    let context = context(None)?;
    let fleet = context.fleet()?;
    let ids = fleet.ids()?;
    let named = std::env::args().find_map(|word| ids.iter().find(|id| id.as_str() == word));
    let mail = match named {
        Some(worker) => fleet.mail(worker)?,
        None => context.own_mail()?,
    };
    let mut found = match wanted {
        MailFilter::Reports => reports(&mail)?,
        MailFilter::Pending => briefs(&mail, |it| it.stage == BriefStatus::Pending)?,
        MailFilter::Unread => briefs(&mail, |it| {
            matches!(it.stage, BriefStatus::Decided(_) | BriefStatus::Offered(_))
        })?,
        MailFilter::Briefs => briefs(&mail, |_| true)?,
    };
    // The newest is the likeliest.
    found.reverse();
    Ok(found.into_iter().enumerate().map(candidate).collect())
}

fn briefs(
    mail: &Mail<'_>,
    wanted: impl Fn(&BriefView) -> bool,
) -> anyhow::Result<Vec<(Seq, String)>> {
    let mut letters = briefs::list(mail)?.0;
    letters.retain(wanted);
    let told = letters
        .into_iter()
        .map(|it| (it.brief.seq, it.brief.summary));
    Ok(told.collect())
}

fn reports(mail: &Mail<'_>) -> anyhow::Result<Vec<(Seq, String)>> {
    let papers = reports::list(mail)?.0.into_iter();
    Ok(papers
        .map(|it| (it.report.seq, summary_of(&it.report.body)))
        .collect())
}

fn candidate((place, (seq, said)): (usize, (Seq, String))) -> CompletionCandidate {
    let said: String = said.chars().take(SUBJECT).collect();
    let said = terminal::clean(&terminal::line(&said), false);
    CompletionCandidate::new(seq.get().to_string())
        .help(Some(said.into()))
        .display_order(Some(place))
}
