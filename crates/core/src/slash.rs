//! Slash commands, carried out.
//!
//! Owns the seed's words for what happened, and the exit status of each command: that of
//! `/ratify all` is the number of briefs it ratified, capped at 125. Each command is one operation of
//! the relay.

use std::path::Path;

use flagpost_disk::fsx;
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via, WithheldReason},
    envelope::{BriefKind, Extras, Hash, Ticket},
    slash::{Slash, TextSource},
    task::Origin,
};

use crate::{
    access::Operation,
    error::{Error, Result, describe, judge, shows},
    index::{self, Hit, SearchRequest, SearchResult, SearchScope},
    relay::{
        Fleet, Mail,
        briefs::{self, BriefView, NewBrief, Proposed},
        broken,
        decide::{self, Decided, DecisionRequest},
        fleet::{Ratified, ratify_all},
        reports::{self, ReportView},
        retention::{self, Archived},
        shown, workers,
    },
    skipped::Skipped,
};

/// An exit status above this means a signal to a shell.
const MOST: usize = 125;

/// Who types, and where.
#[derive(Debug)]
pub struct SlashContext<'f> {
    /// The fleet.
    pub fleet: &'f Fleet<'f>,
    /// Who acts.
    pub actor: &'f WorkerId,
    /// Which way it comes in.
    pub via: Via,
    /// What sort of hand it is.
    pub origin: Origin,
    /// The hash of the brief that was seen, where somebody decides.
    pub seen: Option<&'f Hash>,
    /// What paths are relative to.
    pub dir: &'f Path,
}

/// The output of a command.
#[derive(Debug, Default, serde::Serialize, schemars::JsonSchema)]
pub struct SlashOutput {
    /// Lines for stdout.
    pub lines: Vec<String>,
    /// Lines for stderr.
    pub faults: Vec<String>,
    /// Of '/ratify all', how many it ratified, at most 125.
    #[serde(rename = "exit_status")]
    pub status: u8,
}

impl SlashOutput {
    fn one(line: String) -> Self {
        Self::lines(vec![line])
    }

    fn aloud(line: String, tell: &mut dyn FnMut(&str)) -> Self {
        tell(&line);
        Self::one(line)
    }

    fn lines(lines: Vec<String>) -> Self {
        Self {
            lines,
            ..Self::default()
        }
    }
}

/// The operation that a command is, in the one table of who may ask for it.
pub fn operation(command: &Slash) -> Operation {
    match command {
        Slash::RatifyAll { .. } | Slash::Ratify(..) => Operation::BriefRatify,
        Slash::Reject(..) => Operation::BriefReject,
        Slash::Edit(..) => Operation::BriefEdit,
        Slash::Assign { .. } | Slash::Redirect(..) | Slash::Merge(_) => Operation::BriefPropose,
        Slash::Inbox(_) => Operation::BriefList,
        Slash::Outbox(_) => Operation::ReportList,
        Slash::Gc => Operation::MailArchive,
        Slash::Search(_) => Operation::HistoryShow,
    }
}

/// Carries a command out. `given` is the text that came beside it: an assignment's brief, or the
/// brief as the operator edited it.
pub fn carry_out(
    desk: &SlashContext<'_>,
    command: Slash,
    given: Option<String>,
) -> Result<SlashOutput> {
    carry_out_aloud(desk, command, given, &mut |_| {})
}

