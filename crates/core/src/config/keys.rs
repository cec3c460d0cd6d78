//! The settings there are.
//!
//! Owns the table that everything about a setting derives from: what it may hold, its default, its
//! variable, its option, its sentence in the documentation. A new setting is one entry here; one
//! whose name is partly the user's choice is one entry too.

mod agents;
mod land;
mod notify;
mod run;
mod ui;

use std::marker::PhantomData;

use flagpost_model::MirrorForm;
use jiff::SignedDuration;

use super::kind::{
    Compat, Dir, Dirs, ListName, NonEmptyText, OneOf, SettingKind, SettingValue, Switch, Time,
};

pub use self::{
    agents::{AGENT_ARGS, AGENT_COMMAND, AGENT_ENV, AGENT_LIKE},
    land::{
        LAND_BATCH, LAND_CHECK, LAND_GIT_TIMEOUT, LAND_HOW, LAND_RETRIES, LAND_REVIEW, LAND_TIMEOUT,
    },
    notify::{
        NOTIFY_BATCH, NOTIFY_BODY, NOTIFY_CHANNELS, NOTIFY_COMMAND, NOTIFY_GRACE, NOTIFY_KINDS,
        NOTIFY_OSC, NOTIFY_QUIET, NOTIFY_REMIND,
    },
    run::{
        RUN_AGENT, RUN_GRACE, RUN_INJECT, RUN_MAX_PARALLEL, RUN_MAX_TOKENS, RUN_MAX_USD, RUN_OPEN,
        RUN_QUOTA_PARK, RUN_QUOTA_RESERVE, RUN_RESUME, RUN_RETRIES, RUN_SCHEDULE, RUN_STALL_AFTER,
        RUN_START_TIMEOUT, RUN_TIMEOUT, RUN_UNCOMMITTED, RUN_WORKTREE_COPY, RUN_WORKTREE_KEEP,
        RUN_WORKTREE_LINK, RUN_WORKTREE_PORTS, RUN_WORKTREE_SETUP, RUN_WORKTREE_SUBMODULES,
        RUN_WORKTREE_TEARDOWN, RUN_WORKTREES,
    },
    ui::{GlyphChoice, KEY, UI_GLYPHS, UI_MOUSE},
};

/// What is said about a setting.
#[derive(Debug)]
pub struct SettingSpec {
    /// Its name, as in `run.retries`; in capitals what the user chooses, as in `queries.NAME`.
    pub name: &'static str,
    /// What it does.
    pub text: &'static str,
    /// What holds without it, as it would be typed.
    pub default: Option<&'static str>,
    /// The variable of the environment that comes before the file.
    pub variable: Option<&'static str>,
    /// The option that comes before both.
    pub option: Option<&'static str>,
}

/// A setting whose value a verb can ask for.
#[derive(Debug)]
pub struct SettingKey<K> {
    /// What is said about it.
    pub about: SettingSpec,
    /// What it may hold.
    pub kind: K,
}

/// A setting of any kind.
pub trait AnySetting: Sync {
    /// What is said about it.
    fn about(&self) -> &SettingSpec;
    /// What may be stored, to stand behind "must be".
    fn allowed(&self) -> String;
    /// Whether this may be stored.
    fn takes(&self, stored: &SettingValue) -> bool;
    /// How what was typed is stored.
    fn store(&self, typed: &[String]) -> SettingValue;
    /// What is typed for it in a variable of the environment.
    fn typed(&self, variable: &str) -> Vec<String>;
    /// Whether it takes several words.
    fn is_many(&self) -> bool;
}

impl<K: SettingKind> AnySetting for SettingKey<K> {
    fn about(&self) -> &SettingSpec {
        &self.about
    }

    fn allowed(&self) -> String {
        self.kind.allowed()
    }

    fn takes(&self, stored: &SettingValue) -> bool {
        self.kind.read(stored).is_some()
    }

    fn store(&self, typed: &[String]) -> SettingValue {
        self.kind.store(typed)
    }

    fn typed(&self, variable: &str) -> Vec<String> {
        self.kind.typed(variable)
    }

    fn is_many(&self) -> bool {
        self.kind.is_many()
    }
}

