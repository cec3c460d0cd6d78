//! The relay's mail, its decisions and its workers.

use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, DecisionState, WithheldReason},
    envelope::{Brief, Direction, Hash},
    message::Message,
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::each;
use crate::{
    error::describe,
    pages,
    relay::{
        brief_snapshots::Before,
        briefs::BriefView,
        decide::{Decided, Undecided},
        fleet::Ratified,
        reports::ReportView,
        workers::WorkerView,
    },
    slash::SlashOutput,
};

view! {
    /// A brief, how it stands and how far it is.
    pub struct BriefAnswer<'a> from it: &'a BriefView {
        brief: &'a Brief = &it.brief,
        /// Markdown.
        body: &'a str = &it.body,
        #[schemars(extend("enum" = [
            "pending", "expired", "ratified", "rejected", "edited", "offered", "read", "withdrawn"
        ]))]
        stage: &'static str = it.stage.as_str(),
        /// The decision; null for nothing yet.
        decision: Option<Decision> = it.standing.decision(),
        /// The decision on record; null where there is none.
        verdict: Option<&'a DecisionRecord> = match &it.standing {
            DecisionState::Decided(it) => Some(it),
            DecisionState::Pending | DecisionState::Flagged(_) | DecisionState::Foreign(_) => None,
        },
        /// The hash over sidecar and body as they are now.
        envelope: &'a Hash = &it.prints.envelope,
        /// Why it is withheld, and what comes next; null where it is not.
        withheld: Option<Withheld> = Withheld::of(it),
        /// It waits, and nobody is on record for proposing it.
        unproposed: bool = it.is_unproposed(),
    }
}

/// Why a brief is withheld, and what comes next.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Withheld {
    /// Why.
    why: WithheldReason,
    /// The same in words.
    told: String,
    /// The command that shows the brief in full; where it is shown in full, the one that settles it.
    settle_with: String,
}

impl Withheld {
    /// Of a brief that is withheld.
    pub fn of(letter: &BriefView) -> Option<Self> {
        Some(Self {
            why: letter.held?,
            told: letter.why_withheld()?,
            settle_with: letter.shown_by(),
        })
    }
}

/// A brief in full.
///
/// After 'flagpost inbox WORKER SEQ'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BriefInFull<'a> {
    #[serde(flatten)]
    letter: BriefAnswer<'a>,
    /// The brief as it was proposed or decided on; null where it is not withheld, or nobody kept that.
    before: Option<&'a Before>,
}

impl<'a> BriefInFull<'a> {
    /// A brief, and its state before where it is withheld.
    pub fn new(it: &'a BriefView, before: Option<&'a Before>) -> Self {
        let mut letter = BriefAnswer::from(it);
        if let (Some(withheld), Some(command)) = (&mut letter.withheld, it.resolving_command()) {
            withheld.settle_with = command;
        }
        Self { letter, before }
    }
}

pages! {
    /// Briefs and how they stand.
    ///
    /// After 'flagpost inbox --briefs'.
    BriefsPage<'a> {
        /// By worker and number.
        briefs: BriefAnswer<'a>
    }
    /// Reports of workers.
    ///
    /// After 'flagpost outbox'.
    ReportsPage<'a> {
        /// The oldest first.
        reports: &'a ReportView
    }
    /// The fleet.
    ///
    /// After 'flagpost worker list'.
    WorkersPage<'a> { workers: &'a WorkerView }
}

view! {
    /// Briefs that were decided on.
    ///
    /// After 'flagpost ratify', 'flagpost relay reject' and edit.
    pub struct DecidedAnswer<'a> from it: &'a Ratified {
        decided: &'a [Decided] = &it.done,
        /// Those that could not be decided on.
        failed: Vec<UndecidedAnswer<'a>> = each(&it.failed),
        /// Those that arrived while all that waited were ratified; they wait.
        arrived: Vec<Arrived<'a>> = each(&it.arrived),
        /// Those that are withheld, and that somebody had decided on before.
        left_aside: Vec<LeftAside<'a>> = it.left_aside.iter().filter_map(LeftAside::of).collect(),
    }

    /// A brief that its worker may read.
    pub struct OpenBrief<'a> from it: &'a (BriefView, Option<String>) {
        seq: Seq = it.0.brief.seq,
        id: Option<&'a str> = it.0.brief.extras.id.as_deref(),
        thread: Option<&'a str> = it.0.brief.extras.thread_id.as_deref(),
        from: String = Message::of_brief(&it.0.brief, "").from,
        /// Its words in a line.
        subject: &'a str = &it.0.brief.summary,
        ticket: Option<&'a str> = it.0.brief.target_ticket.as_deref(),
        /// What is rejected is not to be done.
        decision: Option<Decision> = it.0.standing.decision(),
        /// The file of its body, Markdown; null where it is rejected.
        path: Option<&'a str> = it.1.as_deref(),
        /// How long the body is.
        bytes: usize = it.0.body.len(),
        /// The body's hash.
        sha256: &'a Hash = &it.0.prints.sha256,
    }

    /// The decided briefs that a worker has not acknowledged.
    ///
    /// After the MCP tool 'inbox'.
    pub struct OpenBriefs<'a> {
        /// The oldest first.
        items: Vec<OpenBrief<'a>>,
        /// Whether more wait than are shown.
        more: bool,
    }

    /// A brief that its worker has read.
    ///
    /// After 'flagpost worker ack'.
    pub struct BriefAcked<'a> {
        worker: &'a WorkerId,
        /// Its number in this direction of the worker's mail.
        seq: Seq,
        /// The worker had said so before.
        already: bool,
    }

    /// A number that was given out.
    ///
    /// From POST /v1/relay/allocate-seq.
    pub struct NumberAnswer<'a> {
        worker: &'a WorkerId,
        direction: Direction,
        seq: Seq,
    }

    struct UndecidedAnswer<'a> from it: &'a (WorkerId, Undecided) {
        worker: &'a WorkerId = &it.0,
        /// Null where its whole inbox could not be looked at.
        seq: Option<Seq> = it.1.seq,
        reason: String = describe(&it.1.error),
    }

    struct Arrived<'a> from it: &'a BriefView {
        worker: &'a WorkerId = &it.brief.target_worker,
        seq: Seq = it.brief.seq,
        summary: &'a str = &it.brief.summary,
    }
}

/// A brief that is withheld and was left aside.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftAside<'a> {
    #[serde(flatten)]
    withheld: Withheld,
    worker: &'a WorkerId,
    seq: Seq,
}

impl<'a> LeftAside<'a> {
    fn of(it: &'a BriefView) -> Option<Self> {
        Some(Self {
            withheld: Withheld::of(it)?,
            worker: &it.brief.target_worker,
            seq: it.brief.seq,
        })
    }
}

/// The effect of a slash command.
///
/// After 'flagpost slash'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SlashAnswer<'a> {
    /// The command.
    pub command: &'a str,
    /// Its output.
    #[serde(flatten)]
    pub output: &'a SlashOutput,
}