/// The same, which tells each line of a decision as soon as that is made.
pub fn carry_out_aloud(
    desk: &SlashContext<'_>,
    command: Slash,
    given: Option<String>,
    tell: &mut dyn FnMut(&str),
) -> Result<SlashOutput> {
    let SlashContext {
        fleet,
        actor,
        via,
        seen,
        ..
    } = *desk;
    let wish = |decision| DecisionRequest {
        seen: seen.cloned(),
        ..DecisionRequest::new(decision, via)
    };
    match command {
        Slash::RatifyAll { scope } => {
            let mut heard = |decided: &Decided| tell(&decided_line(decided));
            let all = ratify_all(fleet, actor, scope.as_ref(), via, &mut heard)?;
            Ok(ratified_lines(&all))
        }
        Slash::Ratify(worker, seq) => {
            let mail = fleet.mail(&worker)?;
            let decided = decide::decide(&mail, actor, seq, &wish(Decision::Ratified))?;
            Ok(SlashOutput::aloud(decided_line(&decided), tell))
        }
        Slash::Reject(worker, seq) => {
            let mail = fleet.mail(&worker)?;
            let decided = decide::decide(&mail, actor, seq, &wish(Decision::Rejected))?;
            Ok(SlashOutput::aloud(decided_line(&decided), tell))
        }
        Slash::Edit(worker, seq) => {
            let decided = edit(desk, &worker, seq, given.as_deref())?;
            Ok(SlashOutput::aloud(decided_line(&decided), tell))
        }
        Slash::Assign {
            ticket,
            worker,
            text,
        } => {
            let body = body_of(desk, text, given)?;
            let proposed = assign(fleet, actor, &worker, dispatch(&ticket, body))?;
            written(desk, &proposed);
            Ok(SlashOutput::one(assigned_line(&proposed)))
        }
        Slash::Inbox(worker) => {
            let (letters, faults) = inbox(fleet, worker.as_ref())?;
            let waiting = letters.iter().filter(|it| it.waits());
            let lines = waiting.map(brief_line).collect();
            Ok(with_faults(lines, &faults))
        }
        Slash::Outbox(worker) => {
            let (papers, faults) = outbox(fleet, worker.as_ref())?;
            Ok(with_faults(
                papers.iter().map(report_line).collect(),
                &faults,
            ))
        }
        Slash::Redirect(worker, text) => {
            let proposed = redirect(fleet, actor, &worker, text)?;
            written(desk, &proposed);
            Ok(SlashOutput::one(proposed_line("REDIRECTED", &proposed)))
        }
        Slash::Merge(pr) => {
            let proposed = merge(fleet, actor, pr)?;
            written(desk, &proposed);
            Ok(SlashOutput::one(proposed_line(
                &format!("MERGE #{pr}"),
                &proposed,
            )))
        }
        Slash::Gc => {
            let archived = archive_all(fleet, actor, false)?;
            Ok(SlashOutput::lines(
                archived.iter().map(archived_line).collect(),
            ))
        }
        Slash::Search(text) => {
            let found = find(fleet, &text)?;
            Ok(SlashOutput::lines(
                found.hits.iter().map(hit_line).collect(),
            ))
        }
    }
}

/// What a person wrote was seen by that person.
fn written(desk: &SlashContext<'_>, proposed: &Proposed) {
    if desk.origin == Origin::Person {
        wrote(
            desk.fleet,
            desk.actor,
            &proposed.brief.target_worker,
            proposed.brief.seq,
        );
    }
}

/// Notes that a person wrote this brief. Should that fail, the person is asked once more.
pub fn wrote(fleet: &Fleet<'_>, actor: &WorkerId, worker: &WorkerId, seq: Seq) {
    let letter = fleet.mail(worker).and_then(|mail| briefs::show(&mail, seq));
    let _: Result<()> = letter.and_then(|letter| shown::wrote(fleet, actor, &letter));
}

fn edit(
    desk: &SlashContext<'_>,
    worker: &WorkerId,
    seq: Option<Seq>,
    given: Option<&str>,
) -> Result<Decided> {
    let mail = desk.fleet.mail(worker)?;
    let seq = match seq {
        Some(seq) => seq,
        None => decide::newest_seen(&mail, desk.seen)?,
    };
    let Some(body) = given else {
        return Err(Error::Invalid {
            what: format!("/edit {worker} {seq}"),
            reason: "send the new body as text beside the command".to_owned(),
        });
    };
    let seen = match desk.seen {
        Some(seen) => seen.clone(),
        None => Hash::of(briefs::show(&mail, seq)?.body.as_bytes()),
    };
    decide::edit(&mail, desk.actor, seq, &seen, body, desk.via)
}

fn body_of(desk: &SlashContext<'_>, text: TextSource, given: Option<String>) -> Result<String> {
    let invalid = |what: String, reason: &str| Error::Invalid {
        what,
        reason: reason.to_owned(),
    };
    match text {
        TextSource::Inline(text) => Ok(text),
        TextSource::Given => given.ok_or_else(|| {
            invalid(
                "brief".to_owned(),
                "say --brief=FILE or --inline=TEXT, or send it as text beside the command",
            )
        }),
        TextSource::File(name) => {
            let path = desk.dir.join(&name);
            let Some(bytes) = fsx::read(desk.fleet.home.fs(), &path)? else {
                return Err(Error::NotFound {
                    what: "file",
                    id: name,
                    list: None,
                });
            };
            String::from_utf8(bytes).map_err(|_| invalid(name, "it is not UTF-8"))
        }
    }
}

