//! `land`: the work of passed tasks onto one branch.

mod answers;
mod terms;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use flagpost_core::{
    List, Repository,
    answers::LandingAnswer,
    landing::{
        BranchState, GitSettings, LandingRefusal, LandingView, QueuedBranch, SessionLanding,
    },
    operations::Operation,
    status::ToLand,
};
use flagpost_model::{TaskId, task::NO_COMMIT};
use flagpost_run::{
    RunContext,
    events::{LandingLine, RunEvent},
    landing::{Landing, LandingReport, LandingTerms, rehearse},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::{
    context::Context,
    error::usage_with,
    output::{Answer, stream},
    progress::{self, short},
    screen::Screen,
    signals::is_ignored,
    streams::{self, ask, say},
    terminal::{counted, line, title},
};

pub use answers::{LandedAnswer, LandingRehearsal};
pub use terms::{LandingOptions, resolve};

/// So many of the last lines of a failed check are shown.
const WORDS: usize = 5;

/// Bring passed work onto one branch, tested
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flagpost land --check 'cargo test'\n  \
    flagpost land --dry-run\n  \
    flagpost land --pr\n  \
    flagpost land --status\n\n\
    'flagpost run --worktrees' gives each task a branch. This command brings the branches of completed \
    tasks onto the target branch, each after the tasks that it builds on. It merges in a tree of its own, \
    runs the check there, and moves the target only to a commit that passed. Your working tree is moved \
    along where it has no changes; else the last line says how to take the result.\n\n\
    A branch that conflicts or fails the check goes back: its task is pending again, and the next run does \
    it on top of the target, with the reason in the prompt. After two such tries the task asks you. \
    Exit code 1 where something did not land.")]
pub struct LandArgs {
    /// Only the work of these tasks [default: all that passed]
    ids: Vec<String>,
    #[command(flatten)]
    options: LandingOptions,
    /// Keep the worktrees and branches of landed work
    #[arg(long)]
    keep: bool,
    /// Push each branch and open or update a pull request for it on GitHub; the target stays as it is. Needs gh
    #[arg(long, conflicts_with_all = ["check", "timeout", "how", "batch", "retries", "keep", "dry_run", "status"])]
    pr: bool,
    /// Say what would land, and with which conflicts; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Show what waits, what is being checked, and what was refused and why
    #[arg(long, conflicts_with_all = ["dry_run", "ids", "keep"])]
    status: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl LandArgs {
    /// What it asks for.
    pub fn operation(&self) -> Operation {
        match self.status || self.dry_run {
            true => Operation::LandingShow,
            false => Operation::LandingStart,
        }
    }
}

/// Lands.
pub fn run(context: &Context, args: &LandArgs) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    let onto = args.options.onto();
    let list = match args.status || args.dry_run {
        true => context.list()?,
        false => context.list_to_change()?,
    };
    let terms = LandingTerms {
        keep: args.keep,
        requests: args.pr,
        ..resolve(context, &args.options)?
    };
    let rule = terms.review;
    let view = || LandingView::by_rule(&repository, &list, (onto, rule));
    if args.status {
        return Ok(status(context, &view()?));
    }
    let only = match args.ids.is_empty() {
        true => Vec::new(),
        false => wanted(&list, &view()?, &args.ids)?,
    };
    if args.dry_run {
        return rehearsal(&repository, view()?, &only);
    }
    let terms = LandingTerms { only, ..terms };
    let git = GitSettings::of(&repository)?;
    let changed = git.changed(&context.home, &repository)?;
    if !changed.is_empty() {
        say(&format!(
            "since the last run began, what git runs here was changed, perhaps by an agent: {}",
            line(&changed.join(", "))
        ));
    }
    if !args.yes {
        confirm(context, &view()?, &terms)?;
    }
    // Whoever goes on has been told.
    git.keep(&context.home, &repository)?;
    let report = watched(context, &repository, &list, &terms)?;
    let mut answer = answer(context, &report, &terms);
    if report.landed.is_empty() && report.is_whole() && !terms.requests {
        answer.text += &Screen::of(context).wrapped(&why_nothing(&list, &view()?)?);
    }
    Ok(answer)
}

/// Why nothing of a list is to land; nothing where something is.
fn why_nothing(list: &List<'_>, view: &LandingView) -> anyhow::Result<String> {
    if !view.queue.branches.is_empty() || view.queue.staged.is_some() {
        return Ok(String::new());
    }
    let shared = view.without_branch(list)?;
    let without: Vec<TaskId> = view.no_commit.iter().map(|(id, _)| id.clone()).collect();
    let mut text = String::new();
    if !without.is_empty() {
        text += &format!("passed without a commit: {}\n", ids(&without));
    }
    if !shared.is_empty() {
        text += &format!(
            "passed without a branch of their own, as with --shared: {}\n",
            ids(&shared)
        );
    }
    if text.is_empty() && view.landed.is_empty() {
        text = "no task has passed yet\n".to_owned();
    }
    Ok(text)
}

/// The tasks that are named, each with something to land.
fn wanted(list: &List<'_>, view: &LandingView, named: &[String]) -> anyhow::Result<Vec<TaskId>> {
    let nothing = |task: TaskId, why: String| {
        flagpost_core::Error::from(LandingRefusal::NothingToLand { task, why })
    };
    let mut wanted = Vec::new();
    for given in named {
        let task = list.resolve(given)?;
        let found = view.branches().find(|(it, _)| it.task == task);
        let why = match found.map(|(it, _)| &it.state) {
            Some(BranchState::Queued | BranchState::Changed { .. } | BranchState::Staged) => {
                wanted.push(task);
                continue;
            }
            Some(BranchState::Unapproved) => {
                format!("it waits for your approval: 'flagpost review {task}'")
            }
            Some(BranchState::Waits { on }) => format!("it builds on {}", ids(on)),
            Some(BranchState::Refused(_)) => {
                "its work was sent back, and is done again before it can land".to_owned()
            }
            None => {
                let refusal = view.queue.nothing_of(&list.task(&task)?.task);
                return Err(flagpost_core::Error::from(refusal).into());
            }
        };
        return Err(nothing(task, why).into());
    }
    for (branch, _) in view.branches().filter(|(it, _)| wanted.contains(&it.task)) {
        let others = branch.builds_on.iter().filter(|on| !wanted.contains(on));
        let others: Vec<TaskId> = others.cloned().collect();
        if !others.is_empty() {
            let why = format!("it builds on {}: name that, too", ids(&others));
            return Err(nothing(branch.task.clone(), why).into());
        }
    }
    Ok(wanted)
}

/// Asks a person.
fn confirm(context: &Context, view: &LandingView, terms: &LandingTerms) -> anyhow::Result<()> {
    let count = view.queue.ready_of(&terms.only).count();
    if count == 0 && view.queue.staged.is_none() {
        return Ok(());
    }
    let screen = Screen::of(context);
    streams::say_styled(table(screen, view).trim_end());
    let check = match &terms.check {
        Some(check) => format!("checked by '{check}'"),
        None => "without a check".to_owned(),
    };
    let (branches, onto) = (
        counted(count, "branch", "branches"),
        &view.queue.target.branch,
    );
    let question = match terms.requests {
        true => {
            let remote = terms.requested_at();
            format!("push {branches} to {remote} and open pull requests onto {onto}?")
        }
        false => format!("land {branches} on {onto}, {check}?"),
    };
    match ask(&question)? {
        Some(true) => Ok(()),
        Some(false) => Err(usage("nothing was landed")),
        None => Err(usage_with(
            "nobody is there to confirm; --dry-run shows what would land",
            "--yes lands without asking",
        )),
    }
}

/// How this command should have been typed.
fn usage(text: impl Into<String>) -> anyhow::Error {
    usage_with(text, "flagpost land --help shows how")
}

/// Lands, before the eyes of whoever asked for it.
fn watched(
    context: &Context,
    repository: &Repository,
    list: &List<'_>,
    terms: &LandingTerms,
) -> anyhow::Result<LandingReport> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if !is_ignored(signal) {
            flag::register(signal, Arc::clone(&stop))?;
        }
    }
    let actor = context.actor()?;
    let (mut cursor, mut worktrees) = (0, 0);
    let mut tell = |event: RunEvent| {
        cursor += 1;
        if context.globals.json {
            let at = context.home.now();
            // Whoever closed the stream does not stop the landing.
            let _: std::io::Result<_> = stream(&LandingLine {
                cursor,
                at,
                event: &event,
            });
        } else if let RunEvent::Worktree { kept: true, .. } = event {
            worktrees += 1;
        } else if !context.globals.quiet {
            progress::words(&event).iter().for_each(|line| say(line));
        }
        Ok(())
    };
    let stage = RunContext {
        home: &context.home,
        settings: &context.settings,
        repository,
        list,
    };
    let mut known = None;
    let landing = Landing::begin(stage, &actor, terms, &stop, (&mut known, &mut tell))?;
    let report = landing.land();
    if worktrees > 0 && !context.globals.quiet {
        let kept = counted(worktrees, "worktree stays", "worktrees stay");
        say(&format!("{kept}: 'flagpost worktree list' says why"));
    }
    if stop.load(Ordering::Relaxed) && report.is_ok() {
        streams::say("the landing was over when it was to end");
    }
    Ok(report?)
}

