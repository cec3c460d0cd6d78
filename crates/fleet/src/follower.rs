//! Reading a repository's order from some place on, as it grows.
//!
//! Owns that no message is skipped and none comes twice: what comes must be the next. The server tells
//! that something was stored; what it is, is read. Where it tells nothing for a while it is looked
//! whether the stream still is the one that was read: one that is gone, shorter or made anew is an
//! error, never a silent end.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{sleep, sleep_until, timeout_at},
};

use crate::{
    error::FleetError,
    hub::NoAnswer,
    stored::Stored,
    stream::{RepoStream, StreamInfo, info},
};

/// How long nothing may be told before it is looked why.
const SILENCE: Duration = Duration::from_secs(2);

/// The least time that is taken to ask the server, however little was given.
const TO_ASK: Duration = Duration::from_secs(1);

/// Between two tries to reach the server.
const PAUSE: Duration = Duration::from_millis(50);

/// Between two looks for what was told and is not there yet, and how often: of three servers, the one
/// that is asked may lag behind the one that told.
const LAG: (Duration, u32) = (Duration::from_millis(5), 40);

/// How many messages and bytes are asked for at once.
const BATCH: (u64, u64) = (256, 4 << 20);

/// What the server calls its answers.
const OK: u16 = 200;
const END: u16 = 204;
const NOT_FOUND: u16 = 404;

/// A reader of a repository's order.
#[derive(Debug)]
pub struct Follower {
    stream: RepoStream,
    next: u64,
    created: String,
    /// What was read and not given out yet.
    ready: VecDeque<Result<Stored, FleetError>>,
    source: Option<Source>,
}

/// Where messages come from, until the connection is lost.
#[derive(Debug)]
struct Source {
    /// That something was stored.
    told: Subscriber,
    /// What was asked for.
    answers: Subscriber,
    inbox: String,
    losses: watch::Receiver<u64>,
    /// When it was heard of last.
    heard: Instant,
    /// The last message that is there, as far as is known.
    last: u64,
}

impl RepoStream {
    /// All messages from this place on, those to come included.
    pub fn read_from(&self, seq: u64) -> Result<Follower, FleetError> {
        Follower::new(self, seq)
    }
}

impl Follower {
    pub(crate) fn new(stream: &RepoStream, from: u64) -> Result<Self, FleetError> {
        let info = stream.hub.block_on(info(&stream.hub, &stream.name))?;
        let follower = Self {
            stream: stream.clone(),
            next: from.max(1),
            created: info.created.clone(),
            ready: VecDeque::new(),
            source: None,
        };
        follower.look(&info)?;
        Ok(follower)
    }

