//! One repository's stream: how it is made, and what was stored in it.
//!
//! Owns the stream's name and configuration. Machines never change the latter; they look whether it
//! promises what it must, and keep away where it does not.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::{Message, StatusCode};
use flagpost_model::RepoId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    backoff::Backoff,
    error::FleetError,
    hub::Hub,
    stored::{Stored, before_first, stream_name},
};

/// The most bytes that a repository's order may have.
const MOST_BYTES: u64 = 8 << 30;

/// The fewest with which it is worth to begin.
const FEWEST_BYTES: u64 = 64 << 20;

/// The most bytes of one message, its headers included.
pub(crate) const MESSAGE_BYTES: usize = 8 << 20;

/// What the streams of an older Flagpost take, which are as good.
const FEWEST_MESSAGE_BYTES: i64 = 1 << 20;

/// The server's number for: no room for what the stream reserves.
const NO_ROOM: u64 = 10047;

/// Between two looks for a server that is up to date.
const PAUSE: Duration = Duration::from_millis(50);

/// So often a server is given time to come by a message that another one has.
const LAGS: u32 = 4;

/// On how many servers each message lies.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub enum Replicas {
    /// One: what its disk loses is lost there.
    #[default]
    One,
    /// Three, of which a majority has it before it is acknowledged.
    Three,
}

impl Replicas {
    pub(crate) fn count(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Three => 3,
        }
    }
}

impl TryFrom<u64> for Replicas {
    type Error = String;
    fn try_from(count: u64) -> Result<Self, String> {
        match count {
            1 => Ok(Self::One),
            3 => Ok(Self::Three),
            _ => Err(format!("a fleet has one server or three, not {count}")),
        }
    }
}

impl From<Replicas> for u64 {
    fn from(replicas: Replicas) -> u64 {
        replicas.count()
    }
}

/// The order of one repository's changes.
#[derive(Debug, Clone)]
pub struct RepoStream {
    pub(crate) hub: Hub,
    pub(crate) repo: RepoId,
    pub(crate) name: String,
    pub(crate) backoff: Arc<Backoff>,
}

/// Where a stream ends now.
#[derive(Debug)]
pub struct StreamEnd {
    /// The last message.
    pub last: Option<Stored>,
    /// Nothing is appended to it any more.
    pub(crate) is_sealed: bool,
}

/// What the server says of a stream.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StreamInfo {
    pub(crate) config: Value,
    /// Tells streams of one name apart.
    pub(crate) created: String,
    pub(crate) state: StreamState,
    /// The servers that have it, where there are several.
    #[serde(default)]
    pub(crate) cluster: Option<StreamCluster>,
}

impl StreamInfo {
    /// Whether nothing is appended to it any more.
    pub(crate) fn is_sealed(&self) -> bool {
        self.config["sealed"] == json!(true)
    }
}

/// What is said of the servers that have a stream; nothing where there is one.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct StreamCluster {
    /// Which server leads.
    pub(crate) leader: Option<String>,
    /// The others, as it sees them.
    pub(crate) replicas: Vec<StreamPeer>,
}

/// One of the others.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct StreamPeer {
    pub(crate) name: String,
    /// It has all.
    pub(crate) current: bool,
    pub(crate) offline: bool,
    /// How many nanoseconds ago it was heard; 0 where it never was.
    pub(crate) active: u64,
}

/// Which messages it has.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StreamState {
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    /// How many each subject has, where that was asked for.
    #[serde(default)]
    pub(crate) subjects: std::collections::BTreeMap<String, u64>,
}

impl RepoStream {
    /// Makes the first one, which only the administrator may.
    pub fn create(hub: &Hub, repo: &RepoId, replicas: Replicas) -> Result<Self, FleetError> {
        Self::begin(hub, (repo, 1), replicas)
    }

    /// Makes the `epoch`-th one. It reserves 8 GiB, or as much of that as the server still has.
    pub(crate) fn begin(
        hub: &Hub,
        (repo, epoch): (&RepoId, u64),
        replicas: Replicas,
    ) -> Result<Self, FleetError> {
        let stream = Self::named(hub, repo)?;
        let mut bytes = MOST_BYTES;
        loop {
            let mut config = promises(&stream.name, repo);
            config["max_msg_size"] = json!(MESSAGE_BYTES);
            if epoch > 1 {
                config["first_seq"] = json!(before_first(epoch) + 1);
            }
            config["max_bytes"] = json!(bytes);
            config["num_replicas"] = json!(replicas.count());
            match hub.block_on(create(hub, &stream.name, &config)) {
                Err(FleetError::Refused { code: NO_ROOM, .. }) if bytes > FEWEST_BYTES => {
                    bytes /= 2;
                }
                made => return made.map(|()| stream),
            }
        }
    }

