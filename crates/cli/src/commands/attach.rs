//! `attach`: a person goes on with an agent's conversation, in its own client and where it worked.
//!
//! Owns that nobody else is in the conversation meanwhile: a run ends its agent first, and the task waits, as one that
//! asks, until the client ends. Then a run goes on with the same conversation.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use flagpost_core::{
    Error, List, claims,
    sessions::{Sessions, Stop, TAKEN_OVER, ask_to_stop, conversation},
    tasks::{self, Move, Parts},
};
use flagpost_model::{
    TaskId,
    session::Resumable,
    task::{Act, Ending, State, StateName},
};
use flagpost_run::agent::Agent;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use super::{claim::terms, selection::Where};
use crate::{
    context::Context,
    error::usage_with,
    output::Answer,
    streams::say,
    terminal::{line, title},
};

/// How often it is looked whether the run's agent has ended.
const PAUSE: Duration = Duration::from_millis(50);

/// Why the task waits meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TakeOver {
    /// The run that had it at work left it.
    FromRun,
    /// It could have begun at any moment.
    Held,
    /// It does not by us.
    No,
}

impl TakeOver {
    /// What is answered afterwards; none where nothing waits by us.
    fn answer(self) -> Option<&'static str> {
        match self {
            Self::FromRun => Some(
                "I went on with our conversation myself. Go on from there, and report how the task ends.",
            ),
            Self::Held => Some(
                "I went on with the conversation of the attempt before. What was done is in the worktree.",
            ),
            Self::No => None,
        }
    }
}

/// Go on with an agent's conversation yourself
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost attach 5\n\
    flagpost attach 5 --tmux\n\n\
    It starts the agent's own client with the last conversation about the task, as 'claude --resume' does, in the \
    directory of that conversation. A run that has the task at work ends that agent first; the task waits, and no try \
    is spent. When you leave the client, the run that is under way, else the next, goes on with the conversation. A \
    task that you end meanwhile ('flagpost done 5') stays ended.")]
pub struct AttachArgs {
    /// The task
    id: String,
    /// Open a new window of tmux for it
    #[arg(long)]
    tmux: bool,
}

/// Goes on with it.
pub fn run(context: &Context, args: &AttachArgs) -> anyhow::Result<Answer> {
    let actor = context.operator()?;
    let (repository, list) = (context.own_repository()?, context.list_to_change()?);
    let sessions = Sessions::of(&context.home, &repository);
    let id = list.resolve(&args.id)?;
    let mut client = client(context, &resumable(&sessions, &list, &id)?)?;
    if args.tmux {
        return in_tmux(context, &list, &id);
    }
    must_be_free(&list, &id)?;
    if !io::stdin().is_terminal() {
        return Err(usage_with(
            "a conversation needs a terminal",
            format!("'flagpost attach {id} --tmux' opens one"),
        ));
    }
    let taken = take_over(context, (&sessions, &list), &id)?;
    let ended = stay(&mut client).with_context(|| {
        let program = client.get_program().display().to_string();
        format!("{} cannot be started", line(&program))
    });
    let mut task = list.task(&id)?.task;
    if let Some(words) = taken.answer().filter(|_| task.state == State::Stuck) {
        task = tasks::answer(&list, &actor, &id, words, false)?.task;
    }
    ended?;
    let now = match task.state.name() {
        StateName::Pending if taken == TakeOver::FromRun => "a run goes on with it".to_owned(),
        StateName::Stuck => format!("it still asks: flagpost answer {id} 'WORDS'"),
        state => format!("it is {state}"),
    };
    let text = format!("{id} {}: {now}\n", title(&task.subject));
    Ok(Where::default().answer(&[task], text))
}

/// The last conversation about a task, where that can be found.
fn resumable(sessions: &Sessions<'_>, list: &List<'_>, id: &TaskId) -> anyhow::Result<Resumable> {
    let known = conversation(sessions, list.id(), id)?;
    let is_there = |it: &Resumable| Path::new(&it.dir).is_dir();
    let known = known.filter(is_there);
    Ok(known.ok_or_else(|| none(id, "no client told of one, or its directory is gone"))?)
}

