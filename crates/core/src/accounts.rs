//! Accounts of clients that rest until a time (`agents.md` §5).
//!
//! Owns `$FLAGPOST_HOME/parked/`: a file for each account that a run parked, so that the next run, of
//! whatever repository, leaves it alone too. An account is known by a hash of where its client takes it
//! from; nothing of what it is comes here. A file whose time is over says nothing.

use std::{fmt, path::PathBuf};

use flagpost_disk::fsx;
use flagpost_model::envelope::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    home::Home,
};

/// Below the home.
const PARKED: &str = "parked";

/// What a file's name ends with.
const ENDING: &str = ".json";

/// What a client logs in with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account(String);

impl Account {
    /// The account that is taken from here: a client's name, and the variable or the file that it reads.
    pub fn of(place: &str) -> Self {
        Self(
            Hash::of(place.as_bytes())
                .as_str()
                .chars()
                .take(16)
                .collect(),
        )
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// That an account rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Park {
    /// The agent that met the limit, as its operator named it.
    pub agent: String,
    /// Until when nothing is started with it.
    pub until: Timestamp,
    /// In words.
    pub why: String,
}

/// Writes down that an account rests.
pub fn park(home: &Home, account: &Account, park: &Park) -> Result<()> {
    home.make_dirs(&home.root().join(PARKED))?;
    let text = serde_json::to_vec(park).map_err(|error| Error::Invalid {
        what: "a parked account".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(fsx::replace(home.fs(), &file(home, account), &text)?)
}

/// Takes back that an account rests, where that was written.
pub fn open(home: &Home, account: &Account) -> Result<()> {
    let file = file(home, account);
    match fsx::stat(home.fs(), &file)? {
        Some(_) => Ok(fsx::remove(home.fs(), &file)?),
        None => Ok(()),
    }
}

/// That this account rests, where it does now. What cannot be read keeps no account from being asked.
pub fn parked(home: &Home, account: &Account) -> Option<Park> {
    let park = fsx::read_lossy(home.fs(), &file(home, account));
    park.ok().flatten().and_then(|text| in_force(home, &text))
}

/// The accounts that rest now, those that open first before the others.
pub fn all_parked(home: &Home) -> Result<Vec<Park>> {
    let dir = home.root().join(PARKED);
    let mut all = Vec::new();
    for name in fsx::names(home.fs(), &dir)? {
        if name.to_str().is_some_and(|name| name.ends_with(ENDING))
            && let Ok(Some(text)) = fsx::read_lossy(home.fs(), &dir.join(name))
        {
            all.extend(in_force(home, &text));
        }
    }
    all.sort_by(|a: &Park, b| a.until.cmp(&b.until).then_with(|| a.agent.cmp(&b.agent)));
    Ok(all)
}

/// The notes that cannot be read, and why.
pub(crate) fn unreadable(home: &Home) -> Result<Vec<(PathBuf, String)>> {
    let dir = home.root().join(PARKED);
    let mut unreadable = Vec::new();
    for name in fsx::names(home.fs(), &dir)? {
        let path = dir.join(&name);
        if !name.to_str().is_some_and(|name| name.ends_with(ENDING)) {
            continue;
        }
        let why = match fsx::read(home.fs(), &path) {
            Ok(bytes) => {
                let read = |bytes: Vec<u8>| serde_json::from_slice::<Park>(&bytes).err();
                bytes.and_then(read).map(|error| error.to_string())
            }
            Err(error) => Some(error.reason()),
        };
        unreadable.extend(why.map(|why| (path, why)));
    }
    Ok(unreadable)
}

fn file(home: &Home, account: &Account) -> PathBuf {
    home.root().join(PARKED).join(format!("{account}{ENDING}"))
}

fn in_force(home: &Home, text: &str) -> Option<Park> {
    let park = serde_json::from_str::<Park>(text).ok()?;
    (park.until > home.now()).then_some(park)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use flagpost_disk::fsx::RealFs;

    use super::*;

    fn home(dir: &Path, now: i64) -> Home {
        Home::new(dir.join("home"), Arc::new(RealFs), Arc::new(at(now)))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn an_account_rests_until_its_time_or_until_it_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (home, later) = (home(dir.path(), 100), home(dir.path(), 300));
        let [claude, codex] = ["claude", "codex"].map(Account::of);
        let rests = |agent: &str, until| Park {
            agent: agent.to_owned(),
            until: at(until),
            why: "it is at its limit (five_hour)".to_owned(),
        };
        assert!(all_parked(&home).unwrap().is_empty());
        park(&home, &claude, &rests("claude", 500)).unwrap();
        park(&home, &codex, &rests("codex", 300)).unwrap();
        let names = |parks: Vec<Park>| parks.into_iter().map(|it| it.agent).collect::<Vec<_>>();
        assert_eq!(names(all_parked(&home).unwrap()), ["codex", "claude"]);
        assert_eq!(names(all_parked(&later).unwrap()), ["claude"]);
        assert_eq!(parked(&later, &codex), None);
        assert_eq!(parked(&later, &claude), Some(rests("claude", 500)));
        for account in [&claude, &claude, &codex] {
            open(&home, account).unwrap();
        }
        assert!(all_parked(&home).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_park_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        let account = Account::of("claude");
        fsx::make_dirs(home.fs(), &home.root().join(PARKED)).unwrap();
        let file = file(&home, &account);
        fsx::replace(home.fs(), &file, b"{\"agent\":7}").unwrap();
        assert_eq!(parked(&home, &account), None);
        fsx::remove(home.fs(), &file).unwrap();
        fsx::make_dirs(home.fs(), &file).unwrap();
        assert_eq!(parked(&home, &account), None);
        assert!(all_parked(&home).unwrap().is_empty());
    }
}