fn answer(context: &Context, report: &LandingReport, terms: &LandingTerms) -> Answer {
    let onto = &report.onto;
    let mut text = match report.landed.len() {
        0 if terms.requests => String::new(),
        0 => format!("nothing landed on {}\n", line(onto)),
        n => format!(
            "landed {} on {} ({}){}\n",
            counted(n, "task", "tasks"),
            line(onto),
            short(&report.commit),
            match terms.check {
                Some(_) => "",
                None if terms.requests => " by pull requests",
                None => "; nothing was checked",
            }
        ),
    };
    if terms.requests {
        let requests = counted(report.requests.len(), "pull request", "pull requests");
        text += &format!("{requests} open onto {}\n", line(onto));
    }
    for (task, url) in &report.requests {
        text += &format!("  {task} {}\n", line(url));
    }
    text += &what_is_left(report);
    let mut answer = Answer::of(&LandedAnswer::from(report))
        .text(Screen::of(context).wrapped(&text))
        .ids(
            report
                .landed
                .iter()
                .chain(report.requests.iter().map(|(task, _)| task)),
        );
    answer.code = u8::from(!report.is_whole());
    answer
}

/// What did not land, a line each, with what to do next.
pub fn what_is_left(report: &LandingReport) -> String {
    let mut text = String::new();
    if !report.refused.is_empty() {
        text += &format!(
            "refused {}: 'flagpost run --worktrees' does the work again; 'flagpost land --status' tells why\n",
            ids(&report.refused)
        );
    }
    for (task, why) in &report.left {
        text += &format!("not landed {task}: {}\n", line(why));
    }
    if !report.left.is_empty() {
        text += "'flagpost land' tries these again, once that is mended\n";
    }
    if !report.waits.is_empty() {
        text += &format!(
            "waiting {}: they build on work that did not land; 'flagpost reopen ID' has one done again without it\n",
            ids(&report.waits)
        );
    }
    if !report.to_review.is_empty() {
        text += &format!(
            "to review {}: 'flagpost review' shows them; they land once you approve them\n",
            ids(&report.to_review)
        );
    }
    if let Some(take) = &report.take {
        text += &format!("passed, and not taken into your working tree: {take}\n");
    }
    if let Some(why) = &report.failed {
        text += &format!(
            "the landing ended early: {}; 'flagpost land' goes on\n",
            line(why)
        );
    }
    text
}

