//! From an error to what a person reads and a program tests.
//!
//! Owns which of the causes of an error says what to do next, and what is typed instead of a verb that there is not.
//! The failures of operations are judged in core, the same for every face.

use clap::error::{ContextKind, ErrorKind};
use flagpost_core::{
    self as core,
    answers::{self, ErrorAnswer},
};
use flagpost_daemon as daemon;
use flagpost_model::{
    InvalidId, envelope::InvalidTicket, glob::InvalidGlob, id::InvalidSeq, slash::InvalidSlash,
};
use flagpost_run as run;

use crate::{
    commands,
    error::{FailureKind, Invalid, Sandboxed, Unknown, Usage, usage_with},
    globals::Globals,
    groups,
    streams::{put, say, unless_closed},
    terminal,
};

/// Prints an error; the exit code.
pub fn failure(globals: &Globals, error: &anyhow::Error) -> u8 {
    let (kind, hint) = judge(error);
    let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    if globals.json {
        let message = error.to_string();
        let answer = ErrorAnswer::new(kind, &message, hint.as_deref(), &causes);
        let line = terminal::json(&answers::document(&answer).to_string());
        if let Err(lost) = put(&format!("{line}\n")) {
            say(&format!("flagpost: {}", sentence(error, &causes)));
            say(&format!("  because: stdout cannot be written: {lost}"));
        }
    } else {
        say(&format!("flagpost: {}", sentence(error, &causes)));
        if globals.verbose {
            causes
                .iter()
                .for_each(|cause| say(&format!("  because: {cause}")));
        }
        if let Some(hint) = hint {
            say(&format!("  hint: {hint}"));
        }
    }
    kind as u8
}

/// The error, and the system's own word for it where ours does not hold it.
fn sentence(error: &anyhow::Error, causes: &[String]) -> String {
    match causes.last() {
        Some(root) if !error.to_string().contains(root.as_str()) => format!("{error}: {root}"),
        _ => error.to_string(),
    }
}

/// Prints what the parser has to say: help and version on stdout, errors as every other error; a verb
/// that is missing is asked for with the verbs that there are.
pub fn usage(parsed: &clap::Error) -> u8 {
    let json = std::env::args_os().any(|arg| arg == "--json");
    match parsed.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match unless_closed(parsed.print()) {
            Ok(()) => 0,
            Err(lost) => {
                say(&format!("flagpost: stdout cannot be written: {lost}"));
                FailureKind::Failed as u8
            }
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !json => {
            say(parsed.to_string().trim_end());
            FailureKind::Usage as u8
        }
        _ => {
            let globals = Globals {
                json,
                ..Globals::default()
            };
            failure(&globals, &mistyped(parsed))
        }
    }
}

/// The kind of an error, and what to do next.
pub fn judge(error: &anyhow::Error) -> (FailureKind, Option<String>) {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<core::Error>() {
            return core::error::judge(error);
        }
        if let Some(error) = cause.downcast_ref::<run::Error>() {
            return judge_run(error);
        }
        if let Some(error) = cause.downcast_ref::<daemon::Error>() {
            return judge_daemon(error);
        }
        if let Some(judged) = commands::fleet::verbs::judge(cause) {
            return judged;
        }
        if cause.is::<Sandboxed>() {
            return (
                FailureKind::Conflict,
                hint(
                    "done, fail, stuck, task release, task note and worker ack are said through the run; any other \
                     change needs a home that can be written",
                ),
            );
        }
        if let Some(unknown) = cause.downcast_ref::<Unknown>() {
            let hint = unknown.hint();
            return (
                FailureKind::NotFound,
                Some(hint).filter(|_| !unknown.known.is_empty()),
            );
        }
        if let Some(Usage { hint: next, .. }) = cause.downcast_ref() {
            return (FailureKind::Usage, hint(next));
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return judge_io(error);
        }
        if cause.is::<InvalidSeq>() {
            return (
                FailureKind::Invalid,
                hint("'flagpost inbox --briefs --all' and 'flagpost outbox' show the numbers"),
            );
        }
        let is_bad_word = cause.is::<InvalidId>()
            || cause.is::<InvalidTicket>()
            || cause.is::<InvalidGlob>()
            || cause.is::<InvalidSlash>();
        if is_bad_word || cause.is::<Invalid>() || cause.is::<std::num::ParseIntError>() {
            return (FailureKind::Invalid, None);
        }
    }
    (FailureKind::Failed, None)
}

/// A file that the user named.
fn judge_io(error: &std::io::Error) -> (FailureKind, Option<String>) {
    match error.kind() {
        std::io::ErrorKind::NotFound => (FailureKind::NotFound, None),
        std::io::ErrorKind::IsADirectory => (FailureKind::Invalid, hint("name a file")),
        _ => (FailureKind::Failed, None),
    }
}

/// Where a verb went that the program had once.
const MEASURED: &str =
    "the benchmarks are a tool of the source tree: 'cargo bench -p flagpost-bench'";

/// What the parser refused, as an error of ours: its first sentence, and what to type instead.
pub fn mistyped(error: &clap::Error) -> anyhow::Error {
    let program = groups::program();
    let text = error.to_string();
    let said = text.split("\n\n").next().unwrap_or_default();
    let said = said.strip_prefix("error: ").unwrap_or("a verb is missing");
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let hint = known_elsewhere(error, &program)
        .or_else(|| similar(error))
        .unwrap_or_else(|| format!("'{} --help' shows how", typed_verb(&program)));
    usage_with(lines.join(" "), hint)
}

