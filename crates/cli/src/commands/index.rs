//! `index`: the projection of everything into SQL.

use std::borrow::Cow;

use clap::Subcommand;
use flagpost_core::{
    answers::UnreadThings,
    index::{self, IndexCounts, IndexStatus, Rows, SqlValue},
};
use flagpost_model::view;
use jiff::SignedDuration;

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
    Tables: tasks, messages, history, envelope, log, passage and words; docs/formats/index.md \
    tells their columns."
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
                answer(context, &status).text("").exact(format!("{path}\n")),
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

view! {
    /// How the index is.
    ///
    /// After 'flagpost index status', 'path' and 'rebuild'; docs/formats/index.md tells what is in it.
    pub struct IndexAnswer<'a> from it: &'a IndexStatus {
        /// Its file.
        path: Cow<'a, str> = it.path.to_string_lossy(),
        /// How large the file is.
        bytes: u64 = it.bytes,
        /// The file could not be used; this was built in memory, for this once.
        in_memory: bool = it.in_memory,
        counts: IndexCounts = it.counts,
        #[serde(flatten)]
        faults: UnreadThings<'a> = it.faults.as_slice().into(),
    }

    /// What the index answered.
    ///
    /// After 'flagpost index sql'.
    pub struct RowsAnswer<'a> from it: &'a Rows {
        /// Their names.
        columns: &'a [String] = &it.columns,
        /// Each with a value for each column.
        rows: &'a [Vec<SqlValue>] = &it.rows,
        /// How many there are, shown or not.
        total: usize = it.total,
        /// Whether more are there than are shown; --limit 0 shows all.
        truncated: bool = it.rows.len() < it.total,
    }
}

fn answer(context: &Context, status: &IndexStatus) -> Answer {
    let body = IndexAnswer::from(status);
    let mut notes = body.faults.unreadable.clone();
    if status.in_memory {
        let path = status.path.display();
        notes.push(format!(
            "{path} cannot be written now; what is there may be old"
        ));
    }
    let IndexCounts {
        tasks,
        messages,
        sessions,
        history,
    } = status.counts;
    let counts = [
        ("tasks", tasks),
        ("messages", messages),
        ("sessions", sessions),
        ("history", history),
    ];
    let counts = counts.map(|(what, count)| vec![what.to_owned(), count.to_string()]);
    let table = Screen::of(context).table(&["IN IT", "COUNT"], counts.into());
    Answer::of(&body)
        .text(format!("{}\n{table}", status.path.display()))
        .ids([status.path.display()])
        .notes(notes)
        .notes(shape::skipped_notes(&body.faults.files()))
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
    let cells = rows.rows.iter().map(|row| row.iter().map(cell).collect());
    let header: Vec<&str> = rows.columns.iter().map(String::as_str).collect();
    let first = rows.rows.iter().filter_map(|row| row.first()).map(cell);
    Ok(Answer::of(&RowsAnswer::from(&rows))
        .text(Screen::of(context).table(&header, cells.collect()) + &more(hidden))
        .ids(first)
        .notes(unseen(context, hidden)))
}

fn cell(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => line(text),
        SqlValue::Blob { bytes } => format!("{bytes} bytes"),
    }
}
