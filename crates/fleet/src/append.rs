//! Appending to a repository's order, exactly once by position.
//!
//! Owns the rule that makes an unknown answer definite. A message for the place after s can only become
//! message s + 1, so the same bytes may go to the same place until somebody's are there; whose they are
//! the operation's id says, and is looked at whenever the place is taken. Nothing is called unstored that
//! may lie in a server's queue.

use std::time::{Duration, Instant};

use flagpost_model::MachineId;
use serde::Deserialize;
use tokio::time::sleep;

use crate::{
    error::FleetError,
    hub::{NoAnswer, TOO_FEW},
    stored::{ChangeHeaders, Lane, epoch_of, subject},
    stream::{MESSAGE_BYTES, RepoStream, info},
};

/// The server's numbers for: another message has the place, or the order has ended.
const OVERTAKEN: [u64; 3] = [10071, 10164, 10109];

/// The server's number for: the message is larger than the stream's may be.
const TOO_LARGE: u64 = 10054;

/// Between two tries at a server that says it has nobody who answers.
const PAUSE: Duration = Duration::from_millis(100);

/// After this a change that is on its way has mostly arrived.
const SOON: Duration = Duration::from_millis(5);

/// What is to be the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// Who says it: the machine whose key the connection has.
    pub machine: &'a MachineId,
    /// For whom.
    pub lane: Lane,
    /// What stands above it.
    pub headers: ChangeHeaders,
    /// What it says.
    pub body: &'a [u8],
}

/// Why a message is not, or not known to be, the next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Another message has the place, or the order ended before it; this one was not stored.
    #[error("another machine's change came first")]
    Overtaken,
    /// The key does not allow it; it was not stored.
    #[error("this machine's key does not allow it to publish under {subject}")]
    NotAllowed {
        /// Under which subject it was to speak.
        subject: String,
    },
    /// Nobody knows yet whether it was stored; [`RepoStream::settle`] tells later.
    #[error("nobody knows yet whether the change was stored")]
    Unknown,
    /// It was not stored: there is nobody who could.
    #[error("the fleet's server cannot be reached, and nothing was stored: {reason}")]
    Unreachable {
        /// Why.
        reason: &'static str,
    },
    /// It is too large, and was not stored.
    #[error("a change of {bytes} bytes is larger than the fleet takes, {MESSAGE_BYTES}")]
    TooLarge {
        /// The size of its body.
        bytes: usize,
    },
    /// It was not stored, for another reason.
    #[error(transparent)]
    Refused(FleetError),
}

/// The server's answer to a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Acknowledgement {
    stream: String,
    seq: u64,
    error: Option<Refusal>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    err_code: u64,
    description: String,
}

/// What one try came to.
enum Try {
    Stored(u64),
    Overtaken,
    /// Not stored by this try, and no later one will do better.
    Not(AppendError),
    /// Not stored by this try; a later one may do better.
    NotYet(&'static str),
    Silence,
}

impl RepoStream {
    /// Makes a change the message after `after`, 0 for the first; its place, also where it is there already.
    pub fn append(&self, after: u64, change: &Change<'_>) -> Result<u64, AppendError> {
        self.hub.block_on(self.make_next(after, change, false))
    }

    /// The same for a change that was appended before, at the same place and with the same headers, and
    /// came to [`AppendError::Unknown`]: it is called unstored only where another one has its place.
    pub fn settle(&self, after: u64, change: &Change<'_>) -> Result<u64, AppendError> {
        self.hub.block_on(self.make_next(after, change, true))
    }

