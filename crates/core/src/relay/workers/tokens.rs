//! Workers' tokens: what opens the daemon's tools as one worker, and nothing else.
//!
//! Owns their form, `WORKER~REPOSITORY~RANDOM`: the token itself says whose hash it is held against.
//! Invariants: a worker has one token at most, a new one makes the one before void, and only its hash is
//! kept, in `worker.json`. A worker that is taken off the fleet has none.

use flagpost_disk::dialects::relay::WorkerFile;
use flagpost_model::{
    RepoId, WorkerId,
    envelope::{Direction, Hash},
    worker::WorkerStatus,
};

use super::{Fleet, Mail};
use crate::{
    error::{Error, Result},
    history::{Kind, detail::TOKEN_HASH},
    home::Home,
    repository::Repository,
};

/// Between the parts of a token. No id has one.
const BETWEEN: char = '~';
/// A token that was just made. It is shown once, and kept nowhere.
#[derive(Debug)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// The worker had one before, which is void now.
    pub replaced: bool,
}

/// Gives a worker of the fleet a token.
pub fn issue(mail: &Mail<'_>, actor: &WorkerId) -> Result<Issued> {
    mail.home.transact(|| {
        let locked = mail.lock(Direction::Inbox)?;
        super::must_belong(mail)?;
        let file = mail.file()?;
        let parts = [mail.worker.as_str(), mail.repo.as_str(), &random()];
        let token = parts.join(&BETWEEN.to_string());
        let hash = Hash::of(token.as_bytes());
        let mut worker = file.content.clone();
        let replaced = worker.token.replace(hash.clone()).is_some();
        let entry = mail.entry(Kind::TokenIssued, None);
        let entry = entry.detail(TOKEN_HASH, hash.as_str());
        locked.store(actor, entry, Some(&file), &worker)?;
        Ok(Issued { token, replaced })
    })
}

/// The worker that this is the token of, and its repository.
pub fn holder(home: &Home, token: &str) -> Result<Option<(Repository, WorkerId)>> {
    let mut parts = token.splitn(3, BETWEEN);
    let (worker, repo) = (parts.next().unwrap_or_default(), parts.next());
    let (Ok(worker), Ok(repo)) = (
        worker.parse::<WorkerId>(),
        repo.unwrap_or_default().parse::<RepoId>(),
    ) else {
        return Ok(None);
    };
    let file = match Fleet::of(home, &repo).directory(&worker).file() {
        Ok(file) => file,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !opens(&file, token) {
        return Ok(None);
    }
    let repository = Repository::registered(home, &repo)?;
    Ok(repository.map(|repository| (repository, worker)))
}

/// Whether this is the token of a worker of the fleet.
fn opens(file: &WorkerFile, token: &str) -> bool {
    let worker = &file.content;
    worker.standing == WorkerStatus::Active && worker.token == Some(Hash::of(token.as_bytes()))
}

/// A text that nobody guesses: 244 random bits.
pub fn random() -> String {
    let half = || uuid::Uuid::new_v4().simple();
    format!("{}{}", half(), half())
}
