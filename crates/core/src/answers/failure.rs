//! Failures.

use schemars::JsonSchema;
use serde::Serialize;

use crate::FailureKind;

/// A failure.
///
/// After any verb that fails, in place of its own answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorAnswer<'a> {
    /// Its kind.
    pub kind: FailureKind,
    /// The process's exit code: one for each kind, in this order.
    #[schemars(range(min = 1, max = 6))]
    pub exit_code: u8,
    /// The event, and the thing it happened to.
    pub message: &'a str,
    /// The next step; null where nothing general can be said.
    pub hint: Option<&'a str>,
    /// The causes behind it, the root last.
    pub causes: &'a [String],
}

impl<'a> ErrorAnswer<'a> {
    /// A failure of this kind.
    pub fn new(
        kind: FailureKind,
        message: &'a str,
        hint: Option<&'a str>,
        causes: &'a [String],
    ) -> Self {
        Self {
            kind,
            exit_code: kind as u8,
            message,
            hint,
            causes,
        }
    }
}
