//! What one attempt at a task came to.
//!
//! Owns the three words a result may open with (`tree.md` §3). It must never judge what follows
//! from one: that is `plan::verdict`.

use crate::names::names;

names!(
    /// How an attempt at a task ended.
    Outcome {
        /// The task is done.
        Pass = "PASS",
        /// Something is done, not all.
        Partial = "PARTIAL",
        /// Nothing usable came of it.
        Fail = "FAIL",
    }
);
