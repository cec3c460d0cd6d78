//! `bridge send`: a command, and its answer.

use std::time::Duration;

use flagpost_core::{
    Error,
    bridge::{Bridge, NewCommand, send},
};
use flagpost_model::{ListId, bridge::CommandSource};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{reply_line, text};
use crate::{
    commands::{query::named, waiting::time},
    context::Context,
    error::{Invalid, usage},
    output::Answer,
    terminal::line,
    text::TextArg as TextSource,
};

/// Send a command through the inbox, and show its answer
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost bridge send '{\"command\":\"create\",\"payload\":{\"title\":\"Fix bug\"}}'\n\n\
    What the command lacks is filled in: id, timestamp, source and the list of where you stand. \
    Where no bridge runs, it is carried out at once. Exits with 1 where the answer is an error."
)]
pub struct BridgeSendArgs {
    /// The command, a JSON object; - is stdin
    command: Option<String>,
    #[command(flatten)]
    text: TextSource,
    /// How long to wait for the answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    timeout: SignedDuration,
    /// Who sends it: claude-code, codex, custom
    #[arg(long, value_name = "NAME", default_value = "custom", value_parser = named::<CommandSource>)]
    source: CommandSource,
}

/// Sends it.
pub fn run(context: &Context, args: &BridgeSendArgs) -> anyhow::Result<Answer> {
    let typed = args.text.read(args.command.as_deref())?;
    let typed = typed.ok_or_else(|| usage("say what to send, as in '{\"command\":\"list\"}'"))?;
    let invalid = |reason: String| Invalid {
        what: "the command".to_owned(),
        reason,
    };
    let command: Map<String, Value> = match serde_json::from_str(&typed) {
        Ok(Value::Object(command)) => command,
        Ok(_) => return Err(invalid("it is no JSON object".to_owned()).into()),
        Err(error) => return Err(invalid(error.to_string()).into()),
    };
    let adds = ["create", "create-subtask"].map(Value::from);
    let adds = command
        .get("command")
        .is_some_and(|verb| adds.contains(verb));
    let list = list(context)?;
    let bridge = Bridge::of(&context.home, list.clone())?;
    let given = NewCommand {
        command,
        source: args.source,
        list,
    };
    let wait = Duration::try_from(args.timeout)
        .map_err(|_| usage("how long to wait is a time, as in 5s"))?;
    let answer = send(&bridge, given, wait)?;
    Ok(shown(&answer, adds))
}

/// The list of where we stand; one that is not there yet is made, as `add` does.
fn list(context: &Context) -> anyhow::Result<Option<ListId>> {
    match context.list_or_create() {
        Ok(list) => Ok(Some(list.name_for(super::NO_BRIDGE)?.clone())),
        // The bridge may have one of its own.
        Err(error) if is_nowhere(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_nowhere(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::NoRepository { .. }))
}

/// What the bridge answered.
///
/// After 'flagpost agent send'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentAnswer<'a> {
    /// The answer, in the protocol of the bridge.
    #[schemars(schema_with = "super::reply_schema")]
    answer: &'a Value,
}

fn shown(answer: &Value, adds: bool) -> Answer {
    let data = answer.get("data").unwrap_or(&Value::Null);
    let data = data.get("tasks").unwrap_or(data);
    let said = match data {
        Value::Array(items) if items.iter().all(Value::is_object) => {
            let each = items.iter().map(task);
            format!("✓ {}\n{}", reply_line(answer), each.collect::<String>())
        }
        Value::Array(items) => items
            .iter()
            .map(|name| format!("{}\n", bare(name)))
            .collect(),
        Value::Object(numbers) if text(data, "title").is_none() => {
            format!("✓ ok\n{:#}", Value::Object(numbers.clone()))
        }
        _ if answer.get("error").is_some() => format!("✗ {}", reply_line(answer)),
        _ if adds => format!("✓ {}", reply_line(answer).replacen("ok", "Task created", 1)),
        _ => format!("✓ {}", reply_line(answer)),
    };
    let ids = match data {
        Value::Array(items) => items.iter().filter_map(|it| text(it, "id")).collect(),
        one => text(one, "id").into_iter().collect::<Vec<_>>(),
    };
    let mut shown = Answer::of(&AgentAnswer { answer }).text(said).ids(ids);
    shown.code = u8::from(text(answer, "status") != Some("ok"));
    shown
}

fn task(task: &Value) -> String {
    let word = |key| text(task, key).unwrap_or_default();
    format!(
        "  {} {} [{}]\n",
        word("id"),
        line(word("title")),
        word("status")
    )
}

fn bare(name: &Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), line)
}