    /// The one that is there, if it promises what it must; on how many servers is the administrator's to say.
    pub fn open(hub: &Hub, repo: &RepoId) -> Result<Self, FleetError> {
        let stream = Self::named(hub, repo)?;
        let info = hub.block_on(info(hub, &stream.name))?;
        let asked = promises(&stream.name, repo);
        check(&stream.name, &asked, &info.config)?;
        let most = &info.config["max_msg_size"];
        if most.as_i64().is_none_or(|it| it < FEWEST_MESSAGE_BYTES) {
            return Err(FleetError::Configuration {
                name: stream.name,
                key: "max_msg_size".to_owned(),
                asked: FEWEST_MESSAGE_BYTES.to_string(),
                found: most.to_string(),
            });
        }
        Ok(stream)
    }

    /// Ends it, which only the administrator may: what is in it can be read, and nothing is appended to it
    /// any more.
    pub fn seal(&self) -> Result<(), FleetError> {
        self.hub.block_on(async {
            let mut config = info(&self.hub, &self.name).await?.config;
            config["sealed"] = json!(true);
            let what = format!("end {}", self.name);
            let subject = format!("$JS.API.STREAM.UPDATE.{}", self.name);
            let sealed = self.hub.inquire_json(&what, &subject, &config).await?;
            sealed.map(|_| ()).ok_or_else(|| self.gone())
        })
    }

    /// Removes the stream of a repository, where it has one.
    pub(crate) fn remove(hub: &Hub, repo: &RepoId) -> Result<(), FleetError> {
        let name = Self::named(hub, repo)?.name;
        let what = format!("remove {name}");
        let subject = format!("$JS.API.STREAM.DELETE.{name}");
        let nothing = json!({});
        let removal = hub.inquire_json(&what, &subject, &nothing);
        hub.block_on(removal).map(|_| ())
    }

    fn gone(&self) -> FleetError {
        let name = self.name.clone();
        FleetError::Gone { name }
    }

    fn named(hub: &Hub, repo: &RepoId) -> Result<Self, FleetError> {
        if repo.as_str().contains('.') {
            let what = format!("the repository's id {repo}");
            return Err(FleetError::malformed(what, "a fleet's has no dots"));
        }
        Ok(Self {
            hub: hub.clone(),
            repo: repo.clone(),
            name: stream_name(repo),
            backoff: Arc::default(),
        })
    }

    /// The repository.
    pub fn repo(&self) -> &RepoId {
        &self.repo
    }

    /// The last message.
    pub fn last(&self) -> Result<Option<Stored>, FleetError> {
        Ok(self.hub.block_on(self.end_now())?.last)
    }

    /// The last message where that is not before line `n` of the `epoch`-th order. The first server that is
    /// asked knows it mostly.
    pub fn last_with(&self, (epoch, n): (u64, u64)) -> Result<Option<Stored>, FleetError> {
        let asked = json!({ "last_by_subj": ">" });
        let answer = self.hub.block_on(self.ask_for(&asked))?;
        let last = answer.map(|it| Stored::read(&self.repo, &it)).transpose()?;
        match last.filter(|it| it.is_or_follows((epoch, n))) {
            Some(last) => Ok(Some(last)),
            None => Ok(self.end_with((epoch, n))?.last),
        }
    }

    /// The last message, and whether one can follow it, from a server that has line `n` of the `epoch`-th
    /// order, as one of them had: another may lag behind, or be cut off and not know it. Where none has it in
    /// time, what the last one says.
    pub fn end_with(&self, (epoch, n): (u64, u64)) -> Result<StreamEnd, FleetError> {
        self.hub.block_on(async {
            let deadline = Instant::now() + self.hub.deadlines().answer;
            loop {
                let end = self.end_now().await?;
                let has_it = |it: &Stored| it.is_or_follows((epoch, n));
                if end.last.as_ref().is_some_and(has_it)
                    || !self.hub.has_others()
                    || Instant::now() >= deadline
                {
                    return Ok(end);
                }
                self.hub.go_elsewhere().await;
                sleep(PAUSE).await;
            }
        })
    }

    async fn end_now(&self) -> Result<StreamEnd, FleetError> {
        let info = info(&self.hub, &self.name).await?;
        let (is_sealed, state) = (info.is_sealed(), info.state);
        let last = match state.last_seq < state.first_seq.max(1) {
            true => None,
            // Another server than the one that knows the last may be asked for it.
            false => Some(self.get_there_now(state.last_seq).await?),
        };
        Ok(StreamEnd { last, is_sealed })
    }

    /// A message by its place. Of a stream on three servers, one that is not found yet may still come.
    pub fn get(&self, seq: u64) -> Result<Option<Stored>, FleetError> {
        self.hub.block_on(self.get_now(seq))
    }