fn status(context: &Context, view: &LandingView) -> Answer {
    let screen = Screen::of(context);
    let mut text = String::new();
    if let Some(doing) = &view.activity {
        let (step, tasks) = (doing.step, ids(&doing.tasks));
        text += &format!("{step} {tasks} since {}\n", screen.time(doing.since));
    }
    if let Some(failed) = &view.failure {
        let (why, at) = (line(&failed.why), screen.time(failed.at));
        text += &format!("the last landing ended early, {at}: {why}\n");
    }
    text += &match view.queue.branches.is_empty() {
        true => format!(
            "nothing is to land on {}\n",
            line(&view.queue.target.branch)
        ),
        false => table(screen, view),
    };
    for (branch, _) in view.branches() {
        if let BranchState::Refused(refused) = &branch.state {
            let mut words = refused.why.lines().filter(|it| !it.trim().is_empty());
            let first = words.next().unwrap_or_default();
            text += &format!("{}: {}\n", branch.task, line(first));
            let last: Vec<&str> = words.collect();
            for words in &last[last.len().saturating_sub(WORDS)..] {
                text += &format!("    {}\n", line(words));
            }
        }
    }
    if view.queue.staged.is_some() {
        text += "a tested commit waits: 'flagpost land' takes it, once your working tree and the remote let it\n";
    }
    for it in &view.landed {
        let detail = |key: &str| it.entry.detail.get(key).and_then(|it| it.as_str());
        let task = it
            .entry
            .task
            .as_ref()
            .map(TaskId::as_str)
            .unwrap_or_default();
        text += &format!(
            "landed {task} on {} ({}) {}\n",
            line(detail("onto").unwrap_or_default()),
            short(detail("commit").unwrap_or_default()),
            screen.time(it.at)
        );
    }
    for (task, at) in &view.no_commit {
        text += &format!("{task} {NO_COMMIT}, {}\n", screen.time(*at));
    }
    Answer::of(&LandingAnswer::from(view))
        .text(text)
        .ids(view.branches().map(|(it, _)| &it.task))
}

