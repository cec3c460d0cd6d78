//! The connection to one of a fleet's servers.
//!
//! Owns what a request can come to: an answer, a refusal, or silence. The server refuses a publish not
//! by an answer but by an event of the connection; here it is told apart from silence. Whoever waits for an
//! answer that went to a connection that is no more is told at once that none will come. How it is made and
//! restored is in [`connect`].

use std::{
    fmt,
    future::Future,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use async_nats::{
    Client, HeaderMap, Message, RequestErrorKind, client::Request, connection::State,
};
use flagpost_model::{MachineId, machines::is_new_enough};
use futures_util::StreamExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    sync::{broadcast, watch},
    time::{sleep, sleep_until, timeout},
};

use crate::{
    address::Invitation,
    connect::{Deadlines, Signs, connect},
    error::FleetError,
    server_config::{RIGHTS, STORAGE, gate},
};

/// The server's number for: of several servers, so few run that none leads.
pub(crate) const TOO_FEW: u64 = 10008;

/// The server's number for: of several servers, the one that leads knows too few others yet to keep a stream.
const NO_PEERS: u64 = 10005;

/// After the first of several servers has answered, the others have so long.
const STRAGGLERS: Duration = Duration::from_millis(500);

/// What a server's error is when it has lost the others.
const AWAY: u64 = 503;

/// How long it may take to leave a server.
const LEAVING: Duration = Duration::from_secs(1);

/// Between two tries at servers that say that they cannot answer.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection to a fleet's server. Clones share it.
#[derive(Clone)]
pub struct Hub {
    client: Client,
    runtime: Handle,
    server: String,
    /// How many there are.
    servers: usize,
    deadlines: Deadlines,
    signs: Arc<Signs>,
}

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// There was no connection: it was never sent.
    Unsent,
    /// The server said that nobody listens; it was not stored.
    Nobody,
    /// The server refused it; it was not stored.
    NotAllowed,
    /// It is larger than the server takes; it was not sent.
    TooLarge,
    /// It may have been heard or not.
    Silence,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hub({})", self.server)
    }
}

impl Hub {
    /// Connects, and looks whether the server is one that a fleet can trust.
    pub fn connect(to: &Invitation, runtime: &Handle) -> Result<Self, FleetError> {
        Self::connect_within(to, runtime, Deadlines::default())
    }

    /// The same with other deadlines.
    pub fn connect_within(
        to: &Invitation,
        runtime: &Handle,
        deadlines: Deadlines,
    ) -> Result<Self, FleetError> {
        let signs = Arc::new(Signs {
            refused: broadcast::Sender::new(64),
            losses: watch::Sender::new(0),
        });
        let client = runtime.block_on(connect(to, deadlines, &signs))?;
        let hub = Self {
            client,
            runtime: runtime.clone(),
            server: to.to_string(),
            servers: to.servers().count(),
            deadlines,
            signs,
        };
        let info = hub.client.server_info();
        if !is_new_enough(&info.version) {
            return Err(FleetError::TooOld {
                server: hub.server,
                version: info.version,
            });
        }
        if !info.jetstream {
            return Err(FleetError::NoStore { server: hub.server });
        }
        Ok(hub)
    }

    /// The version of the server that is connected now.
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// Whether each server that runs syncs each message before it acknowledges it, by its own word. One that
    /// does not loses at a power cut what it acknowledged.
    pub fn syncs_always(&self) -> Result<bool, FleetError> {
        Ok(self.storage()?.0)
    }

    /// The same, and what time it is there; none where no server says.
    pub(crate) fn storage(&self) -> Result<(bool, Option<Timestamp>), FleetError> {
        let answers = self.block_on(self.ask_all(STORAGE, &json!({ "config": true })))?;
        let syncs = |it: &Value| it["data"]["config"]["sync_always"] == true;
        // The last to answer did so just now.
        let time = answers.last().and_then(|it| it["server"]["time"].as_str());
        let time = time.and_then(|time| time.parse().ok());
        Ok((answers.iter().all(syncs), time))
    }

