//! The settings of a run.

use std::marker::PhantomData;

use flagpost_model::{
    hook::settings::Injection,
    plan::Schedule,
    task::{KeptWorktrees, Uncommitted, WorktreeUse},
};
use jiff::SignedDuration;

use super::{SettingKey, SettingSpec};
use crate::config::kind::{
    Count, Money, NonEmptyText, OneOf, Patterns, PortRange, Share, SomeOf, Switch, Time, TreePaths,
    Whole,
};

/// `run.agent`
pub static RUN_AGENT: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "run.agent",
        text: "What does a task: a preset, or any command line.",
        default: None,
        variable: Some("FLAGPOST_RUN_AGENT"),
        option: Some("--agent"),
    },
    kind: NonEmptyText,
};

/// `run.max_parallel`
pub static RUN_MAX_PARALLEL: SettingKey<Count> = SettingKey {
    about: SettingSpec {
        name: "run.max_parallel",
        text: "How many tasks run side by side.",
        default: Some("5"),
        variable: Some("FLAGPOST_RUN_MAX_PARALLEL"),
        option: Some("--max-parallel"),
    },
    kind: Count,
};

/// `run.retries`
pub static RUN_RETRIES: SettingKey<Count> = SettingKey {
    about: SettingSpec {
        name: "run.retries",
        text: "How often a task is tried in all.",
        default: Some("3"),
        variable: Some("FLAGPOST_RUN_RETRIES"),
        option: Some("--retries"),
    },
    kind: Count,
};

/// `run.timeout`
pub static RUN_TIMEOUT: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "run.timeout",
        text: "How long one try may take; without it, as long as it likes.",
        default: None,
        variable: Some("FLAGPOST_RUN_TIMEOUT"),
        option: Some("--timeout"),
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(30 * 24),
    },
};

/// `run.stall_after`
pub static RUN_STALL_AFTER: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "run.stall_after",
        text: "After how long without a message, output or a change of a file a task counts as stalled; 0s is never.",
        default: Some("10m"),
        variable: Some("FLAGPOST_RUN_STALL_AFTER"),
        option: Some("--stall-after"),
    },
    kind: Time {
        least: SignedDuration::ZERO,
        most: SignedDuration::from_hours(30 * 24),
    },
};

/// `run.grace`
pub static RUN_GRACE: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "run.grace",
        text: "How long a client may stay once its task is over and its last turn is closed; then it is ended.",
        default: Some("10s"),
        variable: Some("FLAGPOST_RUN_GRACE"),
        option: None,
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(24),
    },
};

/// `run.start_timeout`
pub static RUN_START_TIMEOUT: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "run.start_timeout",
        text: "How long a client may take to say that it is there; then its input is closed, in case it waits for the end of it.",
        default: Some("60s"),
        variable: Some("FLAGPOST_RUN_START_TIMEOUT"),
        option: None,
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(24),
    },
};

/// `run.uncommitted`
pub static RUN_UNCOMMITTED: SettingKey<OneOf<Uncommitted>> = SettingKey {
    about: SettingSpec {
        name: "run.uncommitted",
        text: "What becomes of files that an agent in a worktree left uncommitted, and that it was asked once to commit: commit: Flagpost commits them on the task's branch; ask: the task asks you; fail: the task is done again.",
        default: Some("commit"),
        variable: Some("FLAGPOST_RUN_UNCOMMITTED"),
        option: None,
    },
    kind: OneOf(PhantomData),
};

/// `run.worktree.keep`
pub static RUN_WORKTREE_KEEP: SettingKey<OneOf<KeptWorktrees>> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.keep",
        text: "Which worktrees stay at the end of a run: unlanded: those whose work is on no other branch; files: those with files in no commit, while a branch keeps the rest; all: each of them.",
        default: Some("unlanded"),
        variable: Some("FLAGPOST_RUN_WORKTREE_KEEP"),
        option: None,
    },
    kind: OneOf(PhantomData),
};

/// `run.worktrees`
pub static RUN_WORKTREES: SettingKey<OneOf<WorktreeUse>> = SettingKey {
    about: SettingSpec {
        name: "run.worktrees",
        text: "When each task gets a git worktree and a branch of its own: auto: where several agents may work side by side and the repository has a commit; always; or never.",
        default: Some("auto"),
        variable: Some("FLAGPOST_RUN_WORKTREES"),
        option: Some("--worktrees"),
    },
    kind: OneOf(PhantomData),
};

/// `run.worktree.copy`
pub static RUN_WORKTREE_COPY: SettingKey<Patterns> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.copy",
        text: "Files that git ignores and that a new worktree gets a copy of from the repository's working tree: patterns as in a .gitignore, such as .env*; the lines of a .worktreeinclude there count, too.",
        default: None,
        variable: Some("FLAGPOST_RUN_WORKTREE_COPY"),
        option: None,
    },
    kind: Patterns,
};

/// `run.worktree.link`
pub static RUN_WORKTREE_LINK: SettingKey<TreePaths> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.link",
        text: "Files and directories of the repository's working tree to which a new worktree gets a link, such as node_modules: all worktrees then share them.",
        default: None,
        variable: Some("FLAGPOST_RUN_WORKTREE_LINK"),
        option: None,
    },
    kind: TreePaths,
};

