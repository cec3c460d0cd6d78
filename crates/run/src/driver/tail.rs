//! The end of what an agent printed, in words.
//!
//! Owns how much of it is looked at. A client's events are told as a person reads them; nothing in it moves
//! a terminal's cursor or colours it, but it is the agent's text all the same. The frames of a backtrace
//! are left out: the error stands above them.

use flagpost_model::TaskId;

use super::Driver;
use crate::client::{Client, Renderer, backtrace, ending, unstyled};

/// How much of an agent's output is told when it fails.
const TAIL: usize = 2_000;

/// How much is looked at: a client's events say less than they are long, and a backtrace says nothing.
const BACK: u64 = 64 << 10;

/// The most that is read.
const LIMIT: u64 = 1 << 20;

impl Driver<'_> {
    /// The end of the output of an attempt, by this client or by a plain command line.
    pub(super) fn tail(&self, id: &TaskId, attempt: u32, client: Option<Client>) -> String {
        let fs = self.stage.home.fs();
        let path = self.live.log_path(id, attempt);
        let read = || -> std::io::Result<(u64, Vec<u8>)> {
            let from = fs.stat(&path)?.len.saturating_sub(BACK);
            // It may have grown since.
            Ok((from, fs.read(&path, from, LIMIT)?))
        };
        let (from, bytes) = read().unwrap_or_default();
        let text = match client {
            None => String::from_utf8_lossy(&bytes).into_owned(),
            // Half an event says nothing.
            Some(client) if from > 0 => {
                let whole = bytes.iter().position(|byte| *byte == b'\n');
                let whole = whole.map_or(&[][..], |end| &bytes[end + 1..]);
                rendered(client, whole)
            }
            Some(client) => rendered(client, &bytes),
        };
        let text = backtrace::without_frames(&unstyled(&text));
        ending(&text, TAIL).into_owned()
    }
}

/// A client's events as a person reads them.
fn rendered(client: Client, bytes: &[u8]) -> String {
    let mut renderer = Renderer::new(Some(client));
    let mut pieces = renderer.push(bytes);
    pieces.extend(renderer.finish());
    let lines: Vec<String> = pieces.into_iter().map(|piece| piece.text).collect();
    lines.join("\n")
}