    /// The place of the message that comes next.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// The next message, or `None` where none has come in time. After an error it may be asked again: it
    /// goes on where it was.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Stored>, FleetError> {
        let hub = self.stream.hub.clone();
        let deadline = Instant::now() + patience;
        hub.block_on(async {
            loop {
                match self.ready.pop_front() {
                    Some(Ok(stored)) => {
                        self.next = stored.seq + 1;
                        return Ok(Some(stored));
                    }
                    Some(Err(error)) => {
                        self.ready.clear();
                        self.source = None;
                        return Err(error);
                    }
                    None => {}
                }
                if !self.fill(deadline).await? {
                    return Ok(None);
                }
            }
        })
    }

    /// Reads what is there or waits for a sign; whether there is time for more.
    async fn fill(&mut self, deadline: Instant) -> Result<bool, FleetError> {
        let mut source = match self.source.take() {
            Some(source) => source,
            None => self.open(deadline).await?,
        };
        if source.last >= self.next {
            match self.fetch(&mut source).await {
                Ok(()) => self.source = Some(source),
                // It is opened again, which says why it is not to be had.
                Err(FleetError::Unreachable { .. }) if Instant::now() < deadline => {}
                Err(error) => return Err(error),
            }
            return Ok(true);
        }
        tokio::select! {
            told = source.told.next() => {
                let sequence = told.as_ref().and_then(sequence);
                source.last = source.last.max(sequence.unwrap_or(self.next));
                source.heard = Instant::now();
                self.source = told.map(|_| source);
                Ok(true)
            }
            _ = source.losses.changed() => Ok(true),
            () = sleep_until(deadline.into()) => {
                self.source = Some(source);
                Ok(false)
            }
            // Silence: it is opened anew, and looked at.
            () = sleep_until((source.heard + SILENCE).into()) => Ok(true),
        }
    }

    /// Asks for the next messages, until the ones that are known to be there have come.
    async fn fetch(&mut self, source: &mut Source) -> Result<(), FleetError> {
        for _ in 0..LAG.1 {
            self.fetch_once(source).await?;
            if !self.ready.is_empty() {
                return Ok(());
            }
            sleep(LAG.0).await;
        }
        // What was told is not there; a look at the stream says more.
        Err(self.unreachable("it has not what it told of"))
    }

    async fn fetch_once(&mut self, source: &mut Source) -> Result<(), FleetError> {
        let RepoStream {
            hub, name, repo, ..
        } = &self.stream;
        let asked = json!({ "seq": self.next, "batch": BATCH.0, "max_bytes": BATCH.1 });
        let subject = format!("$JS.API.DIRECT.GET.{name}");
        let sent = hub
            .client()
            .publish_with_reply(subject, source.inbox.clone(), asked.to_string().into())
            .await;
        sent.map_err(|error| self.unreachable(&error.to_string()))?;
        let until = Instant::now() + hub.deadlines().answer;
        for seq in self.next.. {
            let answer = tokio::select! {
                answer = source.answers.next() => answer,
                _ = source.losses.changed() => None,
                () = sleep_until(until.into()) => None,
            };
            let Some(answer) = answer else {
                return Err(self.unreachable("it does not answer"));
            };
            match answer.status.map_or(OK, |status| status.as_u16()) {
                OK => self.ready.push_back(Stored::read_at(repo, seq, &answer)),
                // Nothing to begin the batch with, or its end.
                NOT_FOUND | END => break,
                status => return Err(self.unreachable(&format!("it answers with {status}"))),
            }
        }
        Ok(())
    }

    /// Opens the source, as often as the time allows.
    async fn open(&self, deadline: Instant) -> Result<Source, FleetError> {
        let deadline = deadline.max(Instant::now() + TO_ASK);
        loop {
            match timeout_at(deadline.into(), self.open_once(deadline)).await {
                Ok(Err(FleetError::Unreachable { .. })) if Instant::now() < deadline => {
                    sleep(PAUSE).await;
                }
                // Of several servers one may lag behind, or be cut off and not know it.
                Ok(Err(FleetError::Shorter { .. }))
                    if self.stream.hub.has_others() && Instant::now() < deadline =>
                {
                    self.stream.hub.go_elsewhere().await;
                }
                Ok(opened) => return opened,
                Err(_) => return Err(self.unreachable("it does not answer")),
            }
        }
    }

    async fn open_once(&self, deadline: Instant) -> Result<Source, FleetError> {
        let RepoStream {
            hub, name, repo, ..
        } = &self.stream;
        if !hub.connected_by(deadline).await {
            return Err(hub.unanswered("follow", NoAnswer::Unsent));
        }
        let losses = hub.losses();
        let client = hub.client();
        let subscribe = async |subject: String| {
            let subscriber = client.subscribe(subject).await;
            subscriber.map_err(|error| self.unreachable(&error.to_string()))
        };
        let inbox = client.new_inbox();
        let told = subscribe(format!("told.fp.{repo}.>")).await?;
        let answers = subscribe(inbox.clone()).await?;
        // What is stored before this look is seen by it, and what is stored after it is told.
        let info = info(hub, name).await?;
        self.look(&info)?;
        Ok(Source {
            told,
            answers,
            inbox,
            losses,
            heard: Instant::now(),
            last: info.state.last_seq,
        })
    }

    fn unreachable(&self, reason: &str) -> FleetError {
        FleetError::Unreachable {
            server: self.stream.hub.server().to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Whether the stream is the one that is read, and has what is to come next or ends before it.
    fn look(&self, info: &StreamInfo) -> Result<(), FleetError> {
        let name = self.stream.name.clone();
        let (first, last) = (info.state.first_seq, info.state.last_seq);
        if info.created != self.created {
            return Err(FleetError::Replaced { name });
        }
        let wanted = self.next;
        if wanted < first.max(1) || wanted > last + 1 {
            return Err(FleetError::Shorter {
                name,
                first,
                last,
                wanted,
            });
        }
        Ok(())
    }
}

/// The place of a message that was told of.
fn sequence(told: &Message) -> Option<u64> {
    let sequence = told.headers.as_ref()?.get_last("Nats-Sequence")?;
    sequence.as_str().parse().ok()
}
