//! `review`, `approve`, `return`: the work that comes back, before it lands.
//!
//! Owns how a task's work is shown to whoever decides on it, and which words of a command line mean a task and which
//! a worker's brief. What a person saw is what is approved: a commit.

use flagpost_core::{
    List, Repository,
    answers::{ChangeAnswer, LandingAnswer},
    landing::{
        BranchAction, ChangeStage, ChangedFile, LandingRefusal, LandingView, LineRemark,
        QueuedBranch, ReviewWords, TaskChange, approve as approve_work, return_work, reviewed,
    },
    operations::Operation,
};
use flagpost_model::{TaskId, WorkerId};

use super::{
    land,
    relay::decide::{self, RatifyArgs},
    selection::{Where, each_once},
};
use crate::{
    context::Context,
    error::usage,
    output::Answer,
    progress::short,
    screen::Screen,
    terminal::{clean, counted, line, title},
    text::TextArg,
};

/// So many files of a task are named.
const FILES: usize = 40;

/// Review passed work before it lands
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost review\nflagpost review 5\n\n\
    Without a task it lists the work that is to land. With one it shows what its agent says, which files it changes \
    and the commands that decide.")]
pub struct ReviewArgs {
    /// The task [default: a list of all]
    id: Option<String>,
    /// The target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
}

/// Approve passed work, or a brief
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost approve [OPTIONS] <TASK…|WORKER [SEQ]…|all>",
    after_help = "Example: flagpost approve 5\n\
    flagpost approve 5 7\n\
    flagpost approve W3 7\n\n\
    Work: the commit that its branch stands on may land; a later one needs your approval again. With \
    'flagpost config set land.review true' nothing else lands.\n\n\
    A worker's name means its brief, as in 'flagpost ratify'; all means every brief.",
    mut_arg("worker", |it| it.value_name("TASK").help("The task, or a worker for its brief")),
    mut_arg("seq", |it| it.help("More tasks; after a worker, which of its briefs"))
)]
pub struct ApproveArgs {
    #[command(flatten)]
    brief: RatifyArgs,
    /// Of a task, the commit that you saw: only that is approved
    #[arg(long, value_name = "COMMIT", value_parser = commit)]
    commit: Option<String>,
    /// Of tasks, the target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
}

/// Return passed work with words
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost return 5 'Keep the old option as an alias'\n\
    flagpost return 5 --line 'src/parser.rs:12 Name the constant'\n\n\
    The task is pending again. The run that is under way, else the next, goes on with it in the same worktree and, \
    where its client can, in the same conversation: its agent reads the words."
)]
pub struct ReturnArgs {
    /// The task
    id: String,
    /// What is to be different, in quotes; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// A remark on a line; several times
    #[arg(long = "line", value_name = "PATH:LINE WORDS")]
    lines: Vec<LineRemark>,
    /// The commit that you saw: where there is a later one, nothing is returned
    #[arg(long, value_name = "COMMIT", value_parser = commit)]
    commit: Option<String>,
    /// The target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
}

impl ReviewArgs {
    /// What it asks for.
    pub fn operation(&self) -> Operation {
        match self.id {
            Some(_) => Operation::TaskDiff,
            None => Operation::LandingShow,
        }
    }
}

