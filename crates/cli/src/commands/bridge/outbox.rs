//! `bridge outbox`, `bridge clear`: what was answered.

use flagpost_model::view;
use serde_json::Value;

use super::{bridge, reply_line, text};
use crate::{context::Context, output::Answer, screen::Screen, terminal::line};

/// Show the newest answers in agent-outbox.json
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge outbox --limit 0")]
pub struct BridgeOutboxArgs {
    /// So many at most; 0 is all
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Empty agent-outbox.json
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge clear\n\
    What was executed stays known: a command is not carried out twice.")]
pub struct ClearArgs {}

view! {
    /// The newest answers of the bridge.
    ///
    /// After 'flagpost agent outbox'.
    pub struct AgentOutbox<'a> {
        /// As they stand in the file, oldest first.
        answers: &'a [Value],
        /// How many there are.
        total: usize,
        truncated: bool,
    }

    /// How many answers were cleared.
    ///
    /// After 'flagpost agent clear'.
    pub struct AgentCleared {
        cleared: usize,
    }
}

/// Shows them.
pub fn show(context: &Context, args: &BridgeOutboxArgs) -> anyhow::Result<Answer> {
    let all = bridge(context)?.answers()?;
    let first = match args.limit {
        0 => 0,
        limit => all.len().saturating_sub(limit),
    };
    let newest = &all[first..];
    let rows: Vec<Vec<String>> = newest.iter().map(row).collect();
    let said = match rows.is_empty() {
        true => "the outbox is empty".to_owned(),
        false => Screen::of(context).table(&["COMMAND", "ANSWER"], rows),
    };
    let outbox = AgentOutbox::new(newest, all.len(), first > 0);
    let ids = newest.iter().filter_map(|it| text(it, "commandId"));
    Ok(Answer::of(&outbox).text(said).ids(ids))
}

fn row(answer: &Value) -> Vec<String> {
    let id = text(answer, "commandId").map_or("none".to_owned(), line);
    vec![id, reply_line(answer)]
}

/// Empties it.
pub fn clear(context: &Context, _: &ClearArgs) -> anyhow::Result<Answer> {
    let cleared = bridge(context)?.clear()?;
    Ok(Answer::of(&AgentCleared::new(cleared)).text(format!("cleared {cleared} answers")))
}