/// What gives a ticket to a worker.
pub fn dispatch(ticket: &Ticket, body: String) -> NewBrief {
    NewBrief {
        ticket: Some(ticket.as_str().to_owned()),
        ..plain(BriefKind::Dispatch, body)
    }
}

/// Proposes a brief for a live worker.
pub fn assign(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    worker: &WorkerId,
    proposal: NewBrief,
) -> Result<Proposed> {
    workers::must_be_live(&fleet.mail(worker)?)?;
    queue(fleet, actor, worker, proposal)
}

/// Proposes a brief for a worker of the fleet; one that does not run reads it when it starts.
pub fn queue(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    worker: &WorkerId,
    proposal: NewBrief,
) -> Result<Proposed> {
    let mail = fleet.mail(worker)?;
    workers::must_belong(&mail)?;
    briefs::propose(&mail, actor, proposal)
}

/// Turns a worker to something else.
pub fn redirect(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    worker: &WorkerId,
    text: String,
) -> Result<Proposed> {
    queue(fleet, actor, worker, plain(BriefKind::Redirect, text))
}

/// Gives whoever reported last on a pull request leave to merge it.
pub fn merge(fleet: &Fleet<'_>, actor: &WorkerId, pr: u64) -> Result<Proposed> {
    let (worker, report) = reports::of_pull_request(fleet, pr)?;
    let mut proposal = plain(BriefKind::MergeGo, format!("Merge pull request #{pr}.\n"));
    proposal.ticket = report.ticket_id;
    proposal.in_reply_to = Some(report.seq);
    let mail = fleet.mail(&worker)?;
    workers::must_belong(&mail)?;
    briefs::propose(&mail, actor, proposal)
}

fn plain(kind: BriefKind, body: String) -> NewBrief {
    NewBrief {
        kind,
        ticket: None,
        body,
        summary: None,
        expires_at: None,
        in_reply_to: None,
        controller: None,
        extras: Extras::default(),
    }
}

/// The briefs of one worker, or of all.
pub fn inbox(
    fleet: &Fleet<'_>,
    worker: Option<&WorkerId>,
) -> Result<(Vec<BriefView>, Vec<Skipped>)> {
    let mut skipped = match worker {
        None => broken::of_fleet(fleet)?,
        Some(_) => Vec::new(),
    };
    let mut letters = Vec::new();
    for mail in mails(fleet, worker)? {
        let (more, unread) = mail.unless_closed(briefs::list(&mail))?;
        letters.extend(more);
        skipped.extend(unread);
    }
    Ok((letters, skipped))
}

/// The reports of one worker, or of all.
pub fn outbox(
    fleet: &Fleet<'_>,
    worker: Option<&WorkerId>,
) -> Result<(Vec<ReportView>, Vec<Skipped>)> {
    let (mut papers, mut skipped) = (Vec::new(), Vec::new());
    for mail in mails(fleet, worker)? {
        let (more, unread) = mail.unless_closed(reports::list(&mail))?;
        papers.extend(more);
        skipped.extend(unread);
    }
    Ok((papers, skipped))
}

/// Archives what may go of everybody's mail.
pub fn archive_all(fleet: &Fleet<'_>, actor: &WorkerId, dry_run: bool) -> Result<Vec<Archived>> {
    let mut archived = Vec::new();
    for mail in fleet.mails()? {
        archived.extend(retention::archive(&mail, actor, dry_run)?);
    }
    Ok(archived)
}

fn mails<'h>(fleet: &Fleet<'h>, worker: Option<&WorkerId>) -> Result<Vec<Mail<'h>>> {
    match worker {
        Some(worker) => Ok(vec![fleet.mail(worker)?]),
        None => fleet.mails(),
    }
}

/// What became of ratifying everything, in the seed's words.
pub fn ratified_lines(all: &Ratified) -> SlashOutput {
    let fault = |(worker, it): &(WorkerId, decide::Undecided)| {
        let seq = it.seq.map(|seq| format!(" (seq={seq})"));
        let next = judge(&it.error).1.map(|next| format!("; {next}"));
        let (seq, next) = (seq.unwrap_or_default(), next.unwrap_or_default());
        format!("NOT RATIFIED {worker}{seq}: {}{next}", describe(&it.error))
    };
    let faults = all.failed.iter().map(fault).chain(left_aside(all));
    SlashOutput {
        lines: all.done.iter().map(decided_line).collect(),
        faults: faults.chain(arrived(all)).collect(),
        status: count_status(all.done.len()),
    }
}