/// All settings with a name of their own, in the order in which they are listed.
pub static KEYS: [&dyn AnySetting; 54] = [
    &TASKS_ROOTS,
    &TASKS_LIST,
    &TASKS_MIRROR,
    &TASKS_MIRROR_AS,
    &CLAIM_LEASE,
    &GATE_WAIT,
    &RUN_AGENT,
    &RUN_MAX_PARALLEL,
    &RUN_RETRIES,
    &RUN_TIMEOUT,
    &RUN_STALL_AFTER,
    &RUN_GRACE,
    &RUN_START_TIMEOUT,
    &RUN_UNCOMMITTED,
    &RUN_WORKTREES,
    &RUN_WORKTREE_COPY,
    &RUN_WORKTREE_LINK,
    &RUN_WORKTREE_SUBMODULES,
    &RUN_WORKTREE_SETUP,
    &RUN_WORKTREE_TEARDOWN,
    &RUN_WORKTREE_PORTS,
    &RUN_WORKTREE_KEEP,
    &RUN_SCHEDULE,
    &RUN_MAX_USD,
    &RUN_MAX_TOKENS,
    &RUN_RESUME,
    &RUN_QUOTA_RESERVE,
    &RUN_QUOTA_PARK,
    &RUN_INJECT,
    &RUN_OPEN,
    &LAND_CHECK,
    &LAND_TIMEOUT,
    &LAND_GIT_TIMEOUT,
    &LAND_HOW,
    &LAND_BATCH,
    &LAND_RETRIES,
    &LAND_REVIEW,
    &SESSION_KEEP_RESULTS,
    &BRIDGE_DIR,
    &BRIDGE_COMPAT,
    &BRIDGE_LIST,
    &AGENT_ENABLED,
    &AGENT_POLL,
    &NOTIFY_CHANNELS,
    &NOTIFY_COMMAND,
    &NOTIFY_KINDS,
    &NOTIFY_GRACE,
    &NOTIFY_BATCH,
    &NOTIFY_REMIND,
    &NOTIFY_QUIET,
    &NOTIFY_BODY,
    &NOTIFY_OSC,
    &UI_GLYPHS,
    &UI_MOUSE,
];

/// All settings of which there is one for each name that the user chooses. What stands in capitals
/// in their names is that choice.
pub static PATTERNS: [&dyn AnySetting; 6] = [
    &AGENT_ARGS,
    &AGENT_ENV,
    &AGENT_COMMAND,
    &AGENT_LIKE,
    &QUERY,
    &KEY,
];

/// `tasks.roots`
pub static TASKS_ROOTS: SettingKey<Dirs> = SettingKey {
    about: SettingSpec {
        name: "tasks.roots",
        text: "Directories whose subdirectories are lists too, such as those of an agent's own task tool; the first that has a list wins, and the home comes first.",
        default: None,
        variable: Some("FLAGPOST_TASKS_ROOTS"),
        option: None,
    },
    kind: Dirs,
};

/// `tasks.list`
pub static TASKS_LIST: SettingKey<ListName> = SettingKey {
    about: SettingSpec {
        name: "tasks.list",
        text: "The list where you stand in no repository; a repository has its own.",
        default: None,
        variable: Some("FLAGPOST_LIST"),
        option: Some("--list"),
    },
    kind: ListName,
};

/// `tasks.mirror`
pub static TASKS_MIRROR: SettingKey<Dir> = SettingKey {
    about: SettingSpec {
        name: "tasks.mirror",
        text: "Where each list of the home appears, such as the directory in which an agent's own task tool looks; what is there under its name stays.",
        default: None,
        variable: Some("FLAGPOST_TASKS_MIRROR"),
        option: None,
    },
    kind: Dir,
};

/// `tasks.mirror_as`
pub static TASKS_MIRROR_AS: SettingKey<OneOf<MirrorForm>> = SettingKey {
    about: SettingSpec {
        name: "tasks.mirror_as",
        text: "How lists appear there: link: a link to the list's directory, so that both sides write the same files; copy: a copy that is only to be read, for programs that skip links.",
        default: Some("link"),
        variable: Some("FLAGPOST_TASKS_MIRROR_AS"),
        option: None,
    },
    kind: OneOf(PhantomData),
};

