//! `diff`: what a task changes, as git shows it.
//!
//! Owns the words around git's own: with what the task is compared, and what the comparison leaves out.

use flagpost_core::{
    answers::ChangeAnswer,
    git::become_git,
    landing::{ChangeStage, TaskChange},
};

use crate::{
    context::Context,
    output::Answer,
    streams::say,
    terminal::{counted, line},
};

/// Show what a task changes
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost diff 5\nflagpost diff 5 --stat\n\n\
    What passed is shown as a landing would bring it: the target branch, and what it would be with the task's \
    branch merged. A task that is being done is compared with where it began, one that has landed with what was \
    there before. It is git's own diff, with your settings, colours and pager.")]
pub struct DiffArgs {
    /// The task
    id: String,
    /// Only which files, and how much
    #[arg(long)]
    stat: bool,
    /// With the tool of 'git difftool'
    #[arg(long, conflicts_with = "stat")]
    tool: bool,
    /// The target branch [default: the branch that the repository stands on]
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
}

/// Shows it.
pub fn run(context: &Context, args: &DiffArgs) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let id = context.task(&list, Some(&args.id))?;
    let task = list.task(&id)?.task;
    let repository = context.own_repository()?;
    let change = TaskChange::of(&repository, &list, &task, args.onto.as_deref())?;
    let notes = notes(&change);
    if context.globals.json || context.globals.quiet || change.is_empty()? {
        let text = format!("task {id} changes nothing that git knows\n");
        let files = change.files()?;
        let change = (change, files);
        return Ok(Answer::of(&ChangeAnswer::from(&change))
            .text(text)
            .ids(change.1.iter().map(|it| it.path.as_str()))
            .notes(notes));
    }
    for note in notes {
        say(&format!("flagpost: {note}"));
    }
    let mut words = change.words();
    if args.tool {
        words[0] = "difftool";
    }
    if args.stat {
        words.insert(1, "--stat");
    }
    // What git's settings name is run: not where an agent may have written them.
    if args.tool && !change.is_trusted {
        return Err(crate::error::usage(
            "git's settings were changed since a person last looked, and --tool runs what they name: 'flagpost land' asks about them",
        ));
    }
    Err(flagpost_core::Error::from(become_git(&change.dir, &words, change.is_trusted)).into())
}

/// With what it is compared, and what that leaves out.
fn notes(change: &TaskChange) -> Vec<String> {
    let (task, onto) = (&change.task, line(&change.onto));
    let unknown = &change.unknown;
    let mut notes = vec![match &change.stage {
        ChangeStage::ToLand(_) => format!("task {task} as it would be on {onto}"),
        ChangeStage::Landed(commit) => format!("task {task} landed on {onto} with {commit:.12}"),
        ChangeStage::Underway(_) => {
            format!("task {task} is not done: this is its work so far")
        }
        ChangeStage::Conflicts(_, files) => format!(
            "task {task} meets conflicts on {onto} in {}; this is its own work",
            line(&files.join(", "))
        ),
    }];
    if !unknown.is_empty() {
        let shown: Vec<&str> = unknown.iter().take(5).map(String::as_str).collect();
        let more = if unknown.len() > shown.len() {
            ", …"
        } else {
            ""
        };
        notes.push(format!(
            "{} that git does not know yet {} left out: {}{more}",
            counted(unknown.len(), "new file", "new files"),
            if unknown.len() == 1 { "is" } else { "are" },
            line(&shown.join(", "))
        ));
    }
    if !change.is_trusted {
        notes.push("git's settings were changed since a person last looked: its pager and tools are left out".to_owned());
    }
    notes
}
