//! What adds up while a client's output is read.
//!
//! Owns the totals and the rule that a fact is told once: a conversation that begins, a server that
//! is missing, a limit that is as it was. Invariants: a number that the client did not tell stays
//! absent; what is kept has a bound, however much is said.

use std::collections::BTreeSet;

use flagpost_model::session::{AttemptRecord, Denied, Usage};
use jiff::{Timestamp, tz::TimeZone};

use super::text;
use crate::client::{Fact, Limit};

/// The longest last words that are kept, in bytes.
pub const LAST_WORDS: usize = 4096;

/// The longest error, and the longest reason.
const WORDS: usize = 1000;

/// The longest name: of a session, a model, a tool, a server.
const NAME: usize = 200;

/// More tokens than this no process uses.
const MOST_TOKENS: u64 = 1_000_000_000_000;

/// More than this no process costs.
const MOST_DOLLARS: f64 = 1_000_000.0;

/// How many refused actions, or missing servers, are kept.
const MOST: usize = 200;

/// What one process of a client has told so far.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ClientOutput {
    /// The client's own name for the conversation.
    pub session: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The client's version.
    pub version: Option<String>,
    /// The tokens of this process, without those of the conversation before it.
    pub usage: Usage,
    /// What it cost in US dollars.
    pub cost_usd: Option<f64>,
    /// How many turns it took.
    pub turns: Option<u64>,
    /// The actions that the client refused its agent.
    pub denied: Vec<Denied>,
    /// The end of what its agent said last, in [`LAST_WORDS`] bytes.
    pub last_words: String,
    /// How it said that its turn ended; none before that, and where it never says.
    pub ended: Option<Result<(), String>>,
    /// The turns of the user that it has and has not begun.
    pub waiting: BTreeSet<String>,
}

impl ClientOutput {
    /// Adds this process to the record of its attempt, which may have had others.
    pub fn add_to(&self, record: &mut AttemptRecord) {
        let newer = |old: &mut Option<String>, new: &Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        newer(&mut record.session, &self.session);
        newer(&mut record.model, &self.model);
        newer(&mut record.version, &self.version);
        record.usage = record.usage.plus(possible(self.usage));
        let cost = self
            .cost_usd
            .filter(|cost| (0.0..MOST_DOLLARS).contains(cost));
        record.cost_usd = sum(record.cost_usd, cost, |a, b| a + b);
        record.turns = sum(record.turns, self.turns, u64::saturating_add);
        record.denied.extend(self.denied.iter().cloned());
    }
}

/// The counts that one process can have had: others are somebody's mistake, and unknown.
fn possible(usage: Usage) -> Usage {
    let known = |count: Option<u64>| count.filter(|count| *count < MOST_TOKENS);
    Usage {
        input: known(usage.input),
        cached: known(usage.cached),
        output: known(usage.output),
        reasoning: known(usage.reasoning),
    }
}

/// The sum of two numbers, either of which may be unknown.
pub(super) fn sum<T>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}

/// One reading: the totals, the facts that are new in it, and when it is.
#[derive(Debug)]
pub(in crate::client) struct OutputReading {
    pub heard: ClientOutput,
    pub now: Timestamp,
    pub zone: TimeZone,
    facts: Vec<Fact>,
    begun: bool,
    missing: BTreeSet<String>,
    limit: Option<Limit>,
}

impl OutputReading {
    pub fn new(zone: TimeZone) -> Self {
        Self {
            heard: ClientOutput::default(),
            now: Timestamp::UNIX_EPOCH,
            zone,
            facts: Vec::new(),
            begun: false,
            missing: BTreeSet::new(),
            limit: None,
        }
    }