fn none(id: &TaskId, why: &str) -> Error {
    let (task, why) = (id.clone(), why.to_owned());
    Error::NoConversation { task, why }
}

/// The agent's client with this conversation, as a person uses it.
fn client(context: &Context, known: &Resumable) -> anyhow::Result<Command> {
    let agent: Agent = known.agent.parse()?;
    let settings = context.config()?.agent(agent.settings_name())?;
    let agent = agent.with(&settings)?;
    let words = agent.taken_up(&known.session).ok_or_else(|| {
        let name = line(&known.agent);
        none(&known.task, &format!("{name} has no window of its own"))
    })?;
    let dir = PathBuf::from(&known.dir);
    let mut client = Command::new(agent.locate(context.settings.path.as_deref(), &dir)?);
    client
        .args(words)
        .current_dir(dir)
        .envs(agent.env.iter().map(|(name, value)| (name, value)));
    Ok(client)
}

/// That nobody else has the conversation.
fn must_be_free(list: &List<'_>, id: &TaskId) -> anyhow::Result<()> {
    let question = list.task(id)?.task.question();
    if question.is_none_or(|it| it.text != TAKEN_OVER) {
        return Ok(());
    }
    let why = format!(
        "it is taken up; where that window is gone, 'flagpost answer {id} WORDS' gives it back"
    );
    Err(none(id, &why).into())
}

/// Sees to it that no agent is in the conversation, nor comes into it; says why the task waits by that.
fn take_over(
    context: &Context,
    (sessions, list): (&Sessions<'_>, &List<'_>),
    id: &TaskId,
) -> anyhow::Result<TakeOver> {
    let is_at_work = || -> anyhow::Result<bool> {
        let current = sessions.current()?;
        Ok(current.is_some_and(|it| it.runs() && it.works_on(list, id)))
    };
    if is_at_work()? {
        say(&format!(
            "the run ends its agent on task {id} and waits for you"
        ));
        ask_to_stop(sessions, &context.operator()?, Stop::HandOver(list, id))?;
        while is_at_work()? {
            thread::sleep(PAUSE);
        }
        return Ok(TakeOver::FromRun);
    }
    match list.task(id)?.task.state {
        // So that no run begins it meanwhile; refused where somebody works on it.
        State::Pending | State::Claimed(_) | State::InProgress(_) => {}
        State::Stuck | State::Completed | State::Failed | State::Cancelled => {
            return Ok(TakeOver::No);
        }
    }
    let terms = terms(context, None)?;
    let claim = claims::start(list, &terms, None, id)?.claim;
    let act = Act {
        actor: terms.actor,
        token: Some(claim.token),
        at: context.home.now(),
    };
    let waits = Move::Finish {
        ending: Ending::Stuck,
        text: TAKEN_OVER.to_owned(),
        parts: Parts::MayBeOpen,
    };
    tasks::act(list, &act, id, waits)?;
    Ok(TakeOver::Held)
}

/// Runs the client until it ends: what is meant for it, as Ctrl-C or the end of the terminal, does not end us.
fn stay(client: &mut Command) -> io::Result<ExitStatus> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    client.status()
}

/// Does the same in a window of its own.
fn in_tmux(context: &Context, list: &List<'_>, id: &TaskId) -> anyhow::Result<Answer> {
    let own = std::env::current_exe().context("this program cannot be found")?;
    let mut tmux = Command::new("tmux");
    tmux.args(["new-window", "-n", &format!("task {id}"), "-c"])
        .arg(&context.dir);
    // Its server may have been started anywhere.
    let home = format!("FLAGPOST_HOME={}", context.home.root().display());
    tmux.args(["-e", &home, "--"]);
    tmux.arg(own).arg("attach").arg(id.as_str());
    tmux.args(["--list", list.id().as_str()]);
    match tmux.status() {
        Ok(status) if status.success() => {
            let task = list.task(id)?.task;
            let text = format!("{id} {}: in a window of tmux\n", title(&task.subject));
            Ok(Where::default().answer(&[task], text))
        }
        Ok(_) | Err(_) => Err(usage_with(
            "tmux opened no window",
            "start it first: 'tmux', then the same in there",
        )),
    }
}
