//! What the clients print, read while it is printed.
//!
//! Owns the one way from a log's bytes to facts and totals; what a line means belongs to its client's
//! own file. Invariants: bytes may come in any pieces and the facts are the same; no line costs more
//! than itself, whatever is in it; memory does not grow with the output. It must never decide what an
//! attempt's end means.

pub(super) mod acp;
pub(super) mod action;
mod again;
mod claude;
mod codex;
mod gemini;
pub(super) mod json;
pub(super) mod lines;
mod opencode;
mod rollout;
pub(super) mod text;
pub(super) mod totals;

use flagpost_model::session::Usage;
use jiff::{Timestamp, tz::TimeZone};

pub use rollout::{codex_rollout_limits, codex_rollout_usage};
pub use totals::{ClientOutput, LAST_WORDS};

use self::{
    acp::AcpLog, claude::Claude, codex::Codex, gemini::Gemini, lines::Lines, totals::OutputReading,
};
use super::{Client, Fact};

/// The longest line of words for a person that is looked at.
const WORDS: usize = 4096;

/// Reads the output of one process of a client, both of its streams in one.
#[derive(Debug)]
pub struct OutputReader {
    lines: Lines,
    stream: Stream,
    hearing: OutputReading,
}

/// What is printed, by client.
#[derive(Debug)]
pub(super) enum Stream {
    Claude(Claude),
    Codex(Codex),
    Gemini(Gemini),
    Opencode,
    Acp(AcpLog),
    /// Words alone.
    Silent,
}

impl OutputReader {
    /// A reader of a client's new conversation, or of one that goes on where the client counts each
    /// process for itself. Clients name moments in local time: that of `zone`.
    pub fn new(client: Client, zone: TimeZone) -> Self {
        Self {
            lines: Lines::default(),
            stream: Stream::of(client),
            hearing: OutputReading::new(zone),
        }
    }

    /// The same for a conversation that goes on and had used so much: Codex counts it again.
    #[must_use]
    pub fn resuming(mut self, before: Usage) -> Self {
        if let Stream::Codex(codex) = &mut self.stream {
            codex.before = before;
        }
        self
    }

    /// Takes in what the conversation used in all, which its client keeps and did not tell: its process was
    /// ended before it did.
    pub fn counted(&mut self, all: Usage) {
        if let Stream::Codex(codex) = &self.stream
            && self.hearing.heard.usage.is_unknown()
        {
            self.hearing.heard.usage = codex::less(all, codex.before);
        }
    }

    /// What the conversation used in all, as far as that is known: where the client counts it again, what
    /// it had used before this process too.
    pub fn used(&self) -> Usage {
        let before = match &self.stream {
            Stream::Codex(codex) => codex.before,
            _ => Usage::default(),
        };
        before.plus(self.hearing.heard.usage)
    }

    /// Reads on; what is new in these bytes.
    pub fn read(&mut self, bytes: &[u8], now: Timestamp) -> Vec<Fact> {
        let Self {
            lines,
            stream,
            hearing,
        } = self;
        hearing.now = now;
        lines.feed(bytes, |line| {
            line.into_iter().for_each(|it| stream.line(it, hearing))
        });
        hearing.take()
    }

    /// Reads the last line, where no line break followed it.
    pub fn finish(&mut self, now: Timestamp) -> Vec<Fact> {
        let Self {
            lines,
            stream,
            hearing,
        } = self;
        hearing.now = now;
        lines.finish(|line| line.into_iter().for_each(|it| stream.line(it, hearing)));
        hearing.take()
    }

    /// The client was given another turn.
    pub fn goes_on(&mut self) {
        self.hearing.goes_on();
    }

    /// What was told so far.
    pub fn output(&self) -> &ClientOutput {
        &self.hearing.heard
    }
}

impl Stream {
    /// A client's, from its beginning.
    pub(super) fn of(client: Client) -> Self {
        match client {
            // Cursor's events are said to be like Claude's; not verified.
            Client::Claude | Client::Cursor => Self::Claude(Claude::default()),
            Client::Codex => Self::Codex(Codex::default()),
            Client::Gemini => Self::Gemini(Gemini::default()),
            Client::Opencode => Self::Opencode,
            Client::Acp => Self::Acp(AcpLog::default()),
            Client::Aider => Self::Silent,
        }
    }

    /// Hears one line.
    pub(super) fn line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        if json::is_object(line) {
            match self {
                Self::Claude(claude) => claude.line(line, hearing),
                Self::Codex(codex) => codex.line(line, hearing),
                Self::Gemini(gemini) => gemini.line(line, hearing),
                Self::Opencode => opencode::line(line, hearing),
                Self::Acp(acp) => acp.line(line, hearing),
                Self::Silent => {}
            }
            return;
        }
        let words = || String::from_utf8_lossy(&line[..line.len().min(WORDS)]);
        match self {
            Self::Codex(_) => Codex::words(&words(), hearing),
            Self::Gemini(gemini) => gemini.words(&words(), hearing),
            Self::Claude(_) | Self::Opencode | Self::Acp(_) | Self::Silent => {}
        }
    }
}

#[cfg(test)]
mod tests;
