//! `stop`: ask the run that is under way to end, or to stop one task.

use flagpost_core::{
    Repository,
    answers::StopAsked,
    sessions::{self, Asked, Sessions, Stop, running},
};

use crate::{
    context::Context,
    output::Answer,
    terminal::{line, title},
};

/// Stop the run, or one of its tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost stop\n\
    flagpost stop 7\n\n\
    From any terminal in the repository, and with --list from anywhere; without a daemon. A run that is asked to end starts \
    nothing more and lets running agents finish, as after Ctrl-C; --now stops them too. A task that \
    is stopped is pending again and not tried again in this run: the next one does it.")]
pub struct StopArgs {
    /// The task [default: the whole run]
    task: Option<String>,
    /// Do not wait for running agents
    #[arg(long, conflicts_with = "task")]
    now: bool,
}

/// Asks for it.
pub fn run(context: &Context, args: &StopArgs) -> anyhow::Result<Answer> {
    let actor = context.actor()?;
    let repository = place(context)?;
    let sessions = Sessions::of(&context.home, &repository);
    let is_here = context
        .repository()?
        .is_some_and(|here| here.id == repository.id);
    let place = match is_here {
        true => String::new(),
        false => format!(" in {}", repository.top.display()),
    };
    let Some(given) = &args.task else {
        let what = if args.now { Stop::RunNow } else { Stop::Run };
        let asked = sessions::ask_to_stop(&sessions, &actor, what)?;
        let how = match args.now {
            true => "ends at once",
            false => "ends when its running agents have; 'flagpost stop --now' does not wait",
        };
        return Ok(answer(&asked, None, args.now, &format!("{place} {how}")));
    };
    let list = context.list()?;
    let id = list.resolve(given)?;
    let asked = sessions::ask_to_stop(&sessions, &actor, Stop::Task(&list, &id))?;
    let subject = list.task(&id).map(|file| title(&file.task.subject));
    let how = format!("{place} stops {id} {}", subject.unwrap_or_default());
    Ok(answer(&asked, Some(id.as_str()), false, how.trim_end()))
}

/// Where the run is that is meant: that of the list that was named, wherever it is under way, else the
/// one here.
fn place(context: &Context) -> anyhow::Result<Repository> {
    let here = context.repository()?;
    if context.named_list()?.is_none() {
        return context.own_repository();
    }
    let list = context.list()?;
    Ok(running(&context.home, list.id(), here.as_ref())?)
}

fn answer(asked: &Asked, task: Option<&str>, now: bool, how: &str) -> Answer {
    let again = if asked.already { " (asked before)" } else { "" };
    let answer = StopAsked {
        session: &asked.session,
        task,
        now,
        already: asked.already,
    };
    Answer::of(&answer)
        .text(format!("session {}{how}{again}\n", line(&asked.session)))
        .ids([&asked.session])
}