/// `run.worktree.submodules`
pub static RUN_WORKTREE_SUBMODULES: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.submodules",
        text: "Whether the submodules that are set up in the repository's working tree are set up in a new worktree, too.",
        default: Some("true"),
        variable: Some("FLAGPOST_RUN_WORKTREE_SUBMODULES"),
        option: None,
    },
    kind: Switch,
};

/// `run.worktree.setup`
pub static RUN_WORKTREE_SETUP: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.setup",
        text: "A shell command that is run once in each new worktree, before an agent starts there, such as npm ci. Where it fails, the task waits.",
        default: None,
        variable: Some("FLAGPOST_RUN_WORKTREE_SETUP"),
        option: None,
    },
    kind: NonEmptyText,
};

/// `run.worktree.teardown`
pub static RUN_WORKTREE_TEARDOWN: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.teardown",
        text: "A shell command that is run in a worktree before it is removed, such as docker compose down. Where it fails, the worktree stays.",
        default: None,
        variable: Some("FLAGPOST_RUN_WORKTREE_TEARDOWN"),
        option: None,
    },
    kind: NonEmptyText,
};

/// `run.worktree.ports`
pub static RUN_WORKTREE_PORTS: SettingKey<PortRange> = SettingKey {
    about: SettingSpec {
        name: "run.worktree.ports",
        text: "Ports for the servers of agents, such as 3000+10: ten for each agent at work, from 3000. $FLAGPOST_PORT is the first of them; the check of a landing has the first ten.",
        default: None,
        variable: Some("FLAGPOST_RUN_WORKTREE_PORTS"),
        option: None,
    },
    kind: PortRange,
};

/// `run.schedule`
pub static RUN_SCHEDULE: SettingKey<OneOf<Schedule>> = SettingKey {
    about: SettingSpec {
        name: "run.schedule",
        text: "waves: a task begins when the wave before has ended; eager: as soon as what it waits for is done.",
        default: Some("eager"),
        variable: Some("FLAGPOST_RUN_SCHEDULE"),
        option: Some("--schedule"),
    },
    kind: OneOf(PhantomData),
};

/// `run.max_usd`
pub static RUN_MAX_USD: SettingKey<Money> = SettingKey {
    about: SettingSpec {
        name: "run.max_usd",
        text: "When the agents of a run have cost so many dollars, as they tell it, nothing new starts.",
        default: None,
        variable: Some("FLAGPOST_RUN_MAX_USD"),
        option: Some("--max-usd"),
    },
    kind: Money,
};

/// `run.max_tokens`
pub static RUN_MAX_TOKENS: SettingKey<Whole> = SettingKey {
    about: SettingSpec {
        name: "run.max_tokens",
        text: "When the agents of a run have used so many tokens, input and output, nothing new starts.",
        default: None,
        variable: Some("FLAGPOST_RUN_MAX_TOKENS"),
        option: Some("--max-tokens"),
    },
    kind: Whole,
};

/// `run.resume_after_limit`
pub static RUN_RESUME: SettingKey<Switch> = SettingKey {
    about: SettingSpec {
        name: "run.resume_after_limit",
        text: "Whether a run waits for the reset of an account's usage limit and then goes on.",
        default: Some("false"),
        variable: Some("FLAGPOST_RUN_RESUME_AFTER_LIMIT"),
        option: None,
    },
    kind: Switch,
};

/// `run.quota.reserve`
pub static RUN_QUOTA_RESERVE: SettingKey<Share> = SettingKey {
    about: SettingSpec {
        name: "run.quota.reserve",
        text: "The share of an account's limit that is left alone: where less is free, nothing new starts on that account.",
        default: Some("5"),
        variable: Some("FLAGPOST_RUN_QUOTA_RESERVE"),
        option: None,
    },
    kind: Share,
};

/// `run.inject`
pub static RUN_INJECT: SettingKey<SomeOf<Injection>> = SettingKey {
    about: SettingSpec {
        name: "run.inject",
        text: "What is added to each agent's client for the run: hooks, which tell the agent of delivered briefs and refuse edits of files that others reserved; the tools of 'flagpost mcp'; and turns, by which a running Claude Code is told of briefs and answers between its steps. The user's own settings stay as they are.",
        default: Some("hooks mcp turns"),
        variable: Some("FLAGPOST_RUN_INJECT"),
        option: None,
    },
    kind: SomeOf(PhantomData),
};

/// `run.quota.park`
pub static RUN_QUOTA_PARK: SettingKey<Time> = SettingKey {
    about: SettingSpec {
        name: "run.quota.park",
        text: "How long an account is left alone whose client names no time of the limit's reset.",
        default: Some("1h"),
        variable: Some("FLAGPOST_RUN_QUOTA_PARK"),
        option: None,
    },
    kind: Time {
        least: SignedDuration::from_secs(1),
        most: SignedDuration::from_hours(30 * 24),
    },
};

/// `run.open`
pub static RUN_OPEN: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "run.open",
        text: "The program in which 'flagpost open' shows a worktree; a shell reads it. Without it, $VISUAL or $EDITOR.",
        default: None,
        variable: Some("FLAGPOST_RUN_OPEN"),
        option: None,
    },
    kind: NonEmptyText,
};
