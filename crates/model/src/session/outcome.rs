//! How a task of a session ended.
//!
//! Owns the three words. Files of other writers spell them in other cases; reading those
//! tolerantly belongs to the dialect.

use crate::names::names;

names!(
    /// The verdict on one task of a session.
    Outcome {
        /// All that was asked is done.
        Pass = "PASS",
        /// The core works, something asked is missing.
        Partial = "PARTIAL",
        /// It is not done.
        Fail = "FAIL",
    }
);
