//! How an agent's output looks: for a person, as it was printed, or as JSON.
//!
//! Owns what is done before anything of it reaches a terminal: control characters become pictures, and
//! only then it is coloured. What goes to another program with `--raw` keeps every byte.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal},
};

use anstyle::{AnsiColor, Style};
use flagpost_core::sessions::Output;
use flagpost_model::{TaskId, view};
use flagpost_run::client::{Piece, PieceKind, Renderer};

use crate::{
    context::Context,
    fit::cut,
    output::stream_line,
    screen::{Screen, alarm},
    streams::{Audience, put, put_exact},
    terminal,
};

/// A line that is longer is shown in parts.
const LONGEST: usize = 1 << 20;

/// Where an attempt's output is shown.
pub struct Page<'c> {
    context: &'c Context,
    screen: Screen,
    task: TaskId,
    attempt: u32,
    how: How,
    /// The last lines before they are shown, and how many are wanted.
    held: Option<(VecDeque<String>, usize)>,
}

enum How {
    /// What a person wants of it.
    Rendered(Box<Renderer>),
    /// Every byte.
    Exact,
    /// Line by line; the beginning of the one that is not whole.
    Raw(Vec<u8>),
}

view! {
    /// A piece of what an attempt's agent printed.
    ///
    /// A line of 'flagpost logs TASK'.
    pub struct AttemptLog<'a> {
        task: &'a TaskId,
        #[schemars(range(min = 1))]
        attempt: u32,
        /// Its agent's words, a call of a tool, what the call brought, why it went wrong, a word of its
        /// client, how a turn ended, anything else that was printed, or with --raw a line as it is.
        #[schemars(extend("enum" = ["said", "did", "got", "failed", "note", "ended", "printed", "raw"]))]
        kind: &'a str,
        /// In one line or more; what is not UTF-8 in it is shown as U+FFFD.
        text: &'a str,
    }
}

impl<'c> Page<'c> {
    /// An empty page; of what is there already only the last so many lines are shown.
    pub fn new(context: &'c Context, output: &Output, raw: bool, last: Option<usize>) -> Self {
        let for_a_program = !context.globals.json && !io::stdout().is_terminal();
        Self {
            context,
            screen: Screen::of(context),
            task: output.task.clone(),
            attempt: output.attempt,
            how: match raw {
                false => How::Rendered(Box::new(renderer(context, output))),
                true if for_a_program => How::Exact,
                true => How::Raw(Vec::new()),
            },
            // Where it is raw, the file is read from there.
            held: last.filter(|_| !raw).map(|last| (VecDeque::new(), last)),
        }
    }

    /// Adds what was printed.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<Audience> {
        match &mut self.how {
            How::Exact => put_exact(bytes),
            How::Rendered(renderer) => {
                let pieces = renderer.push(bytes);
                self.show(pieces)
            }
            How::Raw(begun) => {
                begun.extend_from_slice(bytes);
                let end = begun.iter().rposition(|byte| *byte == b'\n');
                let whole = match end {
                    Some(end) => end + 1,
                    None if begun.len() > LONGEST => begun.len(),
                    None => 0,
                };
                let whole: Vec<u8> = begun.drain(..whole).collect();
                self.show_raw(&whole)
            }
        }
    }

    /// Shows what was held: the last lines of what was there. From here on nothing is.
    pub fn flush(&mut self) -> io::Result<Audience> {
        match self.held.take() {
            Some((held, _)) => put(&Vec::from(held).concat()),
            None => Ok(Audience::There),
        }
    }

    /// Shows the last line, where no line break followed it.
    pub fn finish(&mut self) -> io::Result<Audience> {
        match &mut self.how {
            How::Exact => Ok(Audience::There),
            How::Rendered(renderer) => {
                let pieces = renderer.finish();
                self.show(pieces)
            }
            How::Raw(begun) => {
                let rest = std::mem::take(begun);
                self.show_raw(&rest)
            }
        }
    }

    /// Goes on with the output of another attempt.
    pub fn turn_to(&mut self, next: &Output) -> io::Result<Audience> {
        if self.finish()? == Audience::Gone {
            return Ok(Audience::Gone);
        }
        self.attempt = next.attempt;
        match &mut self.how {
            How::Exact | How::Raw(_) => Ok(Audience::There),
            How::Rendered(renderer) => {
                **renderer = self::renderer(self.context, next);
                let text = format!("attempt {} begins", next.attempt);
                let kind = PieceKind::Note;
                self.show(vec![Piece { kind, text }])
            }
        }
    }

    fn show(&mut self, pieces: Vec<Piece>) -> io::Result<Audience> {
        let json = self.context.globals.json;
        let lines = pieces.iter().flat_map(|Piece { kind, text }| match json {
            true => vec![self.line(kind.as_str(), text)],
            false => self.painted(*kind, text),
        });
        let lines: Vec<String> = lines.collect();
        let Some((held, last)) = &mut self.held else {
            return put(&lines.concat());
        };
        held.extend(lines);
        held.drain(..held.len().saturating_sub(*last));
        Ok(Audience::There)
    }

    /// A line of JSON.
    fn line(&self, kind: &str, text: &str) -> String {
        let task = &self.task;
        let attempt = self.attempt;
        stream_line(&AttemptLog::new(task, attempt, kind, text))
    }

    /// A piece for a person, line by line.
    fn painted(&self, kind: PieceKind, text: &str) -> Vec<String> {
        let (indent, style) = match kind {
            PieceKind::Said | PieceKind::Printed => ("", Style::new()),
            PieceKind::Did => ("", AnsiColor::Cyan.on_default()),
            PieceKind::Got => ("    ", AnsiColor::BrightBlack.on_default()),
            PieceKind::Failed => ("    ", alarm()),
            PieceKind::Note => ("", AnsiColor::BrightBlack.on_default()),
            PieceKind::Ended => ("", Style::new().bold()),
        };
        // What a call brought is told in brief anyway; the rest is the reader's to have whole.
        let room = self.screen.columns().filter(|_| kind == PieceKind::Got);
        let room = room.map(|columns| columns.saturating_sub(indent.len()));
        let text = terminal::clean(text, false);
        let lines = text.split('\n').map(|line| {
            let line = room.map_or_else(|| line.to_owned(), |room| cut(line, room));
            format!("{indent}{}\n", self.screen.paint(style, &line))
        });
        lines.collect()
    }

    fn show_raw(&mut self, bytes: &[u8]) -> io::Result<Audience> {
        let text = String::from_utf8_lossy(bytes);
        if !self.context.globals.json {
            return put(&terminal::clean(&text, false));
        }
        let lines = text.lines().map(|line| self.line("raw", line));
        put(&lines.collect::<String>())
    }
}

fn renderer(context: &Context, output: &Output) -> Renderer {
    let client = output.agent.as_deref().and_then(|agent| agent.parse().ok());
    let dir = output.dir.clone();
    let dir = dir.or_else(|| Some(context.repository().ok()??.top));
    let renderer = Renderer::new(client);
    match dir {
        Some(dir) => renderer.within(&dir),
        None => renderer,
    }
}
