//! `hook`: what an agent's client asks between its steps.
//!
//! Owns that a hook never gets into the agent's way: whatever goes wrong, it ends with 0 and within two
//! seconds, and says nothing that is no answer. One that asks the operator waits for them, and ends with its client.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use flagpost_core::{
    Repository, describe,
    hooks::{HookCaller, HookLog, JoinedSessions},
    permissions::Permissions,
};
use flagpost_model::{
    WorkerId,
    client::Client,
    hook::{HookAnswer, HookEvent, HookInput, Turnover},
    permission::Verdict,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use super::query::named;
use crate::{context::Context, globals::Globals};

/// Answer a client's hook (called by the hook)
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost hook stop --agent claude < event.json\n\n\
    Reads the client's JSON from stdin and prints one JSON object, or nothing. Exits with 0 whatever\n\
    happens: a fault of Flagpost leaves a line in hooks/WORKER.jsonl in the home and never reaches the\n\
    agent. Without FLAGPOST_WORKER or 'flagpost worker join', and outside of a registered repository, it prints\n\
    nothing.\n\
    'flagpost hooks install' puts it into a client's settings."
)]
pub struct HookArgs {
    /// The event: session-start, prompt, pre-tool, permission-request, batch, stop, stop-failure, session-end
    #[arg(value_parser = named::<HookEvent>)]
    event: HookEvent,
    /// The client that asks: claude, codex, gemini, opencode, cursor
    #[arg(long, value_name = "CLIENT", value_parser = named::<Client>)]
    agent: Client,
}

/// So long a client is kept waiting at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// So long after a failure a request is ended again.
const AGAIN: Duration = Duration::from_secs(1);

/// So much of what a client sends is read: an event has in it what a tool read, pictures too.
const LARGEST: u64 = 16 << 20;

/// Answers, and exits with 0 in any case.
pub fn run(globals: Globals, args: &HookArgs) -> ExitCode {
    let (send, answered) = mpsc::channel();
    let (event, client) = (args.event, args.agent);
    if event == HookEvent::Permission {
        if let Some(answer) = answer(globals, event, client) {
            let _ = writeln!(std::io::stdout(), "{answer}");
        }
        return ExitCode::SUCCESS;
    }
    thread::spawn(move || send.send(answer(globals, event, client)));
    if let Ok(Some(answer)) = answered.recv_timeout(PATIENCE) {
        // Whoever does not listen any more misses nothing.
        let _ = writeln!(std::io::stdout(), "{answer}");
    }
    ExitCode::SUCCESS
}

fn answer(globals: Globals, event: HookEvent, client: Client) -> Option<String> {
    let context = Context::open(globals).ok()?;
    let here = context.repository().ok()?;
    let mut sent = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin.take(LARGEST).read_to_end(&mut sent).ok()?;
    let input = HookInput::read(&sent);
    let repository = match &input.dir {
        Some(dir) => there(&context, dir).or(here)?,
        None => here?,
    };
    let worker = speaks_for(&context, &repository, (event, client), &input)?;
    let caller = HookCaller {
        home: &context.home,
        repository,
        worker,
        task: context
            .given()
            .and_then(|(task, token)| Some((context.list().ok()?, task, token))),
        client,
        is_unattended: context.settings.report.is_some(),
        rules: context.settings.rules,
    };
    let answer = match event {
        HookEvent::Permission => permission(&caller, &input),
        _ => caller.answer(event, &input),
    };
    match answer {
        Ok(answer) => Some(answer.spelled(client, event)?.to_string()),
        Err(error) => {
            let log = HookLog::of(&context.home, &caller.worker);
            // Nobody can be told where even that fails.
            let _ = log.failed(client, event, describe(&error));
            None
        }
    }
}

/// What the operator decides on what the client may not do by its own rules.
fn permission(caller: &HookCaller<'_>, input: &HookInput) -> flagpost_core::Result<HookAnswer> {
    let Some(asked) = caller.ask(input)? else {
        return Ok(HookAnswer::Nothing);
    };
    let (home, repository, request) = (
        caller.home.clone(),
        caller.repository.id.clone(),
        asked.clone(),
    );
    thread::spawn(move || {
        client_has_gone();
        // Whoever waits below goes on with that.
        let permissions = Permissions::of(&home, &repository);
        while permissions.end(&request, Verdict::Withdrawn).is_err() {
            thread::sleep(AGAIN);
        }
    });
    caller.wait(&asked)
}

/// Returns when nobody can read the answer any more.
fn client_has_gone() {
    let stdout = std::io::stdout();
    // Nothing is asked for: an end that was closed is told of all the same.
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    loop {
        match poll(&mut watched, None) {
            Ok(_) => return,
            Err(Errno::INTR) => {}
            // It cannot be watched: the request ends by its time.
            Err(_) => thread::park(),
        }
    }
}

/// The worker that the environment names, else the one that the session joined the fleet as.
fn speaks_for(
    context: &Context,
    repository: &Repository,
    (event, client): (HookEvent, Client),
    input: &HookInput,
) -> Option<WorkerId> {
    // Interactive sessions of Codex share a server: its environment says who the first of them is.
    let is_of_another = client == Client::Codex && context.settings.codex_daemon;
    let named = context.settings.worker.as_deref();
    if let Some(worker) = named.filter(|_| !is_of_another && !context.is_joined) {
        return worker.parse().ok();
    }
    let sessions = JoinedSessions::of(&context.home, repository);
    let session = input.session.as_deref()?;
    // A client that does not say which process it is has started us, by a shell that made way.
    let process = context.settings.client_process;
    let process = process.unwrap_or_else(std::os::unix::process::parent_id);
    let worker = match (event, input.turnover) {
        (HookEvent::SessionStart, turnover) => sessions.started(session, turnover, process),
        (HookEvent::SessionEnd, Turnover::Clear) => sessions.cleared(session, process),
        _ => sessions.worker(session),
    };
    worker.ok()?
}

/// The repository that the agent works in, where it says so.
fn there(context: &Context, dir: &Path) -> Option<Repository> {
    Repository::find(&context.home, dir).ok()?
}