    /// The facts since this was asked last.
    pub fn take(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    /// The conversation is there, under this name.
    pub fn begun(&mut self, session: Option<&str>) {
        if let Some(session) = session {
            self.heard.session = Some(text::line(session, NAME));
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.facts.push(Fact::Started);
        }
    }

    pub fn model(&mut self, model: Option<&str>) {
        if let Some(model) = model {
            self.heard.model = Some(text::line(model, NAME));
        }
    }

    pub fn version(&mut self, version: Option<&str>) {
        if let Some(version) = version {
            self.heard.version = Some(text::line(version, NAME));
        }
    }

    /// Its agent said something; the whole of it, or what follows what it said just now.
    pub fn record_words(&mut self, words: &str, follows: bool) {
        let words = text::end(words, LAST_WORDS);
        if follows {
            let both = format!("{}{words}", self.heard.last_words);
            self.heard.last_words = text::end(&both, LAST_WORDS).into_owned();
        } else if !words.trim().is_empty() {
            self.heard.last_words = words.into_owned();
        }
    }

    /// An action was refused; says whether there was room to keep it.
    pub fn denied(&mut self, tool: &str, what: &str) -> bool {
        let room = self.heard.denied.len() < MOST;
        if room {
            self.heard.denied.push(Denied {
                tool: text::line(tool, NAME),
                what: text::line(what, NAME),
            });
        }
        room
    }

    pub fn retrying(&mut self, attempt: u32, of: Option<u32>, why: &str) {
        let why = text::line(why, WORDS);
        self.facts.push(Fact::Retrying { attempt, of, why });
    }

    pub fn server_missing(&mut self, name: &str, status: &str) {
        let (name, status) = (text::line(name, NAME), text::line(status, NAME));
        if self.missing.len() < MOST && self.missing.insert(name.clone()) {
            self.facts.push(Fact::ServerMissing { name, status });
        }
    }

    /// How the account stands. Less than is known already is not told: the end of a turn says again
    /// that the limit is reached, and not until when.
    pub fn limit(&mut self, limit: Limit) {
        let known = matches!(
            (&self.limit, &limit),
            (
                Some(Limit::Reached { .. }),
                Limit::Reached { until: None, .. }
            )
        );
        if !known && self.limit.as_ref() != Some(&limit) {
            self.limit = Some(limit.clone());
            self.facts.push(Fact::Limit(limit));
        }
    }

    /// A turn of the user waits, or does not wait any more.
    pub fn turn(&mut self, id: &str, waits: bool) {
        let waiting = &mut self.heard.waiting;
        if !waits {
            waiting.remove(id);
        } else if waiting.len() < MOST {
            waiting.insert(text::line(id, NAME));
        }
    }

    /// Its agent was asked how its attempt ended.
    pub fn asked_for_report(&mut self) {
        self.facts.push(Fact::AskedForReport);
    }

    /// Another turn follows the one that ended.
    pub fn goes_on(&mut self) {
        self.heard.ended = None;
    }

    /// Its turn ended: with an error in these words, or well.
    pub fn ended(&mut self, error: Option<&str>) {
        let error = error.map(|words| text::beginning(words.trim(), WORDS).into_owned());
        self.heard.ended = Some(error.clone().map_or(Ok(()), Err));
        self.facts.push(Fact::Ended { error });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_an_attempt_add_up_and_the_unknown_stays_unknown() {
        let mut record = AttemptRecord {
            session: Some("s".into()),
            turns: Some(2),
            ..AttemptRecord::default()
        };
        let heard = ClientOutput {
            usage: Usage {
                input: Some(10),
                ..Usage::default()
            },
            turns: Some(1),
            denied: vec![Denied {
                tool: "Bash".into(),
                what: "curl".into(),
            }],
            ..ClientOutput::default()
        };
        heard.add_to(&mut record);
        heard.add_to(&mut record);
        assert_eq!(record.session.as_deref(), Some("s"));
        assert_eq!((record.turns, record.usage.input), (Some(4), Some(20)));
        assert_eq!((record.cost_usd, record.usage.output), (None, None));
        assert_eq!(record.denied.len(), 2);
    }

    #[test]
    fn a_limit_is_told_when_it_changes() {
        let mut hearing = OutputReading::new(TimeZone::UTC);
        let reached = |until| Limit::Reached {
            until,
            window: "five_hour".into(),
        };
        let until = Some(Timestamp::UNIX_EPOCH);
        for limit in [reached(until), reached(until), reached(None)] {
            hearing.limit(limit);
        }
        assert_eq!(hearing.take(), [Fact::Limit(reached(until))]);
        hearing.limit(Limit::Burst);
        hearing.limit(reached(None));
        assert_eq!(hearing.take().len(), 2);
    }

    #[test]
    fn last_words_are_the_end_of_what_was_said() {
        let mut hearing = OutputReading::new(TimeZone::UTC);
        hearing.record_words("one", false);
        hearing.record_words(" ", false);
        assert_eq!(hearing.heard.last_words, "one");
        hearing.record_words(" two", true);
        assert_eq!(hearing.heard.last_words, "one two");
        hearing.record_words(&"é".repeat(LAST_WORDS), true);
        let words = &hearing.heard.last_words;
        assert!(words.len() <= LAST_WORDS && words.starts_with("…é"));
    }
}
