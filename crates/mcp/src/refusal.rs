//! A refusal as an agent reads it.
//!
//! Owns its shape: the kinds and hints are those of every face. What a refusal knows beside its words,
//! such as who holds a task, is said under a name of its own.

use flagpost_core::{Error, FailureKind, describe, error::judge};
use flagpost_model::Refusal;
use serde_json::{Value, json};

/// Why a tool did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolRefusal {
    /// An operation said no, or failed.
    #[error(transparent)]
    Operation(#[from] Error),
    /// Whoever has no name only reads.
    #[error("this process is no worker, and may only read")]
    NoWorker,
    /// The worker was taken off the fleet.
    #[error("this worker was taken off the fleet")]
    Left,
    /// Another token was made, or the worker was taken off the fleet.
    #[error("the token that this began with is void")]
    Void,
}

impl ToolRefusal {
    /// As it is answered.
    pub(crate) fn shown(&self) -> Value {
        let (kind, hint, message) = match self {
            Self::Operation(error) => {
                let (kind, hint) = judge(error);
                (kind, hint, describe(error))
            }
            Self::NoWorker => (
                FailureKind::Conflict,
                Some("whoever set this server up names one: FLAGPOST_WORKER=W3".to_owned()),
                self.to_string(),
            ),
            Self::Left => (
                FailureKind::NotFound,
                Some(
                    "whoever controls the fleet takes it in again: 'flagpost worker add'"
                        .to_owned(),
                ),
                self.to_string(),
            ),
            Self::Void => (
                FailureKind::Conflict,
                Some(
                    "whoever set this client up makes another: 'flagpost worker token'".to_owned(),
                ),
                self.to_string(),
            ),
        };
        let mut shown = json!({
            "code": kind as u8,
            "kind": kind,
            "message": message,
            "hint": hint,
        });
        let Self::Operation(error) = self else {
            return shown;
        };
        match error {
            Error::Refused(Refusal::Held { holder, until, .. }) => {
                shown["holder"] = json!(holder);
                shown["until"] = json!(until);
            }
            Error::Reservation(conflict) => {
                let by = &conflict.by;
                shown["holder"] = json!(by.wanted.holder);
                shown["held"] = json!([]);
                shown["refused"] = json!([{
                    "path": conflict.path,
                    "holder": by.wanted.holder,
                    "until": by.until,
                }]);
            }
            Error::KeptLate(refusal) => {
                shown["late"] = true.into();
                if let Refusal::Held { holder, .. } = refusal {
                    shown["holder"] = json!(holder);
                }
            }
            _ => {}
        }
        shown
    }
}
