//! A client's output as a person reads it.
//!
//! Owns the few kinds of lines that this becomes: what its agent said, what it did and got, how it
//! ended. What a client's event looks like belongs to its own file. Lines that are not the client's
//! events go through as they are. Nothing here is safe for a terminal: who shows it makes it so.

mod acp;
mod claude;
mod codex;
mod gemini;
mod opencode;

use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{
    Client, ClientOutput, Fact, Limit,
    reader::{Stream, action, json, lines::Lines, text, totals::OutputReading},
};

/// So many lines of a result are shown.
const RESULT_LINES: usize = 4;

/// So much of each.
const RESULT_LINE: usize = 200;

/// So much of a turn of the user.
const ASKED: usize = 600;

/// What is shown of some output, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// In one line or more, without a line break at the end.
    pub text: String,
}

/// What a piece of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Words of the agent.
    Said,
    /// A call of a tool.
    Did,
    /// What a call brought, in brief.
    Got,
    /// Why a call went wrong, in brief.
    Failed,
    /// Something that the client tells of itself.
    Note,
    /// How a turn ended, and what it took.
    Ended,
    /// Anything else that was printed.
    Printed,
}

impl PieceKind {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Did => "did",
            Self::Got => "got",
            Self::Failed => "failed",
            Self::Note => "note",
            Self::Ended => "ended",
            Self::Printed => "printed",
        }
    }
}

/// Makes pieces of the output of one attempt.
#[derive(Debug)]
pub struct Renderer {
    lines: Lines,
    /// The client, once it is known.
    known: Option<RenderState>,
    page: Page,
}

/// A client's output under way.
#[derive(Debug)]
struct RenderState {
    client: Client,
    stream: Stream,
    hearing: OutputReading,
    /// Pieces of a text that is not whole: its last line.
    speech: gemini::Speech,
    /// Calls of which more is told.
    calls: acp::ShownCalls,
}

impl Renderer {
    /// For the output of this client; where it is not known, the output tells.
    pub fn new(client: Option<Client>) -> Self {
        Self {
            lines: Lines::default(),
            known: client.map(RenderState::new),
            page: Page::default(),
        }
    }

    /// The same, where paths below this directory are shown from there.
    #[must_use]
    pub fn within(mut self, dir: &Path) -> Self {
        self.page.stands_in(&dir.to_string_lossy());
        self
    }

    /// What these bytes add. A line is shown once it is whole.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let Self { lines, known, page } = self;
        lines.feed(bytes, |line| show(line, known, page));
        std::mem::take(&mut page.pieces)
    }

    /// What the last line adds, where no line break followed it.
    pub fn finish(&mut self) -> Vec<Piece> {
        let Self { lines, known, page } = self;
        lines.finish(|line| show(line, known, page));
        if let Some(known) = known {
            known.speech.end(page);
        }
        std::mem::take(&mut page.pieces)
    }
}

fn show(line: Option<&[u8]>, known: &mut Option<RenderState>, page: &mut Page) {
    let Some(line) = line else {
        return page.put(PieceKind::Note, "(a line that is too long to show)");
    };
    if json::is_object(line) {
        if known.is_none() {
            *known = sniffed(line).map(RenderState::new);
        }
        if let Some(known) = known
            && let Some(event) = json::value(line)
            && (known.client == Client::Acp || json::text(&event, "type").is_some())
        {
            return known.event(line, &event, page);
        }
    }
    if let Some(known) = known {
        known.error_line(line, page);
    }
    page.put(
        PieceKind::Printed,
        &unstyled(&String::from_utf8_lossy(line)),
    );
}

/// Whose event this is.
fn sniffed(line: &[u8]) -> Option<Client> {
    let event = json::value(line)?;
    let has = |key| json::text(&event, key).is_some();
    if has("flagpost") {
        return Some(Client::Acp);
    }
    match json::text(&event, "type")? {
        "thread.started" => Some(Client::Codex),
        "init" if has("session_id") => Some(Client::Gemini),
        "system" | "result" if has("session_id") && has("subtype") => Some(Client::Claude),
        "step_start" | "error" if has("sessionID") => Some(Client::Opencode),
        _ => None,
    }
}

impl RenderState {
    fn new(client: Client) -> Self {
        Self {
            client,
            stream: Stream::of(client),
            hearing: OutputReading::new(TimeZone::UTC),
            speech: gemini::Speech::default(),
            calls: acp::ShownCalls::default(),
        }
    }

    /// Words for a person, which may mean something.
    fn error_line(&mut self, line: &[u8], page: &mut Page) {
        self.speech.end(page);
        self.stream.line(line, &mut self.hearing);
        // They are shown as they are.
        self.hearing.take();
    }

    fn event(&mut self, line: &[u8], event: &Value, page: &mut Page) {
        self.stream.line(line, &mut self.hearing);
        let facts = self.hearing.take();
        let heard = &self.hearing.heard;
        let (ends, facts): (Vec<_>, Vec<_>) = facts
            .into_iter()
            .partition(|fact| matches!(fact, Fact::Ended { .. }));
        for fact in facts {
            page.note(&fact, self.client, heard);
        }
        match self.client {
            Client::Claude | Client::Cursor => claude::event(event, page),
            Client::Codex => codex::event(event, page),
            Client::Gemini => gemini::event(event, &mut self.speech, page),
            Client::Opencode => opencode::event(event, page),
            Client::Acp => acp::event(line, &mut self.calls, &mut self.speech, page),
            Client::Aider => {}
        }
        for fact in ends {
            page.note(&fact, self.client, heard);
        }
    }
}

/// What is shown.
#[derive(Debug, Default)]
struct Page {
    pieces: Vec<Piece>,
    /// Where the agent works, with a slash at the end.
    dir: Option<String>,
}

