//! What was found out about clients, kept so that a run need not ask again.
//!
//! Owns `clients.json` in the home. It is disposable, and believed only of a program that has not
//! changed, asked with the same words, for a day: a program may be a script that starts another.

use std::{os::unix::fs::MetadataExt, path::PathBuf};

use flagpost_core::Home;
use flagpost_disk::fsx;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{CheckTarget, answers::Answers, fault::ClientFault};
use crate::client::inject::TrustedHook;

/// The file's name in the home.
const FILE: &str = "clients.json";

/// For how long an answer is believed.
const A_DAY: SignedDuration = SignedDuration::from_hours(24);

/// So many are kept: everybody's and their kin's.
const MOST: usize = 32;

fn path(home: &Home) -> PathBuf {
    home.root().join(FILE)
}

/// What tells one program, asked in one way, from every other.
fn key(subject: &CheckTarget) -> Option<String> {
    // A link is followed: what it leads to is what is updated.
    let program = subject.program.canonicalize().ok()?;
    let file = program.metadata().ok()?;
    let words: Vec<String> = subject
        .lines()
        .iter()
        .flatten()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    // Of a variable's value nothing is kept.
    let variables: Vec<&str> = subject.env.iter().map(|(name, _)| name.as_str()).collect();
    let stamp = (file.len(), file.ino(), file.mtime(), file.mtime_nsec());
    let key = json!([
        env!("CARGO_PKG_VERSION"),
        subject.client,
        program.to_string_lossy(),
        stamp,
        words,
        variables
    ]);
    Some(key.to_string())
}

fn kept(home: &Home) -> Map<String, Value> {
    let bytes = fsx::read(home.fs(), &path(home)).ok().flatten();
    let kept = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match kept {
        Some(Value::Object(kept)) => kept,
        _ => Map::new(),
    }
}

/// What is known of a client; `None` where it is to be asked.
pub(super) fn recall(home: &Home, subject: &CheckTarget) -> Option<Answers> {
    let found = kept(home).remove(&key(subject)?)?;
    let at: Timestamp = found.get("at")?.as_str()?.parse().ok()?;
    let age = home.now().duration_since(at);
    let is_fresh = !age.is_negative() && age < A_DAY;
    is_fresh.then(|| read(&found)).flatten()
}

/// Keeps what a client answered. Where it cannot be kept, the next run asks again.
pub(super) fn remember(home: &Home, subject: &CheckTarget, answers: &Answers) {
    // Who is unfit is mended, and then asked again.
    if !answers.is_whole || !answers.faults.is_empty() {
        return;
    }
    let Some(key) = key(subject) else { return };
    let mut kept = kept(home);
    kept.insert(key, written(answers, home.now()));
    while kept.len() > MOST {
        let at = |entry: &Value| entry["at"].as_str().unwrap_or_default().to_owned();
        let oldest = kept.iter().min_by_key(|(_, entry)| at(entry));
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
            return;
        };
        kept.remove(&oldest);
    }
    let text = format!("{:#}\n", Value::Object(kept));
    let _ = fsx::replace(home.fs(), &path(home), text.as_bytes());
}

fn written(answers: &Answers, at: Timestamp) -> Value {
    let trusted = answers.trusted.iter().map(|it| [&it.key, &it.hash]);
    json!({
        "at": at.to_string(),
        "version": answers.version,
        "notes": answers.notes,
        "trusted": trusted.collect::<Vec<_>>(),
    })
}

fn read(kept: &Value) -> Option<Answers> {
    let text = |value: &Value| Some(value.as_str()?.to_owned());
    let notes = kept.get("notes")?.as_array()?.iter().map(text);
    let trusted = kept.get("trusted")?.as_array()?.iter().map(|it| {
        Some(TrustedHook {
            key: text(it.get(0)?)?,
            hash: text(it.get(1)?)?,
        })
    });
    Some(Answers {
        version: text(kept.get("version")?),
        faults: Vec::<ClientFault>::new(),
        notes: notes.collect::<Option<_>>()?,
        trusted: trusted.collect::<Option<_>>()?,
        is_whole: true,
    })
}