/// A commit, or how it begins.
fn commit(text: &str) -> Result<String, String> {
    let is_one = (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
    match is_one {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("name at least seven digits of a commit, as 'git log' shows it".to_owned()),
    }
}

/// Shows what is to land.
pub fn review(context: &Context, args: &ReviewArgs) -> anyhow::Result<Answer> {
    let (repository, list) = (context.own_repository()?, context.list()?);
    let onto = args.onto.as_deref();
    match &args.id {
        Some(id) => one(context, (&repository, &list), &list.resolve(id)?, onto),
        None => {
            let view = LandingView::of(&repository, &list, onto)?;
            let text = match view.branches().next() {
                None => format!(
                    "nothing is to land on {}\n",
                    line(&view.queue.target.branch)
                ),
                Some((first, _)) => format!(
                    "{}next: flagpost review {}\n",
                    land::rows(Screen::of(context), view.branches()),
                    view.queue.to_review().next().unwrap_or(first).task
                ),
            };
            Ok(Answer::of(&LandingAnswer::from(&view))
                .text(text)
                .ids(view.branches().map(|(it, _)| &it.task)))
        }
    }
}

/// Shows the work of one task to whoever decides on it.
fn one(
    context: &Context,
    (repository, list): (&Repository, &List<'_>),
    id: &TaskId,
    onto: Option<&str>,
) -> anyhow::Result<Answer> {
    let task = list.task(id)?.task;
    let change = TaskChange::of(repository, list, &task, onto)?;
    let files = change.files()?;
    let mut text = format!("{id} {}\n", title(&task.subject));
    let result = task.result.as_ref();
    if let Some(result) = result.filter(|it| !it.text.trim().is_empty()) {
        let said = clean(result.text.trim_end(), false);
        let said: String = said.lines().map(|it| format!("  {it}\n")).collect();
        text += &format!("{} says:\n{said}", line(result.by.as_str()));
    }
    text += &changed(&change, &files);
    text += &match &change.queued {
        Some(branch) => decided_by(branch),
        None => format!("{}\n", LandingRefusal::nothing_of(&task, &change.onto)),
    };
    let change = (change, files);
    Ok(Answer::of(&ChangeAnswer::from(&change))
        .text(Screen::of(context).wrapped(&text))
        .ids([id]))
}

/// Which files a task changes, and by how much.
fn changed(change: &TaskChange, files: &[ChangedFile]) -> String {
    let onto = line(&change.onto);
    let how = match &change.stage {
        ChangeStage::ToLand(_) => format!(", as it would be on {onto}"),
        ChangeStage::Underway(_) => ", so far".to_owned(),
        ChangeStage::Conflicts(_, met) => {
            format!(
                ", and meets conflicts on {onto} in {}",
                line(&met.join(", "))
            )
        }
        ChangeStage::Landed(commit) => format!(", on {onto} since {commit:.12}"),
    };
    let mut text = format!("{}{how}\n", counted(files.len(), "file", "files"));
    for file in files.iter().take(FILES) {
        let lines = match file.lines {
            Some((added, removed)) => format!("+{added} -{removed}"),
            None => "no text".to_owned(),
        };
        text += &format!("  {} {lines}\n", line(&file.path));
    }
    if files.len() > FILES {
        text += &format!("  {} more\n", files.len() - FILES);
    }
    text
}

/// The commands that decide on it.
fn decided_by(branch: &QueuedBranch) -> String {
    let (id, tip) = (&branch.task, short(&branch.tip));
    let mut text = format!("state: {}\n  flagpost diff {id}\n", land::state_of(branch));
    for action in branch.actions() {
        text += &match action {
            BranchAction::Approve => format!("  flagpost approve {id} --commit {tip}\n"),
            BranchAction::Return => format!("  flagpost return {id} 'WORDS'\n"),
            BranchAction::Land => format!("  flagpost land {id}\n"),
        };
    }
    text
}

impl ApproveArgs {
    /// What it asks for.
    pub fn operation(&self, context: &Context) -> Operation {
        match self.is_of_a_brief(context) {
            true => Operation::BriefRatify,
            false => Operation::ReviewApprove,
        }
    }

    /// Whether the first word names a worker of the fleet.
    fn is_of_a_brief(&self, context: &Context) -> bool {
        // Who says a commit or a target means work.
        if self.commit.is_some() || self.onto.is_some() {
            return false;
        }
        let first = self.brief.first();
        let worker = first.parse::<WorkerId>();
        let is_known = |it| {
            context
                .fleet()
                .is_ok_and(|fleet| fleet.must_know(it).is_ok())
        };
        first == "all" || worker.as_ref().is_ok_and(is_known)
    }
}

/// Approves work, or a brief.
pub fn approve(context: &Context, args: &ApproveArgs) -> anyhow::Result<Answer> {
    if args.is_of_a_brief(context) {
        let first = args.brief.first();
        let is_task = context.list().is_ok_and(|list| {
            let id = list.resolve(first);
            id.is_ok_and(|id| list.task(&id).is_ok())
        });
        // An agent may join under any name.
        return match is_task {
            false => decide::ratify(context, &args.brief),
            true => Err(usage(format!(
                "{} is a worker and a task: 'flagpost ratify {0}' approves its brief, 'flagpost approve {0} --commit \
                 COMMIT' the work",
                line(first)
            ))),
        };
    }
    let words = args.brief.as_tasks().ok_or_else(|| {
        usage("--seen, --scope and --count-status go with a worker; of a task, say --commit COMMIT")
    })?;
    if args.commit.is_some() && words.len() > 1 {
        return Err(usage("--commit goes with one task"));
    }
    let (repository, list) = (context.own_repository()?, context.list_to_change()?);
    let ids = each_once(words.into_iter().map(|it| list.resolve(it)))?;
    let queue = reviewed(&list, &repository, args.onto.as_deref())?;
    let what = (&ids[..], args.commit.as_deref());
    let approved = approve_work(&list, &context.operator()?, &queue, what)?;
    let said = approved.iter().map(|task| {
        let landing = task.landing.as_ref();
        let commit = landing
            .and_then(|it| it.approved())
            .map(|it| short(&it.commit));
        let (id, subject) = (&task.id, title(&task.subject));
        format!("approved {id} {subject} ({})\n", commit.unwrap_or_default())
    });
    let text = said.collect::<String>() + "next: flagpost land\n";
    Ok(Where::default().answer(&approved, text))
}

/// Returns work.
pub fn return_it(context: &Context, args: &ReturnArgs) -> anyhow::Result<Answer> {
    let general = args.source.read(args.text.as_deref())?;
    if general.is_none() && args.lines.is_empty() {
        return Err(usage(
            "say what is to be different, as in flagpost return 5 'Keep the old option'",
        ));
    }
    let words = ReviewWords {
        general: general.unwrap_or_default(),
        lines: args.lines.clone(),
        seen: args.commit.clone(),
    };
    let (repository, list) = (context.own_repository()?, context.list_to_change()?);
    let id = list.resolve(&args.id)?;
    let place = (&repository, args.onto.as_deref());
    let task = return_work(&list, &context.operator()?, place, &id, &words)?;
    let text = format!(
        "returned {id} {}: it is pending again, and the next run goes on with it\n",
        title(&task.subject)
    );
    Ok(Where::default().answer(&[task], text))
}
