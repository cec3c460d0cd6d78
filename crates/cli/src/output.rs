//! What a verb answers, and how it is printed.
//!
//! Owns stdout and stderr: one JSON object, or aligned text, or bare ids on stdout; everything
//! about the answer rather than in it on stderr. A closed pipe is success. What people read passes
//! through [`terminal`] here, and nowhere else.

use std::io::{self, IsTerminal};

use anyhow::Context as _;
use flagpost_core::answers::Published;
use serde_json::{Map, Value, json};

use crate::{
    context::Context,
    screen::Screen,
    streams::{Audience, put, say},
    terminal::{self, rows_of},
};

/// What a verb has to say.
#[derive(Debug, Default)]
pub struct Answer {
    /// The name of the JSON shape, without its prefix: `task/1`.
    pub schema: &'static str,
    /// The JSON object.
    pub body: Map<String, Value>,
    /// The same for a person.
    pub text: String,
    /// The same for another program to read: not a byte of it is changed. A person on a terminal reads it
    /// too where there is no text.
    pub exact: Option<String>,
    /// The same for `--quiet`.
    pub ids: Vec<String>,
    /// What a person should know besides, on stderr.
    pub notes: Vec<String>,
    /// What to do once it is shown, and not before.
    pub then: Option<Then>,
    /// The exit code: 0 unless the verb itself worked and what it found is a failure.
    pub code: u8,
}

/// What is left to do with what was shown.
pub struct Then(Box<Deed>);

type Deed = dyn FnOnce(&Context) -> anyhow::Result<()>;

impl std::fmt::Debug for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Then")
    }
}

impl Answer {
    /// Nothing more to say: what there was went out as a stream.
    pub fn silent() -> Self {
        Self::default()
    }

    /// This answer.
    pub fn of<T: Published>(body: &T) -> Self {
        let body = match json!(body) {
            Value::Object(body) => body,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self {
            schema: T::NAME,
            body,
            ..Self::default()
        }
    }

    /// With this text for a person.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// With this text for another program.
    #[must_use]
    pub fn exact(mut self, text: String) -> Self {
        self.exact = Some(text);
        self
    }

    /// With these ids for `--quiet`.
    #[must_use]
    pub fn ids(mut self, ids: impl IntoIterator<Item = impl ToString>) -> Self {
        self.ids = ids.into_iter().map(|id| id.to_string()).collect();
        self
    }

    /// With this to be done once it is shown.
    #[must_use]
    pub fn then(mut self, then: impl FnOnce(&Context) -> anyhow::Result<()> + 'static) -> Self {
        self.then = Some(Then(Box::new(then)));
        self
    }

    /// With these remarks.
    #[must_use]
    pub fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}

/// Prints an answer; the exit code.
pub fn answer(context: &Context, answer: Answer) -> anyhow::Result<u8> {
    for note in &answer.notes {
        say(&format!("flagpost: {note}"));
    }
    if answer.schema.is_empty() {
        return Ok(answer.code);
    }
    let text = shown(context, &answer);
    let lost = match &answer.then {
        None => "it is done, but the answer cannot be written to stdout",
        Some(_) => "the answer cannot be written to stdout, so it does not count as read",
    };
    put(&text).context(lost)?;
    if let Some(Then(then)) = answer.then {
        then(context)?;
    }
    Ok(answer.code)
}

/// Prints an answer in the place of the one before: on a terminal where that stood, elsewhere below it.
pub fn again(context: &Context, answer: &Answer) -> io::Result<Audience> {
    const FROM_THE_TOP: &str = "\u{1b}[H\u{1b}[J";
    let top = rows(context).map_or("", |_| FROM_THE_TOP);
    put(&format!("{top}{}", shown(context, answer)))
}

/// How many rows an answer may have that is printed in the place of the one before; none where it is
/// printed below it.
pub fn rows(context: &Context) -> Option<usize> {
    let globals = &context.globals;
    let rows = rows_of(io::stdout()).filter(|_| !globals.json && !globals.quiet);
    // The cursor is in the last one.
    rows.map(|rows| usize::from(rows).saturating_sub(1))
}

/// An answer as it is asked for: JSON in a line, ids, or the text.
fn shown(context: &Context, answer: &Answer) -> String {
    if context.globals.json {
        let mut object = Map::from_iter([("schema".to_owned(), schema(answer.schema))]);
        object.extend(answer.body.clone());
        format!("{}\n", terminal::json(&Value::Object(object).to_string()))
    } else if context.globals.quiet {
        answer.ids.iter().map(|id| format!("{id}\n")).collect()
    } else if let Some(exact) = answer
        .exact
        .as_ref()
        .filter(|_| !io::stdout().is_terminal())
    {
        exact.clone()
    } else {
        let screen = Screen::of(context);
        let text = match answer.exact.as_ref().filter(|_| answer.text.is_empty()) {
            Some(exact) => terminal::clean(exact, screen.is_coloured()),
            None => screen.wrapped(&terminal::clean(&answer.text, screen.is_coloured())),
        };
        if text.is_empty() || text.ends_with('\n') {
            text
        } else {
            format!("{text}\n")
        }
    }
}

/// Prints one line of a stream.
pub fn stream<T: Published>(body: &T) -> io::Result<Audience> {
    put(&stream_line(body))
}

/// The same, to be printed later.
pub fn stream_line<T: Published>(body: &T) -> String {
    line_of(T::NAME, Answer::of(body).body)
}

/// Prints one of which there is only JSON.
pub fn stream_named(name: &str, body: Map<String, Value>) -> io::Result<Audience> {
    put(&line_of(name, body))
}

fn line_of(schema_name: &str, body: Map<String, Value>) -> String {
    let mut object = Map::from_iter([("schema".to_owned(), schema(schema_name))]);
    object.extend(body);
    format!("{}\n", terminal::json(&Value::Object(object).to_string()))
}

fn schema(name: &str) -> Value {
    let version = if name.contains('/') { "" } else { "/1" };
    format!("flagpost.{name}{version}").into()
}