/// `session.keep_results`
pub static SESSION_KEEP_RESULTS: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "session.keep_results",
        text: "Whether the reports of tasks that passed stay in a session that is archived; the others always do.",
        default: Some("true"),
        variable: Some("FLAGPOST_SESSION_KEEP_RESULTS"),
        option: None,
    },
    kind: Switch,
};

/// `claim.lease`
pub static CLAIM_LEASE: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "claim.lease",
        text: "How long a claim holds without renewal, in a run as well.",
        default: Some("15m"),
        variable: Some("FLAGPOST_CLAIM_LEASE"),
        option: Some("--lease"),
    },
    kind: Time {
        // A shorter one is over before anybody can work under it.
        least: SignedDuration::from_secs(1),
        // A longer one is none: whoever dies under it keeps the task.
        most: SignedDuration::from_hours(30 * 24),
    },
};

/// `gate.wait`
pub static GATE_WAIT: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "gate.wait",
        text: "How long an agent waits for the operator where its client may not do something by its own rules; 0s is not at all.",
        default: Some("30m"),
        variable: Some("FLAGPOST_GATE_WAIT"),
        option: None,
    },
    kind: Time {
        least: SignedDuration::ZERO,
        // The clients are told to wait an hour longer for their hook.
        most: SignedDuration::from_hours(24),
    },
};

/// `bridge.dir`
pub static BRIDGE_DIR: SettingKey<Dir> = SettingKey {
    about: SettingSpec {
        name: "bridge.dir",
        text: "Where the bridge's inbox and outbox are; without it, in the home.",
        default: None,
        variable: Some("FLAGPOST_BRIDGE_DIR"),
        option: None,
    },
    kind: Dir,
};

/// `bridge.compat`
pub static BRIDGE_COMPAT: SettingKey<Compat> = SettingKey {
    about: SettingSpec {
        name: "bridge.compat",
        text: "Inbox and outbox are where agents of this program expect them, ~/.tsk for tsk, unless bridge.dir says otherwise.",
        default: None,
        variable: Some("FLAGPOST_BRIDGE_COMPAT"),
        option: None,
    },
    kind: Compat,
};

/// `bridge.list`
pub static BRIDGE_LIST: SettingKey<ListName> = SettingKey {
    about: SettingSpec {
        name: "bridge.list",
        text: "The list that commands are about which name none; without it, that of where the bridge was started.",
        default: None,
        variable: Some("FLAGPOST_BRIDGE_LIST"),
        option: None,
    },
    kind: ListName,
};

/// `integrations.agent.enabled`
pub static AGENT_ENABLED: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "integrations.agent.enabled",
        text: "Whether the daemon runs the bridge, or a cockpit where none does.",
        default: Some("false"),
        variable: Some("FLAGPOST_AGENT_ENABLED"),
        option: None,
    },
    kind: Switch,
};

/// `integrations.agent.poll_interval`
pub static AGENT_POLL: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "integrations.agent.poll_interval",
        text: "How long from one look at the bridge's inbox to the next.",
        default: Some("2s"),
        variable: Some("FLAGPOST_AGENT_POLL_INTERVAL"),
        option: Some("--interval"),
    },
    kind: Time {
        least: SignedDuration::from_millis(10),
        most: SignedDuration::from_hours(1),
    },
};

/// `queries.NAME`, for any name that a list may have
pub static QUERY: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "queries.NAME",
        text: "A query on tasks, saved under a name of your choice.",
        default: None,
        variable: None,
        option: None,
    },
    kind: NonEmptyText,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_may_be_stored() {
        for key in KEYS.into_iter().chain(PATTERNS) {
            if let Some(default) = key.about().default {
                let stored = key.store(&key.typed(default));
                assert!(key.takes(&stored), "{}", key.about().name);
            }
        }
    }

    #[test]
    fn the_default_lease_is_the_rules_own() {
        let stored = CLAIM_LEASE.store(&["15m".to_owned()]);
        let lease = CLAIM_LEASE.kind.read(&stored);
        assert_eq!(lease, Some(flagpost_model::task::DEFAULT_LEASE));
    }

    #[test]
    fn no_name_and_no_variable_stands_twice() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.about().name).collect();
        names.extend(KEYS.iter().filter_map(|key| key.about().variable));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
