//! Why the order of a shared repository could not be asked, in the words of core.
//!
//! Owns the translation; what was asked is for others to know.

use flagpost_core::order::OrderRefusal;
use flagpost_model::RepoId;

use crate::error::FleetError;

pub(crate) fn overtaken(repo: &RepoId) -> OrderRefusal {
    OrderRefusal::Overtaken { repo: repo.clone() }
}

pub(crate) fn unreachable(repo: &RepoId, reason: String) -> OrderRefusal {
    let repo = repo.clone();
    OrderRefusal::Unreachable { repo, reason }
}

pub(crate) fn frozen(repo: &RepoId, reason: String) -> OrderRefusal {
    let repo = repo.clone();
    OrderRefusal::Frozen { repo, reason }
}

/// An order that this machine cannot go by.
pub(crate) fn lost(repo: &RepoId, reason: &str) -> OrderRefusal {
    let next = "'flagpost fleet restore' on the machine that founded the fleet begins it anew";
    frozen(repo, format!("{reason}; {next}"))
}

/// An order that is not whole yet.
pub(crate) fn begins(repo: &RepoId) -> OrderRefusal {
    unreachable(repo, "it begins anew, and is not there yet".to_owned())
}

/// The same for an order that was there a moment ago: who catches up sees what became of it.
pub(crate) fn said(repo: &RepoId, error: &FleetError) -> OrderRefusal {
    match error {
        FleetError::Gone { .. } | FleetError::Replaced { .. } | FleetError::Shorter { .. } => {
            overtaken(repo)
        }
        error => refusal(repo, error),
    }
}

/// What the server's word means to whoever changes a repository.
pub(crate) fn refusal(repo: &RepoId, error: &FleetError) -> OrderRefusal {
    match error {
        FleetError::Unreachable { .. }
        | FleetError::OtherCertificate { .. }
        | FleetError::TooOld { .. }
        | FleetError::NoStore { .. }
        | FleetError::Refused { .. } => unreachable(repo, error.to_string()),
        FleetError::NotAllowed { .. } => OrderRefusal::NotAllowed {
            repo: repo.clone(),
            reason: error.to_string(),
        },
        FleetError::Configuration { .. }
        | FleetError::Gone { .. }
        | FleetError::Shorter { .. }
        | FleetError::Replaced { .. }
        | FleetError::Exists { .. }
        | FleetError::Malformed { .. } => frozen(repo, error.to_string()),
    }
}
