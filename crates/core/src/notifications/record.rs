//! `run/notified.json`: what was told, and which channels failed last.
//!
//! Owns that file. Whoever changes it holds the home's lock from reading to writing. A file that cannot
//! be read is kept, and nothing is told meanwhile: nobody knows what was told already.

use std::{collections::BTreeMap, path::PathBuf};

use flagpost_disk::{self as disk, fsx};
use flagpost_model::notification::{Channel, ItemKey, Told};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{error::Result, home::Home};

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Notified {
    #[serde(default)]
    told: Vec<ToldItem>,
    #[serde(default)]
    failed: BTreeMap<Channel, ChannelFailure>,
}

/// An item that was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ToldItem {
    #[serde(flatten)]
    key: ItemKey,
    told: Timestamp,
}

/// That a channel failed when it was used last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFailure {
    /// When.
    pub at: Timestamp,
    /// In words.
    pub why: String,
}

/// Where it is.
pub fn path(home: &Home) -> PathBuf {
    home.root().join("run").join("notified.json")
}

/// The items that were told.
pub(super) fn told(home: &Home) -> Result<Told> {
    Ok(read(home)?.told())
}

/// Forgets the told items that are gone; answers with the others.
pub(super) fn forget(home: &Home, is_gone: impl Fn(&ItemKey) -> bool) -> Result<Told> {
    let left = change(home, |all| all.told.retain(|it| !is_gone(&it.key)))?;
    Ok(left.told())
}

/// Puts on record that these items are told.
pub(super) fn tell(home: &Home, keys: &[ItemKey], at: Timestamp) -> Result<()> {
    change(home, |all| {
        let mut told = all.told();
        told.extend(keys.iter().map(|key| (key.clone(), at)));
        let told = told.into_iter();
        all.told = told.map(|(key, told)| ToldItem { key, told }).collect();
    })
    .map(drop)
}

/// The channels that failed when they were used last.
pub fn failures(home: &Home) -> Result<BTreeMap<Channel, ChannelFailure>> {
    Ok(read(home)?.failed)
}

/// Puts on record what became of a channel: why it failed, or that it works.
pub fn note_outcome(home: &Home, channel: Channel, failed: Option<String>) -> Result<()> {
    let known = failures(home)?.contains_key(&channel);
    let Some(why) = failed else {
        return match known {
            true => change(home, |all| drop(all.failed.remove(&channel))).map(drop),
            false => Ok(()),
        };
    };
    let at = home.now();
    let failure = ChannelFailure { at, why };
    change(home, |all| drop(all.failed.insert(channel, failure))).map(drop)
}

impl Notified {
    fn told(&self) -> Told {
        let told = self.told.iter();
        told.map(|it| (it.key.clone(), it.told)).collect()
    }
}

fn read(home: &Home) -> Result<Notified> {
    let path = path(home);
    let Some(bytes) = fsx::read(home.fs(), &path)? else {
        return Ok(Notified::default());
    };
    let read = serde_json::from_slice(&bytes);
    Ok(read.map_err(|error| disk::Error::Malformed {
        path,
        reason: error.to_string(),
    })?)
}

/// One change of the file, durable on return.
fn change(home: &Home, rule: impl FnOnce(&mut Notified)) -> Result<Notified> {
    let path = path(home);
    home.make_dirs(&home.root().join("run"))?;
    let _lock = home.lock()?;
    let mut all = read(home)?;
    rule(&mut all);
    let text = serde_json::to_value(&all).map(|it| format!("{it:#}\n"));
    let text = text.map_err(|error| disk::Error::Malformed {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    fsx::replace(home.fs(), &path, text.as_bytes())?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use flagpost_model::notification::NoticeKind;

    use super::*;

    fn key(item: &str) -> ItemKey {
        ItemKey {
            repo: None,
            kind: NoticeKind::Brief,
            item: item.to_owned(),
            at: None,
        }
    }

    #[test]
    fn what_was_told_stays_until_it_is_forgotten_and_failures_until_it_works() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        assert!(told(&home).unwrap().is_empty());
        note_outcome(&home, Channel::Command, None).unwrap();
        assert!(!path(&home).exists(), "nothing was to be written");
        tell(&home, &[key("A"), key("B")], home.now()).unwrap();
        note_outcome(&home, Channel::Command, Some("exit 7".to_owned())).unwrap();
        let left = forget(&home, |key| key.item == "A").unwrap();
        assert_eq!(left, told(&home).unwrap());
        assert_eq!(left.keys().collect::<Vec<_>>(), [&key("B")]);
        assert_eq!(failures(&home).unwrap()[&Channel::Command].why, "exit 7");
        note_outcome(&home, Channel::Command, None).unwrap();
        assert!(failures(&home).unwrap().is_empty());
        assert_eq!(told(&home).unwrap().len(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        tell(&home, &[key("A")], home.now()).unwrap();
        std::fs::write(path(&home), "{").unwrap();
        assert!(told(&home).is_err());
        assert!(tell(&home, &[key("B")], home.now()).is_err());
        assert_eq!(std::fs::read_to_string(path(&home)).unwrap(), "{");
    }
}
