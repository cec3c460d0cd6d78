//! The names in the bridge's directory (`tree.md` §5).

use jiff::{Timestamp, tz::TimeZone};

/// Where agents write commands.
pub const INBOX: &str = "agent-inbox.json";
/// Where their answers are.
pub const OUTBOX: &str = "agent-outbox.json";
/// What was executed, and what was answered.
pub const LEDGER: &str = ".agent-ledger.jsonl";
/// Held while the inbox is written or taken in.
pub const INBOX_LOCK: &str = ".agent-inbox.lock";
/// Held while the outbox is written.
pub const OUTBOX_LOCK: &str = ".agent-outbox.lock";
/// Held by whoever processes, for as long as it does.
pub const RUNNER: &str = ".agent-bridge.lock";
/// Asks whoever processes to stop.
pub const STOP: &str = ".agent-bridge.stop";

const BEFORE: &str = ".agent-inbox.";
const AFTER: &str = ".processing";

/// An inbox that was taken in.
pub fn processing(n: u64) -> String {
    format!("{BEFORE}{n}{AFTER}")
}

/// Which inbox the name is, if it is one that was taken in.
pub fn processing_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    digits.parse().ok().filter(|n| processing(*n) == name)
}

/// An inbox that could not be read; `again` counts those of one second.
pub fn rejected(at: Timestamp, again: u32) -> String {
    let time = at.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ");
    match again {
        0 => format!("{INBOX}.rejected-{time}"),
        again => format!("{INBOX}.rejected-{time}-{again}"),
    }
}
