//! A bucket of records by key, the newest of each.
//!
//! Owns the spelling of NATS' key-value buckets and of JSON in them. No key can be wiped: a bucket knows
//! no roll-up, by which one machine could remove what all others wrote.

use async_nats::{HeaderMap, StatusCode};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    error::FleetError,
    hub::Hub,
    stored::header,
    stream::{Replicas, check, create, info, info_of},
};

/// How long a bucket keeps its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// For good.
    Ever,
    /// Each for as long as its writer says.
    ForAWhile,
}

/// What a record is put over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Whatever is there.
    Anything,
    /// Nothing: it is made, once.
    Nothing,
    /// The record of this place, and no other.
    That(u64),
}

/// The server's numbers for: the key has a record.
const THERE: [u64; 2] = [10071, 10164];

/// A bucket.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    hub: Hub,
    name: &'static str,
}

impl Bucket {
    /// Makes it. One that is there and configured so is no error.
    pub(crate) fn create(
        hub: &Hub,
        name: &'static str,
        keeping: Keeping,
        replicas: Replicas,
    ) -> Result<Self, FleetError> {
        let bucket = Self {
            hub: hub.clone(),
            name,
        };
        let mut asked = bucket.promises(keeping);
        asked["num_replicas"] = json!(replicas.count());
        hub.block_on(create(hub, &bucket.stream(), &asked))?;
        Ok(bucket)
    }

    /// The one that is there, if it is configured so; of its replicas there may be any number.
    pub(crate) fn open(
        hub: &Hub,
        name: &'static str,
        keeping: Keeping,
    ) -> Result<Self, FleetError> {
        let bucket = Self {
            hub: hub.clone(),
            name,
        };
        let found = hub.block_on(info(hub, &bucket.stream()))?.config;
        check(&bucket.stream(), &bucket.promises(keeping), &found)?;
        Ok(bucket)
    }

    fn stream(&self) -> String {
        format!("KV_{}", self.name)
    }

    /// On disk in either case: one in memory would be gone, itself and not only its records, when the
    /// server is started again, and no machine may make it anew.
    fn promises(&self, keeping: Keeping) -> Value {
        let mut promises = json!({
            "name": self.stream(),
            "subjects": [format!("$KV.{}.>", self.name)],
            "storage": "file",
            "retention": "limits",
            "max_msgs_per_subject": 1,
            "max_age": 0,
            "discard": "new",
            "deny_delete": true,
            "deny_purge": true,
            "allow_direct": true,
        });
        if keeping == Keeping::ForAWhile {
            promises["allow_msg_ttl"] = json!(true);
        }
        promises
    }

    /// The subject of a key; keys of odd characters have none.
    fn subject(&self, key: &str) -> Result<String, FleetError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-/_=".contains(&byte);
        let token = |token: &str| !token.is_empty() && token.bytes().all(plain);
        if key.split('.').all(token) {
            Ok(format!("$KV.{}.{key}", self.name))
        } else {
            let what = format!("the key {key:?} of {}", self.name);
            Err(FleetError::malformed(what, "it has odd characters"))
        }
    }

    /// Writes a record, which lives for so many seconds where that is said.
    pub(crate) fn put<T: Serialize>(
        &self,
        key: &str,
        record: &T,
        over: Over,
        seconds: Option<u32>,
    ) -> Result<(), FleetError> {
        let what = format!("write {key} of {}", self.name);
        let subject = self.subject(key)?;
        let body = serde_json::to_vec(record)
            .map_err(|error| FleetError::malformed(what.as_str(), error))?;
        let mut headers = HeaderMap::new();
        let expected = match over {
            Over::Anything => None,
            Over::Nothing => Some(0),
            Over::That(seq) => Some(seq),
        };
        if let Some(seq) = expected {
            let name = "Nats-Expected-Last-Subject-Sequence";
            headers.insert(name, seq.to_string().as_str());
        }
        if let Some(seconds) = seconds {
            headers.insert("Nats-TTL", format!("{seconds}s").as_str());
        }
        let headers = Some(headers).filter(|headers| !headers.is_empty());
        let hub = &self.hub;
        let answer = hub.block_on(async {
            match over {
                Over::Anything => hub.ask_again(&what, &subject, headers, body).await,
                Over::Nothing | Over::That(_) => hub.tell(&what, &subject, headers, body).await,
            }
        })?;
        let answer: Value = serde_json::from_slice(&answer.payload)
            .map_err(|error| FleetError::malformed(what.as_str(), error))?;
        match answer.get("error") {
            None => Ok(()),
            Some(error)
                if error["err_code"]
                    .as_u64()
                    .is_some_and(|it| THERE.contains(&it)) =>
            {
                Err(FleetError::Exists {
                    what: format!("{key} of {}", self.name),
                })
            }
            Some(error) => Err(self.hub.refused(&what, error)),
        }
    }

    /// A key's record.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, FleetError> {
        Ok(self.get_with_place(key)?.map(|(_, record)| record))
    }

    /// A key's record, and its place.
    pub(crate) fn get_with_place<T: DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<Option<(u64, T)>, FleetError> {
        let what = format!("read {key} of {}", self.name);
        let body = json!({ "last_by_subj": self.subject(key)? }).to_string();
        let subject = format!("$JS.API.DIRECT.GET.{}", self.stream());
        let inquiry = self.hub.inquire(&what, &subject, body.into());
        let answer = self.hub.block_on(inquiry)?;
        if answer.status == Some(StatusCode::NOT_FOUND) {
            return Ok(None);
        }
        let what = format!("{key} of {}", self.name);
        let headers = answer.headers.unwrap_or_default();
        let seq = header(&what, &headers, "Nats-Sequence")?;
        let record = serde_json::from_slice(&answer.payload);
        record
            .map(|record| Some((seq, record)))
            .map_err(|error| FleetError::malformed(what, error))
    }

    /// The keys below a prefix that ends with a dot, or all for an empty one, without it.
    pub(crate) fn keys(&self, below: &str) -> Result<Vec<String>, FleetError> {
        let before = format!("$KV.{}.{below}", self.name);
        let mut keys = Vec::new();
        // The server tells a part at a time.
        loop {
            let asked = json!({ "subjects_filter": format!("{before}>"), "offset": keys.len() });
            let part = self
                .hub
                .block_on(info_of(&self.hub, &self.stream(), &asked))?;
            let subjects = part.state.subjects;
            if subjects.is_empty() {
                return Ok(keys);
            }
            let key = |subject: &String| subject.strip_prefix(&before).map(str::to_owned);
            let found = keys.len();
            keys.extend(subjects.keys().filter_map(key));
            if keys.len() == found {
                return Ok(keys);
            }
        }
    }
}
