//! A coordination directory.
//!
//! Owns that its naive times leave Flagpost as the moments that they mean.

use std::{borrow::Cow, path::Path};

use flagpost_model::{
    ListRef, TaskId, Token, WorkerId,
    coordination::{CoordAgent, CoordClaim, CoordReadiness, CoordStatus, CoordTask},
    view,
};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::each;
use crate::{
    Skipped,
    coordination::{CoordSnapshot, Discovery},
    pages,
    plans::{ImportOutcome, ImportedTask},
};

/// The moment that a time of a directory means.
pub fn moment(zone: &TimeZone, at: Option<DateTime>) -> Option<Timestamp> {
    let at = at?.to_zoned(zone.clone()).ok()?;
    Some(at.timestamp())
}

view! {
    /// A task of a coordination directory.
    pub struct CoordTaskView<'a> from (it, zone): (&'a CoordTask, &TimeZone) {
        id: &'a TaskId = &it.id,
        description: &'a str = &it.description,
        /// Where a task of a coordination directory stands, as its file says.
        status: CoordStatus = it.status,
        /// The lowest is the most urgent.
        #[schemars(range(min = 1, max = 10))]
        priority: u8 = it.priority.get(),
        /// Who holds it or did it.
        claimed_by: Option<&'a str> = it.claim.as_ref().map(|it| it.by.as_str()),
        claimed_at: Option<Timestamp> = moment(zone, it.claim.as_ref().and_then(|it| it.at)),
        /// Fences off earlier claims: give it to start, complete and fail. Null where nobody holds the
        /// task.
        token: Option<Token> = it.holder().and_then(CoordClaim::token),
        /// Tasks that must be done first.
        dependencies: &'a [TaskId] = &it.dependencies,
        files: &'a [String] = &it.files,
        hints: Option<&'a str> = it.hints.as_deref(),
        required_capabilities: &'a [String] = &it.required_capabilities,
        tags: &'a [String] = &it.tags,
        /// The task that it is part of.
        parent: Option<&'a TaskId> = it.parent.as_ref(),
        /// What came of it.
        output: Option<&'a str> = it.result.output.as_deref(),
        /// Why it did not work, the last time.
        error: Option<&'a str> = it.result.error.as_deref(),
        files_modified: &'a [String] = &it.result.files_modified,
        files_created: &'a [String] = &it.result.files_created,
        created_at: Option<Timestamp> = moment(zone, it.created_at),
        completed_at: Option<Timestamp> = moment(zone, it.completed_at),
        max_retries: u32 = it.max_retries,
        retry_count: u32 = it.retry_count,
        /// Nobody is given it before.
        next_retry_at: Option<Timestamp> = moment(zone, it.next_retry_at),
    }

    /// A task and how it stands.
    pub struct CoordStanding<'a>
    from (it, standing, zone): (&'a CoordTask, &CoordReadiness, &TimeZone) {
        task: CoordTaskView<'a> = (it, zone).into(),
        /// How it stands, the others considered.
        #[schemars(extend("enum" = [
            "ready", "expired", "waiting", "resting", "blocked", "held", "over"
        ]))]
        standing: &'static str = standing.word(),
        /// What it waits for, or what is in its way.
        why: Option<String> = Some(standing.to_string()).filter(|it| !it.is_empty()),
    }

    /// An agent of a coordination directory.
    pub struct CoordAgentView<'a> from (it, zone): (&'a CoordAgent, &TimeZone) {
        id: &'a WorkerId = &it.id,
        capabilities: &'a [String] = &it.capabilities,
        registered_at: Option<Timestamp> = moment(zone, it.registered_at),
        last_seen: Option<Timestamp> = moment(zone, it.last_seen),
    }

    /// How many tasks have each status.
    struct CoordCounts from it: &CoordSnapshot {
        available: usize = it.count(CoordStatus::Available),
        claimed: usize = it.count(CoordStatus::Claimed),
        in_progress: usize = it.count(CoordStatus::InProgress),
        done: usize = it.count(CoordStatus::Done),
        failed: usize = it.count(CoordStatus::Failed),
        cancelled: usize = it.count(CoordStatus::Cancelled),
        blocked: usize = it.count(CoordStatus::Blocked),
    }

    /// A discovery.
    struct DiscoveryView<'a> from (it, zone): (&'a Discovery, &TimeZone) {
        at: Option<Timestamp> = moment(zone, it.at),
        by: Option<&'a str> = it.by.as_deref(),
        text: &'a str = &it.text,
    }

    /// An agent of a coordination directory.
    ///
    /// After 'flagpost coord register' and 'flagpost coord worker heartbeat'.
    pub struct CoordAgentAnswer<'a> {
        agent: CoordAgentView<'a>,
    }

    /// The summary of a coordination directory.
    ///
    /// After 'flagpost coord leader aggregate'.
    pub struct CoordSummary<'a> {
        /// Where it was written.
        path: Cow<'a, str>,
        text: &'a str,
    }

    /// A task of a coordination directory.
    ///
    /// After a verb of 'flagpost coord' on one task.
    pub struct CoordTaskAnswer<'a> {
        task: CoordTaskView<'a>,
        /// After a claim: what else the worker holds.
        also_held: &'a [TaskId],
    }

    /// What agents found.
    ///
    /// After 'flagpost coord discoveries'.
    pub struct DiscoveriesAnswer<'a> from (found, zone): (&'a [Discovery], &TimeZone) {
        discoveries: Vec<DiscoveryView<'a>> = found.iter().map(|it| (it, zone).into()).collect(),
        /// How many there are in all.
        total: usize = found.len(),
        /// Some were left out; never so here.
        truncated: bool = false,
    }

    /// A coordination directory.
    ///
    /// After 'flagpost coord leader init' and 'flagpost coord leader status'.
    pub struct CoordAnswer<'a> from (dir, look, zone): (&'a Path, &'a CoordSnapshot, &TimeZone) {
        dir: Cow<'a, str> = dir.to_string_lossy(),
        /// What is wanted, as the master plan says.
        goal: Option<&'a str> = look.goal.as_deref(),
        last_updated: Option<Timestamp> = moment(zone, look.last_updated),
        counts: CoordCounts = look.into(),
        tasks: Vec<CoordStanding<'a>> = standings(look.tasks(), zone),
        agents: Vec<CoordAgentView<'a>> =
            look.board.agents.iter().map(|it| (it, zone).into()).collect(),
        /// How many there are in all.
        total: usize = look.board.tasks.len(),
        /// Some were left out; never so here.
        truncated: bool = false,
        /// Rows that cannot be understood and were passed over.
        skipped: &'a [Skipped] = &look.skipped,
    }

    /// What a coordination directory got from a list.
    ///
    /// After 'flagpost coord import'.
    pub struct CoordImport<'a> {
        list: &'a ListRef,
        added: usize,
        /// How many were there already and stay as they are.
        known: usize,
        /// How many of the new ones have a holder in the list and are blocked here.
        held: usize,
        tasks: Vec<CoordStanding<'a>>,
    }

    /// What a list got from a coordination directory.
    ///
    /// After 'flagpost coord export'.
    pub struct CoordExport<'a>
    from (list, sent, held, dry_run): (&'a ListRef, &'a [ImportedTask], usize, bool) {
        list: &'a ListRef = list,
        dry_run: bool = dry_run,
        added: usize = ImportOutcome::Added.count(sent),
        updated: usize = ImportOutcome::Updated.count(sent),
        unchanged: usize = ImportOutcome::Unchanged.count(sent),
        /// How many have a holder in the directory; in the list nobody holds them.
        held: usize = held,
        tasks: Vec<CoordExported<'a>> = each(sent),
    }

    /// A task that went to the list.
    struct CoordExported<'a> from it: &'a ImportedTask {
        id: &'a TaskId = &it.id,
        subject: &'a str = &it.subject,
        fate: ImportOutcome = it.fate,
    }
}

pages! {
    /// Tasks of a coordination directory.
    ///
    /// After a verb of 'flagpost coord' on several tasks.
    CoordTasksPage<'a> { tasks: CoordStanding<'a> }
}

/// Tasks, each with how it stands.
pub fn standings<'a>(
    tasks: impl IntoIterator<Item = (&'a CoordTask, &'a CoordReadiness)>,
    zone: &TimeZone,
) -> Vec<CoordStanding<'a>> {
    let tasks = tasks.into_iter();
    tasks
        .map(|(it, standing)| (it, standing, zone).into())
        .collect()
}