/// The word that was probably meant.
fn similar(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let meant = kinds.into_iter().find_map(|kind| error.get(kind))?;
    Some(format!(
        "do you mean {}?",
        meant.to_string().replace(", ", " or ")
    ))
}

/// The verb of this command line, with the words above it.
fn typed_verb(program: &clap::Command) -> String {
    let (mut verb, mut path) = (program, program.get_name().to_owned());
    for word in std::env::args_os().skip(1) {
        if let Some(below) = verb.find_subcommand(word) {
            path += &format!(" {}", below.get_name());
            verb = below;
        }
    }
    path
}

/// What to type instead of an unknown verb that some group has, or that there was.
fn known_elsewhere(error: &clap::Error, program: &clap::Command) -> Option<String> {
    let unknown = error.get(ContextKind::InvalidSubcommand)?.to_string();
    // Whoever typed it under the wrong group may mean to remove something else.
    if unknown == "rm" {
        return None;
    }
    if unknown == "bench" {
        return Some(MEASURED.to_owned());
    }
    // A verb of every day is typed without its group.
    let path = match program.find_subcommand(&unknown) {
        Some(own) => own.get_name().to_owned(),
        None => path_of(program, &unknown)?,
    };
    Some(format!("type 'flagpost {path}'"))
}

/// The words that lead to a verb, the shortest way; of those alike the one to a task's.
fn path_of(group: &clap::Command, verb: &str) -> Option<String> {
    let found = |below: &clap::Command| {
        let rest = match below.find_subcommand(verb) {
            Some(known) => known.get_name().to_owned(),
            None => path_of(below, verb)?,
        };
        Some(format!("{} {rest}", below.get_name()))
    };
    let paths = group.get_subcommands().filter_map(found);
    paths.min_by_key(|path| (path.split(' ').count(), !path.starts_with("task ")))
}

fn judge_run(error: &run::Error) -> (FailureKind, Option<String>) {
    match error {
        run::Error::Core(error) => core::error::judge(error),
        run::Error::Disk(error) => core::error::judge_disk(error),
        run::Error::Died { source, .. } => (judge_run(source).0, Some(revival(source))),
        run::Error::AgentCommand { .. } => (
            FailureKind::Usage,
            hint("quote it as for a shell: --agent \"sh agent.sh\""),
        ),
        run::Error::AcpCommand { agent } => (
            FailureKind::Usage,
            Some(format!(
                "give its command with 'flagpost config set run.agents.{agent}.command \"{agent} acp\"'"
            )),
        ),
        run::Error::AgentOption { .. } => (
            FailureKind::Invalid,
            hint("take it out of run.agents.NAME.args with 'flagpost config set'"),
        ),
        run::Error::PromptInScript { .. } => (
            FailureKind::Usage,
            hint("give it to the script as a word: sh -c 'cat \"$1\"' sh {prompt_file}"),
        ),
        run::Error::AgentMissing { .. } => (
            FailureKind::NotFound,
            hint("install it, or name another command with --agent"),
        ),
        run::Error::ClientUnfit { hint, .. } => (FailureKind::Invalid, Some(hint.clone())),
        run::Error::NoAgent => (
            FailureKind::Usage,
            hint("name one with --agent, or name --workers"),
        ),
        run::Error::NothingToRun { .. } => (
            FailureKind::NotFound,
            hint("'flagpost add SUBJECT' or 'flagpost import PLAN.md' gives it some"),
        ),
        run::Error::Mail { .. } => (
            FailureKind::Invalid,
            hint("'flagpost doctor' says what is wrong"),
        ),
        run::Error::Worktree(_) => (
            FailureKind::Failed,
            hint("mend the repository and try again; with --shared a run needs nothing of it"),
        ),
        run::Error::Process(_) => (FailureKind::Failed, None),
    }
}

/// What to do about a run that died in its middle.
fn revival(error: &run::Error) -> String {
    let is_full = match error {
        run::Error::Core(core::Error::Disk(error)) | run::Error::Disk(error) => error.is_full(),
        _ => false,
    };
    let room = if is_full { "make room; " } else { "" };
    format!("{room}'flagpost run' goes on with what is left")
}

fn judge_daemon(error: &daemon::Error) -> (FailureKind, Option<String>) {
    match error {
        daemon::Error::Core(error) => core::error::judge(error),
        daemon::Error::Disk(error) => core::error::judge_disk(error),
        daemon::Error::Running { .. } => (
            FailureKind::Conflict,
            hint("a home has one; 'flagpost status' tells how it is reached"),
        ),
        daemon::Error::Port { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
            (FailureKind::Conflict, hint("name another port with --port"))
        }
        daemon::Error::Port { .. } | daemon::Error::System { .. } => (FailureKind::Failed, None),
        daemon::Error::NotStarted { log, .. } => {
            let more = format!("{} tells more", log.display());
            (FailureKind::Failed, Some(more))
        }
        daemon::Error::Unreadable { .. } => (
            FailureKind::Failed,
            hint("'flagpost daemon down', then 'flagpost daemon up' writes it anew"),
        ),
        daemon::Error::Silent { .. } => (
            FailureKind::TimedOut,
            hint(
                "'flagpost daemon logs' tells what it does; 'flagpost daemon down', then 'flagpost daemon up' starts another",
            ),
        ),
        daemon::Error::NotStopped { .. } => (
            FailureKind::TimedOut,
            hint("'flagpost daemon logs' tells what it does"),
        ),
    }
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}