    /// `unknown`: whether a try may have stored it, or may yet.
    async fn make_next(
        &self,
        after: u64,
        change: &Change<'_>,
        mut unknown: bool,
    ) -> Result<u64, AppendError> {
        let began = Instant::now();
        let deadline = began + self.hub.deadlines().settle;
        let mut came = began;
        loop {
            let connections = self.hub.connections();
            let outcome = self.send(after, change, deadline).await;
            // It may have gone to one server before it went to the next.
            let moved = connections != self.hub.connections();
            unknown |= moved && matches!(outcome, Try::Overtaken);
            match outcome {
                Try::Stored(seq) => {
                    self.backoff.made_way();
                    return Ok(seq);
                }
                // It may be ours though no try stored it: of several servers, one that steps down refuses
                // what the next one then has.
                Try::Overtaken => match self.is_mine(after + 1, change).await {
                    Some(true) => return Ok(after + 1),
                    Some(false) => {
                        if !unknown {
                            sleep(self.backoff.pause(began.elapsed())).await;
                        }
                        return Err(AppendError::Overtaken);
                    }
                    None if unknown => {}
                    None if self.is_none_after(after).await => return Err(AppendError::Overtaken),
                    // The change that has the place is still on its way, which takes more servers than run.
                    None => {
                        if Instant::now() >= deadline {
                            let reason = "a change before it waits for more of the fleet's servers";
                            return Err(AppendError::Unreachable { reason });
                        }
                        sleep(SOON).await;
                        continue;
                    }
                },
                Try::Not(why) if !unknown => return Err(why),
                // An earlier try decides.
                Try::Not(_) => match self.is_mine(after + 1, change).await {
                    Some(true) => return Ok(after + 1),
                    Some(false) => return Err(AppendError::Overtaken),
                    None => return Err(AppendError::Unknown),
                },
                Try::NotYet(reason) if !unknown && Instant::now() >= deadline => {
                    return Err(AppendError::Unreachable { reason });
                }
                Try::NotYet(_) => {
                    // This one may be cut off from those that take messages.
                    if self.hub.has_others() && came.elapsed() >= self.hub.patience() {
                        self.hub.go_elsewhere().await;
                        came = Instant::now();
                    }
                }
                Try::Silence => {
                    unknown = true;
                    self.hub.go_elsewhere().await;
                }
            }
            if Instant::now() >= deadline {
                return Err(AppendError::Unknown);
            }
            sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))).await;
        }
    }

    /// One try.
    async fn send(&self, after: u64, change: &Change<'_>, deadline: Instant) -> Try {
        let subject = subject(&self.repo, change.machine, change.lane);
        let headers = change.headers.after(after);
        let too_large = AppendError::TooLarge {
            bytes: change.body.len(),
        };
        let until = deadline.min(Instant::now() + self.hub.patience());
        let answer = self
            .hub
            .ask(&subject, Some(headers), change.body.to_vec(), until)
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(NoAnswer::Unsent) => return Try::NotYet("there is no connection"),
            Err(NoAnswer::Nobody) => return self.why_nobody().await,
            Err(NoAnswer::NotAllowed) => return Try::Not(AppendError::NotAllowed { subject }),
            Err(NoAnswer::TooLarge) => return Try::Not(too_large),
            Err(NoAnswer::Silence) => return Try::Silence,
        };
        let refused = |error| Try::Not(AppendError::Refused(error));
        let answer: Acknowledgement = match serde_json::from_slice(&answer.payload) {
            Ok(answer) => answer,
            Err(error) => return refused(self.malformed_answer(&error.to_string())),
        };
        match answer.error {
            None if answer.stream == self.name && answer.seq == after + 1 => {
                Try::Stored(answer.seq)
            }
            None => refused(self.malformed_answer(&format!(
                "it was stored as message {} of {}, not after {after}",
                answer.seq, answer.stream
            ))),
            Some(error) if OVERTAKEN.contains(&error.err_code) => Try::Overtaken,
            Some(error) if error.err_code == TOO_LARGE => Try::Not(too_large),
            // One that steps down may have passed it on before.
            Some(error) if error.err_code == TOO_FEW => Try::Silence,
            Some(error) => refused(FleetError::Refused {
                what: format!("append to {}", self.name),
                code: error.err_code,
                description: error.description,
            }),
        }
    }

    /// Nobody takes messages for the stream: it is not there, or has nobody who leads it now.
    async fn why_nobody(&self) -> Try {
        match info(&self.hub, &self.name).await {
            Err(error @ FleetError::Gone { .. }) => Try::Not(AppendError::Refused(error)),
            _ => Try::NotYet("no server takes messages for this repository"),
        }
    }

    /// Whether the order has no place after this one: it has ended, lost it, or another one began.
    async fn is_none_after(&self, seq: u64) -> bool {
        let info = info(&self.hub, &self.name).await;
        info.is_ok_and(|it| {
            let last = it.state.last_seq;
            it.is_sealed() || last < seq || epoch_of(last) != epoch_of(seq)
        })
    }

    /// Whether a change is the message at a place; `None` where nothing is known to be there.
    async fn is_mine(&self, seq: u64, change: &Change<'_>) -> Option<bool> {
        match self.get_now(seq).await {
            Ok(Some(found)) => Some(found.headers.op == change.headers.op),
            // Something is there that is none of ours to write.
            Err(FleetError::Malformed { .. }) => Some(false),
            Ok(None) | Err(_) => None,
        }
    }

    fn malformed_answer(&self, reason: &str) -> FleetError {
        FleetError::malformed(format!("the answer of {}", self.name), reason)
    }
}
