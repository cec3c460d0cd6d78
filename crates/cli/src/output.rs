//! What a verb answers, and how it is printed.
//!
//! Owns stdout and stderr: one JSON object, or aligned text, or bare ids on stdout; everything
//! about the answer rather than in it on stderr. A closed pipe is success. What people read passes
//! through [`terminal`] here, and nowhere else.

use std::io::{self, IsTerminal, Write};

use anyhow::Context as _;
use clap::error::ErrorKind;
use flagpost_core::answers::Published;
use serde_json::{Map, Value, json};

use crate::{
    args::Globals,
    context::Context,
    error::{self, FailureKind, usage_with},
    fit,
    screen::{Screen, columns_of, rows_of},
    terminal,
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
    put_to(&format!("{top}{}", shown(context, answer)))
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

/// Whether somebody reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// As far as we know.
    There,
    /// It has read enough.
    Gone,
}

/// Prints one line of a stream.
pub fn stream<T: Published>(body: &T) -> io::Result<Audience> {
    put_to(&stream_line(body))
}

/// The same, to be printed later.
pub fn stream_line<T: Published>(body: &T) -> String {
    line_of(T::NAME, Answer::of(body).body)
}

/// Prints one of which there is only JSON.
pub fn stream_named(name: &str, body: Map<String, Value>) -> io::Result<Audience> {
    put_to(&line_of(name, body))
}

fn line_of(schema_name: &str, body: Map<String, Value>) -> String {
    let mut object = Map::from_iter([("schema".to_owned(), schema(schema_name))]);
    object.extend(body);
    format!("{}\n", terminal::json(&Value::Object(object).to_string()))
}

/// Prints text of which nothing steers a terminal but colours of ours.
pub fn put_clean(text: &str) -> io::Result<Audience> {
    put_to(text)
}

/// Prints for another program to read: every byte.
pub fn put_exact(bytes: &[u8]) -> io::Result<Audience> {
    put_bytes(bytes)
}

/// Prints one line of a stream for a person.
pub fn stream_text(text: &str) -> io::Result<Audience> {
    put_to(&format!("{}\n", terminal::clean(text, false)))
}

/// Prints an error; the exit code.
pub fn failure(globals: &Globals, error: &anyhow::Error) -> u8 {
    let (kind, hint) = error::judge(error);
    let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    if globals.json {
        if let Err(lost) = put_error(kind, &error.to_string(), hint.as_deref(), &causes) {
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
            failure(&globals, &error::mistyped(parsed))
        }
    }
}

fn put_error(
    kind: FailureKind,
    message: &str,
    hint: Option<&str>,
    causes: &[String],
) -> io::Result<()> {
    let object = flagpost_core::shape::error(kind, message, hint, causes);
    put(&format!("{}\n", terminal::json(&object.to_string())))
}

fn schema(name: &str) -> Value {
    let version = if name.contains('/') { "" } else { "/1" };
    format!("flagpost.{name}{version}").into()
}

/// Writes to stdout; whoever closed it has read enough.
fn put(text: &str) -> io::Result<()> {
    put_to(text).map(drop)
}

/// The same for who has more to write.
fn put_to(text: &str) -> io::Result<Audience> {
    put_bytes(text.as_bytes())
}

fn put_bytes(bytes: &[u8]) -> io::Result<Audience> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Audience::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Audience::Gone),
        Err(error) => Err(error),
    }
}

fn unless_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a line to stderr; nobody can be told if that fails.
pub fn say(line: &str) {
    let line = terminal::clean(line, false);
    let line = match columns_of(io::stderr()) {
        Some(columns) => fit::wrapped(&line, columns.into()),
        None => line,
    };
    let _: io::Result<()> = writeln!(io::stderr().lock(), "{line}");
}

/// The same of lines that have their width and their colours already.
pub fn say_styled(lines: &str) {
    let lines = terminal::clean(lines, true);
    let _: io::Result<()> = writeln!(io::stderr().lock(), "{lines}");
}

/// Sends bytes to the terminal that stderr is, as they are; false where it is none.
pub fn ring(bytes: &[u8]) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    if !stderr.is_terminal() {
        return Ok(false);
    }
    stderr.write_all(bytes)?;
    stderr.flush()?;
    Ok(true)
}

/// Has a person agree, unless they did with `--yes`. Without it `nothing` says what did not happen.
pub fn confirm(yes: bool, question: &str, nothing: &str) -> anyhow::Result<()> {
    let why = match if yes { Some(true) } else { ask(question)? } {
        Some(true) => return Ok(()),
        Some(false) => nothing.to_owned(),
        None => format!("nobody is there to confirm, so {nothing}"),
    };
    Err(usage_with(why, "--yes does not ask"))
}

/// What a person answers to a question; none where nobody is there to be asked.
pub fn ask(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    say(&format!("{question} [y/N]"));
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(Some(line.trim().eq_ignore_ascii_case("y")))
}
