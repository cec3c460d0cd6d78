//! What hooks answered of late, for each worker.
//!
//! Owns `hooks/{worker}.jsonl` in the home: by it a brief is told of once in a while, an end is held a few
//! times only, and a person sees when a hook fired last. It is no record: it may be lost, and a long one is
//! begun anew.

use std::path::PathBuf;

use flagpost_disk::{
    self as disk,
    fsx::{self, Durability},
};
use flagpost_model::{
    WorkerId,
    client::Client,
    hook::{HookAnswer, HookEvent},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::agent_inbox_log::TURN;
use crate::{error::Result, home::Home};

/// So much of it is read.
const TAIL: u64 = 16 << 10;
/// A longer one is begun anew.
const LONGEST: u64 = 256 << 10;

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookLine {
    /// When.
    pub at: Timestamp,
    /// Whose client asked.
    pub client: String,
    /// At which event; `turn` where a run told by a turn of the user.
    pub event: String,
    /// `nothing`, `context`, `hold`, `deny`, `allow`, or `failed`.
    pub answer: String,
    /// The number of the brief that was told of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub brief: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// The log of one worker.
#[derive(Debug)]
pub struct HookLog<'h> {
    home: &'h Home,
    path: PathBuf,
}

impl<'h> HookLog<'h> {
    /// The log of this worker.
    pub fn of(home: &'h Home, worker: &WorkerId) -> Self {
        let path = dir(home).join(format!("{worker}.jsonl"));
        Self { home, path }
    }

    /// Adds what was answered.
    pub fn add(
        &self,
        client: Client,
        event: HookEvent,
        answer: &HookAnswer,
        brief: Option<u64>,
    ) -> Result<()> {
        let answer = match answer {
            HookAnswer::Nothing => "nothing",
            HookAnswer::Context(_) => "context",
            HookAnswer::Hold(_) => "hold",
            HookAnswer::Deny(_) => "deny",
            HookAnswer::Allow => "allow",
        };
        self.write(client, event.as_str(), answer, brief, None)
    }

    /// Adds that a brief was told of.
    pub(super) fn told_of(&self, client: Client, by: &str, brief: u64) -> Result<()> {
        self.write(client, by, "context", Some(brief), None)
    }

    /// Adds that a hook failed.
    pub fn failed(&self, client: Client, event: HookEvent, why: String) -> Result<()> {
        self.write(client, event.as_str(), "failed", None, Some(why))
    }

    fn write(
        &self,
        client: Client,
        event: &str,
        answer: &str,
        brief: Option<u64>,
        why: Option<String>,
    ) -> Result<()> {
        let fs = self.home.fs();
        let line = HookLine {
            at: self.home.now(),
            client: client.to_string(),
            event: event.to_owned(),
            answer: answer.to_owned(),
            brief,
            why,
        };
        // Nothing in it cannot be written as JSON.
        let mut line = serde_json::to_vec(&line).unwrap_or_default();
        line.push(b'\n');
        match fsx::stat(fs, &self.path)? {
            None => fsx::make_dirs(fs, &dir(self.home))?,
            Some(stat) if stat.len > LONGEST => fsx::remove(fs, &self.path)?,
            Some(_) => {}
        }
        Ok(fsx::append(fs, &self.path, &line, Durability::Lazy)?)
    }

    /// When this brief was told of last.
    pub(super) fn told(&self, seq: u64) -> Result<Option<Timestamp>> {
        let lines = self.lines()?;
        let told = lines.iter().rev().find(|it| it.brief == Some(seq));
        Ok(told.map(|it| it.at))
    }

    /// Whether this brief was told of by a turn that its client has not begun: it asks at the beginning.
    pub(super) fn is_on_its_way(&self, seq: u64) -> Result<bool> {
        let lines = self.lines()?;
        let is_turn = |it: &HookLine| it.event == TURN && it.brief == Some(seq);
        let is_prompt = |it: &HookLine| it.event == HookEvent::Prompt.as_str();
        let newest = lines.iter().rev().find(|it| is_turn(it) || is_prompt(it));
        Ok(newest.is_some_and(is_turn))
    }

    /// How often in a row the end of the turn was held.
    pub(super) fn holds(&self) -> Result<usize> {
        let lines = self.lines()?;
        let stops = lines.iter().rev();
        let stops = stops.filter(|it| it.event == HookEvent::Stop.as_str());
        Ok(stops.take_while(|it| it.answer == "hold").count())
    }

    /// The last lines; what is none is passed over.
    fn lines(&self) -> Result<Vec<HookLine>> {
        let fs = self.home.fs();
        let Some(stat) = fsx::stat(fs, &self.path)? else {
            return Ok(Vec::new());
        };
        let from = stat.len.saturating_sub(TAIL);
        let bytes = fs.read_part(&self.path, from, TAIL);
        let bytes = bytes.map_err(disk::Error::io("read", &self.path))?;
        let lines = bytes.split(|it| *it == b'\n');
        Ok(lines
            .filter_map(|it| serde_json::from_slice(it).ok())
            .collect())
    }
}

/// When each client's hooks fired last, of all workers, and what they answered.
pub fn last_fired(home: &Home, client: Client) -> Result<Vec<HookLine>> {
    let dir = dir(home);
    let mut last: Vec<HookLine> = Vec::new();
    if fsx::stat(home.fs(), &dir)?.is_none() {
        return Ok(last);
    }
    let names = home
        .fs()
        .names(&dir)
        .map_err(disk::Error::io("list", &dir))?;
    for name in names {
        let path = dir.join(name);
        for line in (HookLog { home, path }).lines()? {
            if line.client != client.as_str() {
                continue;
            }
            match last.iter_mut().find(|it| it.event == line.event) {
                Some(kept) if kept.at <= line.at => *kept = line,
                Some(_) => {}
                None => last.push(line),
            }
        }
    }
    Ok(last)
}

fn dir(home: &Home) -> PathBuf {
    home.root().join("hooks")
}
