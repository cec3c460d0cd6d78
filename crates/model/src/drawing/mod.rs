//! Drawings: a plan or a session as text that other programs show.
//!
//! Owns how tasks look: one shape and one colour for each state, the same in every format, and no
//! meaning in colour alone. Pure text from plain data, so every face can have the same drawing.
//! Whatever foreign writers put into a subject, a drawing stays well-formed and harmless.

mod dot;
mod layers;
mod mermaid;
mod picture;
mod svg;
mod text;
mod timeline;

#[cfg(test)]
mod tests;

pub use dot::dot;
pub use layers::{HEIGHT, WIDTH};
pub use mermaid::mermaid;
pub use picture::{Edge, EdgeStyle, Picture};
pub use svg::{Placed, place, svg};
pub use text::steers;
pub use timeline::timeline;

use crate::task::StateName;

/// What every drawing says of itself at its beginning, so that it is known again.
pub const MARK: &str = "drawn by flagpost";

/// The sign of a state, where there is room for one character only.
pub fn sign(state: StateName) -> char {
    match state {
        StateName::Pending => '○',
        StateName::Claimed => '◔',
        StateName::InProgress => '◑',
        StateName::Completed => '●',
        StateName::Failed => '✗',
        StateName::Stuck => '!',
        StateName::Cancelled => '–',
    }
}

/// A state in words.
fn word(state: StateName) -> &'static str {
    match state {
        StateName::InProgress => "in progress",
        other => other.as_str(),
    }
}