/// What somebody else decided, and how that is settled.
fn left_aside(all: &Ratified) -> impl Iterator<Item = String> {
    all.left_aside.iter().map(|it| {
        let (worker, seq) = (&it.brief.target_worker, it.brief.seq);
        let why = it.held.map_or("", WithheldReason::describe);
        let next = shows(worker, seq);
        format!("LEFT ASIDE {worker} (seq={seq}): {why}; {next}")
    })
}

/// What nobody had listed.
fn arrived(all: &Ratified) -> impl Iterator<Item = String> {
    all.arrived.iter().map(|it| {
        let brief = &it.brief;
        let (worker, seq) = (&brief.target_worker, brief.seq);
        format!(
            "ARRIVED MEANWHILE {worker} (seq={seq}): {}",
            line(&brief.summary)
        )
    })
}

/// A count as an exit status.
pub fn count_status(count: usize) -> u8 {
    u8::try_from(count.min(MOST)).unwrap_or(u8::MAX)
}

/// `RATIFIED #1192 summary → W1`
pub fn decided_line(decided: &Decided) -> String {
    let brief = &decided.brief;
    let before = if decided.already { "ALREADY " } else { "" };
    let word = decided.decision.as_str().to_uppercase();
    let ticket = ticket(brief.target_ticket.as_deref());
    format!(
        "{before}{word} {ticket}{} → {}",
        line(&brief.summary),
        brief.target_worker
    )
}

/// `ASSIGNED #1244 → W7 (seq=0007)`
pub fn assigned_line(proposed: &Proposed) -> String {
    let ticket = proposed.brief.target_ticket.as_deref().unwrap_or_default();
    proposed_line(&format!("ASSIGNED #{ticket}"), proposed)
}

/// The same for a brief of another kind.
pub fn proposed_line(what: &str, proposed: &Proposed) -> String {
    let brief = &proposed.brief;
    format!("{what} → {} (seq={})", brief.target_worker, brief.seq)
}

fn brief_line(letter: &BriefView) -> String {
    let brief = &letter.brief;
    let ticket = ticket(brief.target_ticket.as_deref());
    let (worker, seq, kind) = (&brief.target_worker, brief.seq, brief.kind);
    let held = letter
        .held
        .map(|it| format!("WITHHELD ({}) ", it.describe()));
    let (held, summary) = (held.unwrap_or_default(), line(&brief.summary));
    format!("{worker} {seq} {held}{kind} {ticket}{summary}")
}

fn report_line(paper: &ReportView) -> String {
    let report = &paper.report;
    let ticket = ticket(report.ticket_id.as_deref());
    let said = flagpost_model::message::Message::of_report(report).line();
    let (worker, seq, kind) = (&report.worker_id, report.seq, report.kind);
    format!("{worker} {seq} {kind} {ticket}{}", line(&said))
}

fn archived_line(archived: &Archived) -> String {
    let (worker, direction) = (&archived.worker, archived.direction);
    format!("ARCHIVED {} of {worker}/{direction}", archived.seqs.len())
}

/// Every place in what the fleet said, its sessions and its history where the text is.
pub fn find(fleet: &Fleet<'_>, text: &str) -> Result<SearchResult> {
    let scope = SearchScope::Of {
        list: None,
        repository: Some(fleet.repo.clone()),
    };
    let wanted = SearchRequest {
        text,
        scope,
        kinds: &[],
        limit: 0,
    };
    index::ask(fleet.home, |index| index.search(&wanted))
}

/// Where a text was found, and the line it is in.
pub fn hit_line(hit: &Hit) -> String {
    format!("{}: {}", hit.thing, line(&hit.line))
}

fn ticket(ticket: Option<&str>) -> String {
    ticket
        .map(|it| format!("#{} ", line(it)))
        .unwrap_or_default()
}

/// A message's words cannot pretend to be a line of ours.
fn line(text: &str) -> String {
    text.replace(['\n', '\r', '\t', '\u{2028}', '\u{2029}'], " ")
}

fn with_faults(lines: Vec<String>, skipped: &[Skipped]) -> SlashOutput {
    let fault = |it: &Skipped| format!("skipped {}: {}", it.name, it.reason);
    SlashOutput {
        lines,
        faults: skipped.iter().map(fault).collect(),
        status: 0,
    }
}
