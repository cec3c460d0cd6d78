//! The settings of one agent, under a name of the user's choice or a client's.

use std::marker::PhantomData;

use flagpost_model::client::Client;

use super::{SettingKey, SettingSpec};
use crate::config::kind::{AnyText, CommandLine, NonEmptyText, OneOf};

/// `run.agents.NAME.args`
pub static AGENT_ARGS: SettingKey<CommandLine> = SettingKey {
    about: SettingSpec {
        name: "run.agents.NAME.args",
        text: "Words that are added to the options of this agent.",
        default: None,
        variable: None,
        option: None,
    },
    kind: CommandLine,
};

/// `run.agents.NAME.env.VARIABLE`
pub static AGENT_ENV: SettingKey<AnyText> = SettingKey {
    about: SettingSpec {
        name: "run.agents.NAME.env.VARIABLE",
        text: "A variable in the environment of this agent.",
        default: None,
        variable: None,
        option: None,
    },
    kind: AnyText,
};

/// `run.agents.NAME.command`
pub static AGENT_COMMAND: SettingKey<NonEmptyText> = SettingKey {
    about: SettingSpec {
        name: "run.agents.NAME.command",
        text: "The command line of this agent; without it, that of the client of this name.",
        default: None,
        variable: None,
        option: None,
    },
    kind: NonEmptyText,
};

/// `run.agents.NAME.like`
pub static AGENT_LIKE: SettingKey<OneOf<Client>> = SettingKey {
    about: SettingSpec {
        name: "run.agents.NAME.like",
        text: "The client as which this agent is started, read and judged.",
        default: None,
        variable: None,
        option: None,
    },
    kind: OneOf(PhantomData),
};
