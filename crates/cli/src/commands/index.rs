//! `index`: the projection of everything into SQL.

use clap::Subcommand;
use flagpost_core::{
    Skipped,
    index::{self, IndexFault, IndexStatus, Owner},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    list::{LIMIT, more, unseen},
    waiting::time,
};
use crate::{
    context::Context, error::usage, output::Answer, screen::Screen, shape, terminal::line,
    text::TextArg,
};

/// The verbs on the index.
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Show what is in it, and what could not be read
    #[command(after_help = "Example: flagpost index status --json")]
    Status,
    /// Bring it up to date and print where it is
    #[command(
        after_help = "Example: sqlite3 \"$(flagpost index path)\" 'SELECT * FROM messages ORDER BY id'"
    )]
    Path,
    /// Make it anew, from the files alone
    #[command(after_help = "Example: flagpost index rebuild")]
    Rebuild,
    Sql(SqlArgs),
}

/// Ask it in SQL; nothing is written
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost index sql \"SELECT * FROM messages WHERE thread_id = 'epic-1' ORDER BY id\"\n\n\
    The tables are told in docs/formats/index.md."
)]
pub struct SqlArgs {
    /// The question; - reads stdin
    question: Option<String>,
    #[command(flatten)]
    source: TextArg,
    /// At most this many rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    limit: usize,
    /// How long it may take
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    timeout: SignedDuration,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &IndexCommand) -> anyhow::Result<Answer> {
    let status = || index::ask(&context.home, |index| index.status(&context.home));
    match verb {
        IndexCommand::Status => Ok(answer(context, &status()?)),
        IndexCommand::Path => {
            let status = status()?;
            let path = status.path.display();
            Ok(written(
                answer(context, &status).exact(format!("{path}\n")),
                &status,
            ))
        }
        IndexCommand::Rebuild => {
            let status = index::rebuild(&context.home)?;
            Ok(written(answer(context, &status), &status))
        }
        IndexCommand::Sql(args) => sql(context, args),
    }
}

/// Whoever wants the file has not got what they asked for where it is old.
fn written(answer: Answer, status: &IndexStatus) -> Answer {
    Answer {
        code: u8::from(status.in_memory),
        ..answer
    }
}

fn answer(context: &Context, status: &IndexStatus) -> Answer {
    let counts: serde_json::Map<String, Value> = status
        .counts
        .iter()
        .map(|(what, count)| ((*what).to_owned(), (*count).into()))
        .collect();
    let mut body = json!({
        "path": shape::path(&status.path),
        "bytes": status.bytes,
        "in_memory": status.in_memory,
        "counts": counts,
    });
    let (skipped, mut notes) = faults(&mut body, &status.faults);
    if status.in_memory {
        let path = status.path.display();
        notes.push(format!(
            "{path} cannot be written now; what is there may be old"
        ));
    }
    let counts = status
        .counts
        .iter()
        .map(|(what, count)| vec![(*what).to_owned(), count.to_string()]);
    let table = Screen::of(context).table(&["IN IT", "COUNT"], counts.collect());
    Answer::new("index", body)
        .text(format!("{}\n{table}", status.path.display()))
        .ids([status.path.display()])
        .notes(notes)
        .notes(shape::skipped_notes(&skipped))
}

fn sql(context: &Context, args: &SqlArgs) -> anyhow::Result<Answer> {
    let Some(question) = args.source.read(args.question.as_deref())? else {
        return Err(usage(
            "ask in SQL, as in index sql 'SELECT * FROM messages'",
        ));
    };
    let time = args.timeout.unsigned_abs();
    let rows = index::ask(&context.home, |index| {
        index.sql(&question, args.limit, time)
    })?;
    let hidden = rows.total - rows.rows.len();
    let body = json!({
        "columns": rows.columns,
        "rows": rows.rows.iter().map(|row| row.iter().map(value).collect()).collect::<Vec<Vec<_>>>(),
        "total": rows.total,
        "truncated": hidden > 0,
    });
    let cells = rows.rows.iter().map(|row| row.iter().map(cell).collect());
    let header: Vec<&str> = rows.columns.iter().map(String::as_str).collect();
    let first = rows.rows.iter().filter_map(|row| row.first()).map(cell);
    Ok(Answer::new("rows", body)
        .text(Screen::of(context).table(&header, cells.collect()) + &more(hidden))
        .ids(first)
        .notes(unseen(context, hidden)))
}

fn value(value: &index::SqlValue) -> Value {
    match value {
        index::SqlValue::Null => Value::Null,
        index::SqlValue::Integer(number) => (*number).into(),
        index::SqlValue::Real(number) => (*number).into(),
        index::SqlValue::Text(text) => text.as_str().into(),
        index::SqlValue::Blob(bytes) => json!({"bytes": bytes}),
    }
}

fn cell(value: &index::SqlValue) -> String {
    match value {
        index::SqlValue::Null => String::new(),
        index::SqlValue::Integer(number) => number.to_string(),
        index::SqlValue::Real(number) => number.to_string(),
        index::SqlValue::Text(text) => line(text),
        index::SqlValue::Blob(bytes) => format!("{bytes} bytes"),
    }
}

/// Puts what could not be read into an answer; the files among it, and the rest as remarks.
pub fn faults(body: &mut Value, faults: &[IndexFault]) -> (Vec<Skipped>, Vec<String>) {
    let (mut skipped, mut shapes, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for fault in faults {
        let (list, repository) = match &fault.owner {
            Owner::Home => (None, None),
            Owner::List(list) => (Some(list.as_str()), None),
            Owner::Repository(repository) => (None, Some(repository.as_str())),
        };
        let Some(file) = &fault.file else {
            notes.push(whole(&fault.owner, &fault.reason));
            continue;
        };
        shapes.push(json!({
            "list": list, "repository": repository, "file": file, "reason": fault.reason,
        }));
        skipped.push(Skipped::new(file.clone(), fault.reason.clone()));
    }
    body["skipped"] = shapes.into();
    body["unreadable"] = json!(notes);
    (skipped, notes)
}

fn whole(owner: &Owner, reason: &str) -> String {
    match owner {
        Owner::Home => reason.to_owned(),
        Owner::List(list) => format!("list {list} cannot be looked through: {reason}"),
        Owner::Repository(repository) => {
            format!("repository {repository} cannot be looked through: {reason}")
        }
    }
}