impl Page {
    fn stands_in(&mut self, dir: &str) {
        self.dir = Some(format!("{}/", dir.trim_end_matches('/')));
    }

    fn put(&mut self, kind: PieceKind, text: &str) {
        let text = text.to_owned();
        self.pieces.push(Piece { kind, text });
    }

    /// Words of the agent.
    fn agent_text(&mut self, words: &str) {
        let words = words.trim_matches('\n').trim_end();
        if !words.is_empty() {
            self.put(PieceKind::Said, words);
        }
    }

    /// A turn of the user: its first line says enough.
    fn asked(&mut self, words: &str) {
        let line = words.lines().find(|line| !line.trim().is_empty());
        let line = text::beginning(line.unwrap_or_default(), ASKED);
        self.put(PieceKind::Note, &format!("> {line}"));
    }

    /// A call of a tool: what it acts on, and how that is called by people.
    fn did(&mut self, tool: &str, arguments: &Value) {
        let what = action::what(arguments);
        let verb = match tool.to_ascii_lowercase().as_str() {
            "bash" | "shell" | "run_shell_command" | "exec_command" => "$",
            "edit" | "multiedit" | "notebookedit" | "replace" | "patch" => "edit",
            "write" | "write_file" => "write",
            "read" | "read_file" => "read",
            _ => tool,
        };
        let what = match verb {
            "$" => &what,
            _ => self.below(&what),
        };
        let text = format!("{verb} {what}");
        self.put(PieceKind::Did, text.trim_end());
    }

    /// A path from where the agent works.
    fn below<'p>(&self, path: &'p str) -> &'p str {
        let dir = self.dir.as_deref();
        dir.and_then(|dir| path.strip_prefix(dir)).unwrap_or(path)
    }

    /// What a call brought: of what went well the beginning, of what did not the end.
    fn got(&mut self, output: &str, failed: bool) {
        let lines: Vec<&str> = output.trim_matches('\n').trim_end().lines().collect();
        let left_out = lines.len().saturating_sub(RESULT_LINES);
        let shown = match failed {
            true => &lines[left_out..],
            false => &lines[..lines.len() - left_out],
        };
        let mut text: Vec<String> = shown
            .iter()
            .map(|line| text::beginning(line, RESULT_LINE).into_owned())
            .collect();
        match (left_out, failed) {
            (0, _) => {}
            (n, true) => text.insert(0, format!("… {n} more before")),
            (n, false) => text.push(format!("… {n} more")),
        }
        let kind = if failed {
            PieceKind::Failed
        } else {
            PieceKind::Got
        };
        let text = text.join("\n");
        if !text.is_empty() {
            self.put(kind, &text);
        }
    }

    /// A fact that the client told.
    fn note(&mut self, fact: &Fact, client: Client, heard: &ClientOutput) {
        match fact {
            Fact::Started => {
                // Which program it is that speaks a protocol, its version says.
                let is_named = client == Client::Acp && heard.version.is_some();
                let mut words = Vec::from_iter((!is_named).then(|| client.to_string()));
                words.extend(heard.version.clone());
                let named = [heard.model.clone()];
                let session = heard.session.as_ref().map(|it| format!("session {it}"));
                let parts = named.into_iter().chain([session]).flatten();
                let text = parts.fold(words.join(" "), |all, part| all + ", " + &part);
                self.put(PieceKind::Note, &text);
            }
            Fact::Retrying { attempt, of, why } => {
                let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
                let text = format!("waits for the API, try {attempt}{of}: {why}");
                self.put(PieceKind::Note, &text);
            }
            Fact::AskedForReport => {
                self.put(PieceKind::Note, "> asked for the report of its attempt");
            }
            Fact::ServerMissing { name, status } => {
                let text = format!("its server {name} is not there: {status}");
                self.put(PieceKind::Note, &text);
            }
            Fact::Limit(Limit::Warning { window, .. }) => {
                let text = format!("near its account's limit: {window}");
                self.put(PieceKind::Note, &text);
            }
            // A limit that is reached ends the turn, with the client's own words for it.
            Fact::Limit(_) => {}
            Fact::Ended { error } => {
                let how = match error {
                    None => "ended".to_owned(),
                    Some(error) => format!("ended with an error: {error}"),
                };
                let took = took(heard);
                let text = if took.is_empty() {
                    how
                } else {
                    format!("{how} ({took})")
                };
                self.put(PieceKind::Ended, &text);
            }
        }
    }
}

/// What a conversation took so far, as far as that is known.
fn took(heard: &ClientOutput) -> String {
    let usage = &heard.usage;
    if usage.total() == Some(0) {
        return String::new();
    }
    let cached = usage.cached.filter(|cached| *cached > 0);
    let cached = cached.map(|cached| format!(", {cached} of them cached"));
    let parts = [
        heard.turns.map(|turns| match turns {
            1 => "1 turn".to_owned(),
            turns => format!("{turns} turns"),
        }),
        usage
            .input
            .map(|input| format!("{input} tokens read{}", cached.unwrap_or_default())),
        usage.output.map(|output| format!("{output} written")),
        heard.cost_usd.map(|cost| format!("${cost:.4}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Words without the colours and movements that were meant for a terminal.
pub(crate) fn unstyled(words: &str) -> String {
    let mut parts = words.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
        let is_order = |end: &usize| {
            part[..*end]
                .chars()
                .all(|c| ('\u{20}'..='\u{3f}').contains(&c))
        };
        match end.filter(is_order) {
            Some(end) => plain.push_str(&part[end + 1..]),
            None => {
                plain.push_str("\u{1b}[");
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests;