    /// What each of the servers answers that runs; one at least.
    async fn ask_all(&self, subject: &str, asked: &Value) -> Result<Vec<Value>, FleetError> {
        let unreachable = |error: &dyn fmt::Display| FleetError::Unreachable {
            server: self.server.clone(),
            reason: error.to_string(),
        };
        let inbox = self.client.new_inbox();
        let subscribed = self.client.subscribe(inbox.clone()).await;
        let mut told = subscribed.map_err(|error| unreachable(&error))?;
        let body = asked.to_string().into();
        let sent = self
            .client
            .publish_with_reply(subject.to_owned(), inbox, body);
        sent.await.map_err(|error| unreachable(&error))?;
        let (mut answers, mut patience) = (Vec::new(), self.deadlines.answer);
        while answers.len() < self.servers {
            match timeout(patience, told.next()).await {
                Ok(Some(answer)) => answers.push(
                    serde_json::from_slice(&answer.payload)
                        .map_err(|error| FleetError::malformed("the answer of a server", error))?,
                ),
                Ok(None) | Err(_) => break,
            }
            patience = STRAGGLERS;
        }
        match answers.is_empty() {
            true => Err(self.unanswered("ask how it stores", NoAnswer::Silence)),
            false => Ok(answers),
        }
    }

    /// Whether the server lets this machine's key decide on briefs, by its own word; none where it was set up
    /// before it could be asked.
    pub fn may_decide(&self, machine: &MachineId) -> Result<Option<bool>, FleetError> {
        let what = "ask what its key allows";
        let answer = self.block_on(self.inquire_json(what, RIGHTS, &json!({})));
        let answer = match answer {
            Ok(answer) => answer.unwrap_or_default(),
            Err(FleetError::NotAllowed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let allowed = &answer["data"]["permissions"]["publish"]["allow"];
        let gate = gate(machine);
        // Whose publishing is not limited may do everything.
        let may = |allowed: &Vec<Value>| allowed.iter().any(|it| *it == *gate);
        Ok(Some(allowed.as_array().is_none_or(may)))
    }

    /// Whether there is a connection now, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Refuses where there is none.
    pub(crate) fn must_be_connected(&self) -> Result<(), FleetError> {
        match self.is_connected() {
            true => Ok(()),
            false => Err(self.unanswered("connect", NoAnswer::Unsent)),
        }
    }

    pub(crate) fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// How often the connection was lost; changes when it is.
    pub(crate) fn losses(&self) -> watch::Receiver<u64> {
        self.signs.losses.subscribe()
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Waits until there is a connection; whether there is one.
    pub(crate) async fn connected_by(&self, deadline: Instant) -> bool {
        while !self.is_connected() {
            if Instant::now() >= deadline {
                return false;
            }
            // No event says that it stands again before the state does.
            sleep(Duration::from_millis(10)).await;
        }
        true
    }

    /// Sends a request, once, and waits so long for its answer.
    pub(crate) async fn ask(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<Message, NoAnswer> {
        if !self.connected_by(deadline).await {
            return Err(NoAnswer::Unsent);
        }
        let mut refused = self.signs.refused.subscribe();
        let mut losses = self.losses();
        let mut request = Request::new().payload(body.into()).timeout(None);
        if let Some(headers) = headers {
            request = request.headers(headers);
        }
        tokio::select! {
            answer = self.client.send_request(subject.to_owned(), request) => {
                answer.map_err(|error| match error.kind() {
                    RequestErrorKind::NoResponders => NoAnswer::Nobody,
                    RequestErrorKind::MaxPayloadExceeded => NoAnswer::TooLarge,
                    RequestErrorKind::TimedOut
                    | RequestErrorKind::InvalidSubject
                    | RequestErrorKind::Other => NoAnswer::Silence,
                })
            }
            () = named(&mut refused, subject) => Err(NoAnswer::NotAllowed),
            // The answer went to a connection that is no more.
            _ = losses.changed() => Err(NoAnswer::Silence),
            () = sleep_until(deadline.into()) => Err(NoAnswer::Silence),
        }
    }

    /// How long one server is waited for, where another may answer.
    pub(crate) fn patience(&self) -> Duration {
        self.deadlines.answer / u32::try_from(self.servers.max(1)).unwrap_or(u32::MAX)
    }

    /// Whether there is another server to go to.
    pub(crate) fn has_others(&self) -> bool {
        self.servers > 1
    }

    /// Leaves a server that does not answer, for another if there is one.
    pub(crate) async fn go_elsewhere(&self) {
        if self.is_connected() {
            let mut losses = self.losses();
            // Where the connection is closed for good, the next request says so.
            let _ = self.client.force_reconnect().await;
            // What is sent before it has left is lost.
            let _ = timeout(LEAVING, losses.changed()).await;
        }
    }

    /// Asks the server for a change that must not be made twice. A server where nobody heard it, as one that
    /// has just started among others, is left for another.
    pub(crate) async fn tell(
        &self,
        what: &str,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Vec<u8>,
    ) -> Result<Message, FleetError> {
        let deadline = Instant::now() + self.deadlines.answer;
        loop {
            let answer = self.ask(subject, headers.clone(), body.clone(), deadline);
            match answer.await {
                Err(NoAnswer::Nobody) if self.has_others() && Instant::now() < deadline => {
                    sleep(PAUSE).await;
                    self.go_elsewhere().await;
                }
                answer => return answer.map_err(|why| self.unanswered(what, why)),
            }
        }
    }

    /// Asks the server for what changes nothing, and reads its answer.
    pub(crate) async fn inquire(
        &self,
        what: &str,
        subject: &str,
        body: Vec<u8>,
    ) -> Result<Message, FleetError> {
        self.ask_again(what, subject, None, body).await
    }

    /// Asks the server, as often as the time allows, for what may be done twice. One that is cut off from the
    /// others, or hangs, is left for another.
    pub(crate) async fn ask_again(
        &self,
        what: &str,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Vec<u8>,
    ) -> Result<Message, FleetError> {
        let deadline = Instant::now() + self.deadlines.answer;
        loop {
            let until = deadline.min(Instant::now() + self.patience());
            let answer = self.ask(subject, headers.clone(), body.clone(), until);
            let answer = answer.await;
            let is_over = Instant::now() >= deadline;
            match &answer {
                // The connection was lost, and stands again by itself.
                Err(NoAnswer::Silence) if Instant::now() < until => continue,
                Err(NoAnswer::Silence) if !is_over => {}
                Err(NoAnswer::Nobody) if self.has_others() && !is_over => sleep(PAUSE).await,
                Ok(answer) if is_away(answer) && self.has_others() && !is_over => {
                    sleep(PAUSE).await
                }
                _ => return answer.map_err(|why| self.unanswered(what, why)),
            }
            self.go_elsewhere().await;
        }
    }

    /// The same for an answer in JSON, which may be a refusal. `None` where the thing is not there.
    pub(crate) async fn inquire_json(
        &self,
        what: &str,
        subject: &str,
        body: &Value,
    ) -> Result<Option<Value>, FleetError> {
        let answer = self.inquire(what, subject, body.to_string().into()).await?;
        let value: Value = serde_json::from_slice(&answer.payload)
            .map_err(|error| FleetError::malformed(format!("the answer to {what}"), error))?;
        match value.get("error") {
            None => Ok(Some(value)),
            Some(error) if error["code"].as_u64() == Some(404) => Ok(None),
            Some(error) => Err(self.refused(what, error)),
        }
    }

    /// The server's own refusal.
    pub(crate) fn refused(&self, what: &str, error: &Value) -> FleetError {
        let code = error["err_code"].as_u64().unwrap_or_default();
        if [TOO_FEW, NO_PEERS].contains(&code) {
            return self.too_few();
        }
        FleetError::Refused {
            what: what.to_owned(),
            code,
            description: error["description"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Of several servers too few run, or too few have all.
    pub(crate) fn too_few(&self) -> FleetError {
        FleetError::Unreachable {
            server: self.server.clone(),
            reason: "too few of its servers run and have all".to_owned(),
        }
    }

    pub(crate) fn unanswered(&self, what: &str, why: NoAnswer) -> FleetError {
        let unreachable = |reason: &str| FleetError::Unreachable {
            server: self.server.clone(),
            reason: reason.to_owned(),
        };
        match why {
            NoAnswer::NotAllowed => FleetError::NotAllowed {
                server: self.server.clone(),
                what: what.to_owned(),
            },
            NoAnswer::Unsent => unreachable("there is no connection"),
            NoAnswer::Nobody => unreachable("it has nobody who answers for that"),
            NoAnswer::TooLarge => unreachable("it does not take a request so large"),
            NoAnswer::Silence => unreachable("it does not answer"),
        }
    }
}

/// Whether a server says that it has lost the others, or does not know them yet. What it has stored comes with
/// headers, and says nothing of it.
fn is_away(answer: &Message) -> bool {
    let said = || serde_json::from_slice::<Value>(&answer.payload).ok();
    let is_away = |it: Value| {
        let error = &it["error"];
        error["code"].as_u64() == Some(AWAY) || error["err_code"].as_u64() == Some(NO_PEERS)
    };
    answer.headers.is_none() && said().is_some_and(is_away)
}

/// Ends when a subject is named.
async fn named(refused: &mut broadcast::Receiver<String>, subject: &str) {
    loop {
        match refused.recv().await {
            Ok(named) if named == subject => return,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
