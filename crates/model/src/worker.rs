//! Workers: who may get a brief.
//!
//! Owns when a worker counts as live: its last sign of life is fresh, or its process runs. Whether
//! a process runs is an argument.

use jiff::{SignedDuration, Timestamp};

use crate::{envelope::Hash, id::WorkerId, names::names};

/// A sign of life is fresh for so long.
pub const FRESH: SignedDuration = SignedDuration::from_mins(2);

names! {
    /// Whether a worker still belongs to the fleet.
    WorkerStatus {
        /// It does.
        Active = "active",
        /// It was taken off; its mail stays.
        Retired = "retired",
    }
}

names! {
    /// Why a worker counts as live, or that it does not.
    Liveness {
        /// It gave a sign of life a moment ago.
        Heartbeat = "heartbeat",
        /// Its process runs.
        Process = "process",
        /// Neither.
        Silent = "silent",
    }
}

/// One agent's identity.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Worker {
    /// Its id.
    pub id: WorkerId,
    /// Which agent it is: `claude`, `codex`.
    pub agent: Option<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Since when it belongs to the fleet.
    pub registered_at: Timestamp,
    /// Its last sign of life. To be put on the fleet is none.
    pub last_seen: Option<Timestamp>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its pane.
    pub tmux: Option<String>,
    /// Where it works.
    pub worktree: Option<String>,
    /// Whether it still belongs to the fleet.
    #[serde(rename = "status")]
    pub standing: WorkerStatus,
    /// The hash of its token, where it has one. It is nobody's business but the door's.
    #[serde(skip)]
    pub token: Option<Hash>,
}

impl Worker {
    /// Whether the worker is live; `running` says so of its process.
    pub fn liveness(&self, now: Timestamp, running: bool) -> Liveness {
        match (self.standing, self.is_fresh(now)) {
            (WorkerStatus::Retired, _) => Liveness::Silent,
            (WorkerStatus::Active, true) => Liveness::Heartbeat,
            (WorkerStatus::Active, false) if running => Liveness::Process,
            (WorkerStatus::Active, false) => Liveness::Silent,
        }
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        self.last_seen
            .is_some_and(|at| now.duration_since(at) <= FRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_lives_by_its_heartbeat_or_its_process() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let seen = at("2026-05-13T14:25:00Z");
        let worker = |standing| Worker {
            id: "W1".parse().unwrap(),
            agent: None,
            capabilities: Vec::new(),
            registered_at: seen,
            last_seen: Some(seen),
            pid: None,
            tmux: None,
            worktree: None,
            standing,
            token: None,
        };
        for (now, running, expected) in [
            ("2026-05-13T14:27:00Z", false, Liveness::Heartbeat),
            ("2026-05-13T14:27:01Z", false, Liveness::Silent),
            ("2026-05-13T14:27:01Z", true, Liveness::Process),
            // Clocks of two machines differ.
            ("2026-05-13T14:24:00Z", false, Liveness::Heartbeat),
        ] {
            let live = worker(WorkerStatus::Active).liveness(at(now), running);
            assert_eq!(live, expected, "{now} {running}");
        }
        let new = Worker {
            last_seen: None,
            ..worker(WorkerStatus::Active)
        };
        assert_eq!(new.liveness(new.registered_at, false), Liveness::Silent);
        assert_eq!(new.liveness(new.registered_at, true), Liveness::Process);
        let retired = worker(WorkerStatus::Retired).liveness(seen, true);
        assert_eq!(retired, Liveness::Silent);
    }
}
