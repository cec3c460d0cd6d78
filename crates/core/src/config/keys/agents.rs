//! The settings of one agent, under a name of the user's choice or a client's.

use std::marker::PhantomData;

use flagpost_model::client::Client;

use super::{About, Key};
use crate::config::kind::{AnyText, OneOf, Text, Words};

/// `run.agents.NAME.args`
pub static AGENT_ARGS: Key<Words> = Key {
    about: About {
        name: "run.agents.NAME.args",
        text: "Words that are added to the options of this agent.",
        default: None,
        variable: None,
        option: None,
    },
    kind: Words,
};

/// `run.agents.NAME.env.VARIABLE`
pub static AGENT_ENV: Key<AnyText> = Key {
    about: About {
        name: "run.agents.NAME.env.VARIABLE",
        text: "A variable in the environment of this agent.",
        default: None,
        variable: None,
        option: None,
    },
    kind: AnyText,
};

/// `run.agents.NAME.command`
pub static AGENT_COMMAND: Key<Text> = Key {
    about: About {
        name: "run.agents.NAME.command",
        text: "The command line of this agent; without it, that of the client of this name.",
        default: None,
        variable: None,
        option: None,
    },
    kind: Text,
};

/// `run.agents.NAME.like`
pub static AGENT_LIKE: Key<OneOf<Client>> = Key {
    about: About {
        name: "run.agents.NAME.like",
        text: "The client as which this agent is started, read and judged.",
        default: None,
        variable: None,
        option: None,
    },
    kind: OneOf(PhantomData),
};
