//! The agent programs that Flagpost knows: how each is started, read and resumed.
//!
//! Owns what differs from program to program. What an agent of any of them is to do, and what its end
//! means, is decided elsewhere.

pub mod acp;
pub(crate) mod backtrace;
pub mod check;
pub mod codex;
mod fact;
pub mod inject;
pub mod opencode_config;
pub mod preset;
mod reader;
mod render;
mod talk;
mod turn;

pub use fact::{Fact, Limit};
pub use flagpost_model::client::Client;
pub(crate) use reader::text::end as ending;
pub use reader::{
    ClientOutput, LAST_WORDS, OutputReader, codex_rollout_limits, codex_rollout_usage,
};
pub(crate) use render::unstyled;
pub use render::{Piece, PieceKind, Renderer};
pub use talk::{OperatorGate, TalkInput};
pub(crate) use turn::turn;