    /// A message that is there, from a server that has it: another may lag behind, or be cut off.
    pub fn get_there(&self, seq: u64) -> Result<Stored, FleetError> {
        self.hub.block_on(self.get_there_now(seq))
    }

    async fn get_there_now(&self, seq: u64) -> Result<Stored, FleetError> {
        let deadline = Instant::now() + self.hub.deadlines().answer;
        for tries in 1.. {
            if let Some(found) = self.get_now(seq).await? {
                return Ok(found);
            }
            if !self.hub.has_others() || Instant::now() >= deadline {
                break;
            }
            sleep(PAUSE).await;
            if tries % LAGS == 0 {
                self.hub.go_elsewhere().await;
            }
        }
        match self.hub.has_others() {
            true => Err(FleetError::Unreachable {
                server: self.hub.server().to_owned(),
                reason: format!("no server has message {seq}, which was there"),
            }),
            false => Err(FleetError::Gone {
                name: format!("message {seq} of repository {}", self.repo),
            }),
        }
    }

    pub(crate) async fn get_now(&self, seq: u64) -> Result<Option<Stored>, FleetError> {
        let answer = self.ask_for(&json!({ "seq": seq })).await?;
        let read = |it: Message| Stored::read_at(&self.repo, seq, &it);
        answer.map(read).transpose()
    }

    /// One message, from the server that answers first; `None` where that one does not have it.
    async fn ask_for(&self, which: &Value) -> Result<Option<Message>, FleetError> {
        let what = format!("read message {which} of {}", self.name);
        let subject = format!("$JS.API.DIRECT.GET.{}", self.name);
        let body = which.to_string().into();
        let answer = self.hub.inquire(&what, &subject, body).await?;
        Ok(Some(answer).filter(|it| it.status != Some(StatusCode::NOT_FOUND)))
    }
}

/// What a repository's stream must be. How many bytes it may have is the server's to say.
fn promises(name: &str, repo: &RepoId) -> Value {
    json!({
        "name": name,
        "subjects": [format!("fp.{repo}.*"), format!("fp.{repo}.*.gate")],
        "storage": "file",
        "retention": "limits",
        "deny_delete": true,
        "deny_purge": true,
        "discard": "new",
        "max_msgs": -1,
        "max_age": 0,
        "allow_direct": true,
        "duplicate_window": 120_000_000_000_u64,
        // What is stored is told: not what it says, only that it is there.
        "republish": { "src": ">", "dest": "told.>", "headers_only": true },
    })
}

/// What none of our streams is: each would let messages change, vanish or come from elsewhere.
const NEVER: [&str; 8] = [
    "allow_atomic",
    "allow_msg_counter",
    "allow_rollup_hdrs",
    "discard_new_per_subject",
    "mirror",
    "no_ack",
    "sources",
    "subject_transform",
];

/// Whether a stream is configured as asked.
pub(crate) fn check(name: &str, asked: &Value, found: &Value) -> Result<(), FleetError> {
    let wrong = |key: &str, asked: &Value, found: &Value| FleetError::Configuration {
        name: name.to_owned(),
        key: key.to_owned(),
        asked: asked.to_string(),
        found: found.to_string(),
    };
    for (key, asked) in asked.as_object().into_iter().flatten() {
        if found[key] != *asked {
            return Err(wrong(key, asked, &found[key]));
        }
    }
    let is_off = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    let never = NEVER.iter().find(|key| !is_off(&found[**key]));
    never.map_or(Ok(()), |key| {
        Err(wrong(key, &Value::Bool(false), &found[*key]))
    })
}

/// Makes a stream. One of the same name and configuration is no error, to the server or here.
pub(crate) async fn create(hub: &Hub, name: &str, config: &Value) -> Result<(), FleetError> {
    let what = format!("make {name}");
    let subject = format!("$JS.API.STREAM.CREATE.{name}");
    let made = hub.inquire_json(&what, &subject, config).await?;
    let made = made.ok_or_else(|| FleetError::Gone {
        name: name.to_owned(),
    })?;
    check(name, config, &made["config"])
}

/// What the server says of a stream.
pub(crate) async fn info(hub: &Hub, name: &str) -> Result<StreamInfo, FleetError> {
    info_of(hub, name, &json!({})).await
}

/// The same with more asked for.
pub(crate) async fn info_of(
    hub: &Hub,
    name: &str,
    asked: &Value,
) -> Result<StreamInfo, FleetError> {
    let what = format!("look at {name}");
    let subject = format!("$JS.API.STREAM.INFO.{name}");
    match hub.inquire_json(&what, &subject, asked).await? {
        None => Err(FleetError::Gone {
            name: name.to_owned(),
        }),
        Some(info) => serde_json::from_value(info)
            .map_err(|error| FleetError::malformed(format!("what is said of {name}"), error)),
    }
}
