//! `acp`: carries on the conversation of a run with an agent over the Agent Client Protocol.
//!
//! Owns who speaks for the agent: the worker and the task that its environment names. A run starts it in the agent's
//! place; it ends with the conversation, and when it is told to.

use std::{ffi::OsString, io::Read as _, sync::mpsc, thread};

use flagpost_core::hooks::HookCaller;
use flagpost_model::client::Client;
use flagpost_run::client::acp::{AcpInput, AcpTerms, OperatorGate, ToolServer, converse};
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

/// Carries it on to its end.
pub fn run(context: &Context, args: &AcpArgs) -> anyhow::Result<Answer> {
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
        client: Client::Acp,
        is_unattended: true,
        rules: context.settings.rules,
    };
    let mut prompt = String::new();
    std::io::stdin().lock().read_to_string(&mut prompt)?;
    let terms = AcpTerms {
        command: args.command.clone(),
        dir: context.dir.clone(),
        prompt,
        resumes: args.resume.clone(),
        tools: match args.tools {
            true => Some(tools(context)?),
            false => None,
        },
    };
    let gate = OperatorGate::new(caller, &context.dir, context.settings.report.as_deref());
    let (send, inputs) = mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let told = send.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            if told.send(AcpInput::Stop).is_err() {
                return;
            }
        }
    });
    let result = converse(&terms, &gate, (&send, &inputs), &mut std::io::stdout())?;
    let code = u8::from(result.is_err());
    Ok(Answer {
        code,
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