/// The same of the work of one session.
pub fn of_session(screen: Screen, landing: &SessionLanding) -> String {
    let mut text = String::new();
    if landing.branches().next().is_some() {
        text += &format!("\n{}", rows(screen, landing.branches()));
    }
    for (task, landed) in &landing.landed {
        let (onto, commit) = (line(&landed.onto), short(&landed.commit));
        text += &format!(
            "  landed {task} on {onto} ({commit}) {}\n",
            screen.time(landed.at)
        );
    }
    for (task, at) in &landing.no_commit {
        text += &format!("  {task} {NO_COMMIT}, {}\n", screen.time(*at));
    }
    text
}

/// What is to land, and what did not, in a line.
pub fn in_a_line(found: &ToLand) -> String {
    let parts = [
        (found.ready, "to land"),
        (found.to_review, "to review"),
        (found.changed, "changed since they passed"),
        (found.waits, "behind others"),
        (found.refused, "refused"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let mut parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
    if found.staged {
        parts.push("a tested commit waits for your working tree".to_owned());
    }
    format!("{}: {}; flagpost land", line(&found.onto), parts.join(", "))
}

fn table(screen: Screen, view: &LandingView) -> String {
    rows(screen, view.branches())
}

/// The branches, a row each.
pub fn rows<'q>(screen: Screen, branches: impl Iterator<Item = (&'q QueuedBranch, u64)>) -> String {
    let rows = branches.map(|(it, ahead)| {
        vec![
            it.task.to_string(),
            state_of(it),
            ahead.to_string(),
            title(&it.subject),
            it.branch.to_string(),
        ]
    });
    screen.fitted(
        &["ID", "LANDING", "AHEAD", "SUBJECT", "BRANCH"],
        rows.collect(),
        &[4],
    )
}

/// Where a branch stands, in a few words.
pub fn state_of(branch: &QueuedBranch) -> String {
    match (&branch.state, &branch.approval) {
        (BranchState::Queued, Some(approval)) => format!("approved by {}", approval.by),
        (BranchState::Queued, None) => "queued".to_owned(),
        (BranchState::Changed { .. }, _) => "changed since it passed".to_owned(),
        (BranchState::Unapproved, _) => "to review".to_owned(),
        (BranchState::Waits { on }, _) => format!("waits for {}", ids(on)),
        (BranchState::Refused(refused), _) => match &refused.by {
            Some(by) => format!("returned by {by}"),
            None => format!("refused {}×", refused.times.max(1)),
        },
        (BranchState::Staged, _) => "passed".to_owned(),
    }
}

fn rehearsal(
    repository: &Repository,
    view: LandingView,
    only: &[TaskId],
) -> anyhow::Result<Answer> {
    let rehearsed = rehearse(&repository.top, &view.queue, only)?;
    let onto = &view.queue.target.branch;
    let mut text = match rehearsed.is_empty() {
        true => format!("nothing would land on {}\n", line(onto)),
        false => format!("would land on {}:\n", line(onto)),
    };
    for it in &rehearsed {
        let conflicts = match it.conflicts.is_empty() {
            true => String::new(),
            false => format!("; conflicts in {}", it.conflicts),
        };
        text += &line(&format!(
            "  {} {} ({}{conflicts})",
            it.branch.task,
            it.branch.subject,
            counted(
                usize::try_from(it.ahead).unwrap_or(usize::MAX),
                "commit",
                "commits"
            ),
        ));
        text.push('\n');
    }
    for (branch, _) in view.branches() {
        let (task, subject) = (&branch.task, &branch.subject);
        let why = match &branch.state {
            BranchState::Waits { on } => format!("waits for {}", ids(on)),
            BranchState::Unapproved => format!("is to be reviewed: flagpost review {task}"),
            BranchState::Changed { .. } => {
                format!("has changed since it passed: flagpost review {task}")
            }
            BranchState::Queued | BranchState::Refused(_) | BranchState::Staged => continue,
        };
        text += &format!("{}\n", line(&format!("  {task} {subject} {why}")));
    }
    Ok(Answer::of(&LandingRehearsal::from((&view, &rehearsed[..])))
        .text(text)
        .ids(rehearsed.iter().map(|it| &it.branch.task)))
}

fn ids(tasks: &[TaskId]) -> String {
    let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    ids.join(", ")
}
