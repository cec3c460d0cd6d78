//! `land`: the work of passed tasks onto one branch.

mod answers;
mod status;
mod terms;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use flagpost_core::{
    List, Repository,
    landing::{BranchState, GitSettings, LandingView},
    operations::Operation,
};
use flagpost_model::TaskId;
use flagpost_run::{
    RunContext,
    events::{LandingLine, RunEvent},
    landing::{Landing, LandingReport, LandingTerms, rehearse},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use super::selection::each_once;
use crate::{
    context::Context,
    error::usage_with,
    output::{Answer, stream},
    progress::{self, short},
    screen::Screen,
    signals::is_ignored,
    streams::{self, ask, say},
    terminal::{counted, line},
};

pub use answers::{LandedAnswer, LandingRehearsal};
pub use status::{in_a_line, of_session, rows, state_of};
pub use terms::{LandingOptions, resolve};

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
        return Ok(status::status(context, &view()?));
    }
    let only = each_once(args.ids.iter().map(|it| list.resolve(it)))?;
    if !only.is_empty() {
        view()?.queue.must_be_able_to_land(&list, &only)?;
    }
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

/// Asks a person.
fn confirm(context: &Context, view: &LandingView, terms: &LandingTerms) -> anyhow::Result<()> {
    let count = view.queue.ready_of(&terms.only).count();
    if count == 0 && view.queue.staged.is_none() {
        return Ok(());
    }
    let screen = Screen::of(context);
    streams::say_styled(rows(screen, view.branches()).trim_end());
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
