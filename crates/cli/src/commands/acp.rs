//! `acp`, `codex`: carry on the conversation of a run with an agent that is spoken to over its pipes.
//!
//! Owns who speaks for the agent: the worker and the task that its environment names. A run starts it in the agent's
//! place; it ends with the conversation, and when it is told to.

use std::{
    ffi::OsString,
    io::{self, Read as _},
    os::unix::process::CommandExt as _,
    process::Command,
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use flagpost_core::hooks::HookCaller;
use flagpost_model::client::Client;
use flagpost_run::client::{
    OperatorGate, TalkInput,
    acp::{self, AcpTerms, ToolServer},
    codex::{self, CodexTerms, ExecLine},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{context::Context, error::usage, output::Answer};

/// Carry on a run's conversation with an agent (started by the run)
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost acp -- opencode acp < prompt.md\n\n\
    'flagpost run --agent acp:NAME' starts it. It reads the prompt from stdin,\n\
    speaks the Agent Client Protocol with the command, and prints a log of JSON\n\
    lines.")]
pub struct AcpArgs {
    /// Go on with the conversation of this id
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Give the agent the tools of 'flagpost mcp'
    #[arg(long)]
    tools: bool,
    /// The agent's command, and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Carry out a run's command line of Codex (started by the run)
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost codex -- codex exec --json - < prompt.md\n\n\
    'flagpost run --agent codex' starts it. It has Codex' app-server carry out\n\
    what 'codex exec' would, asks the operator what Codex asks, and prints the\n\
    log that exec prints. A line that the app-server has no way for is carried\n\
    out as it is."
)]
pub struct CodexArgs {
    /// The command line
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Carries it on to its end.
pub fn run(context: &Context, args: &AcpArgs) -> anyhow::Result<Answer> {
    let terms = AcpTerms {
        command: args.command.clone(),
        dir: context.dir.clone(),
        prompt: prompt()?,
        resumes: args.resume.clone(),
        tools: match args.tools {
            true => Some(tools(context)?),
            false => None,
        },
    };
    carry_on(context, Client::Acp, |gate, channel| {
        acp::converse(&terms, gate, channel, &mut io::stdout())
    })
}

/// The same with Codex.
pub fn codex(context: &Context, args: &CodexArgs) -> anyhow::Result<Answer> {
    let Some(line) = ExecLine::read(&args.command) else {
        let mut words = args.command.iter();
        let program = words.next().map(OsString::as_os_str).unwrap_or_default();
        return Err(Command::new(program).args(words).exec().into());
    };
    let terms = CodexTerms {
        line,
        dir: context.dir.clone(),
        prompt: prompt()?,
    };
    carry_on(context, Client::Codex, |gate, channel| {
        codex::converse(&terms, gate, channel, &mut io::stdout())
    })
}

fn prompt() -> io::Result<String> {
    let mut prompt = String::new();
    io::stdin().lock().read_to_string(&mut prompt)?;
    Ok(prompt)
}

/// Carries a conversation on for the agent that this process speaks for.
fn carry_on(
    context: &Context,
    client: Client,
    converse: impl FnOnce(
        &OperatorGate<'_>,
        (&Sender<TalkInput>, &Receiver<TalkInput>),
    ) -> io::Result<Result<(), String>>,
) -> anyhow::Result<Answer> {
    let worker = context.settings.agent()?;
    let worker = worker.ok_or_else(|| usage("FLAGPOST_WORKER names no agent of a run"))?;
    let task = match context.given() {
        Some((task, token)) => Some((context.list()?, task, token)),
        None => None,
    };
    let caller = HookCaller {
        home: &context.home,
        repository: context.own_repository()?,
        worker,
        task,
        client,
        is_unattended: true,
        rules: context.settings.rules,
    };
    let gate = OperatorGate::new(caller, &context.dir, context.settings.report.as_deref());
    let (send, inputs) = mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let told = send.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            if told.send(TalkInput::Stop).is_err() {
                return;
            }
        }
    });
    let result = converse(&gate, (&send, &inputs))?;
    Ok(Answer {
        code: u8::from(result.is_err()),
        ..Answer::silent()
    })
}

/// The server of the agent's tools: it is who this process is.
fn tools(context: &Context) -> anyhow::Result<ToolServer> {
    let settings = &context.settings;
    let home = context.home.root().to_string_lossy().into_owned();
    let told = [
        ("FLAGPOST_HOME", Some(home)),
        ("FLAGPOST_LIST", settings.list.clone()),
        ("FLAGPOST_TASK", settings.task.clone()),
        ("FLAGPOST_TOKEN", settings.token.clone()),
        ("FLAGPOST_WORKER", settings.worker.clone()),
    ];
    let told = told.into_iter();
    Ok(ToolServer {
        program: std::env::current_exe()?,
        variables: told.filter_map(|(name, it)| Some((name, it?))).collect(),
    })
}
