//! The keys of what a line carries beside its entry, where several modules write or read it.
//!
//! Owns the names alone; what their values mean is said by whoever writes them.

/// On a line that is a change of its own, though carried out with others.
pub(crate) const APART: &str = "apart";

/// The number of a reservation, on each line about one.
pub(crate) const RESERVATION: &str = "reservation";

/// The number of a request for a permission, on each line about one.
pub(crate) const REQUEST: &str = "request";

/// The rules that decided on a request, on the line of that decision.
pub(crate) const RULE: &str = "rule";

/// The directory of the table that a line tells of.
pub(crate) const TABLE: &str = "coordination";

/// All that a file says which we wrote for the first time, without its revision.
pub(crate) const CONTENT: &str = "content";

/// The same of neighbours that have no line of their own, by their ids.
pub(crate) const CONTENTS: &str = "contents";

/// What a created file said, as a hash.
pub(crate) const FINGERPRINT: &str = "fingerprint";

/// The hash of a worker's token.
pub(crate) const TOKEN_HASH: &str = "sha256";
