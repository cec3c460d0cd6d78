//! The cockpit on a real terminal, with real keys.
//!
//! Owns what only a terminal can show: that a key decides on what stands on the screen, that whoever has the
//! terminal next finds it as it was, and that nothing which agents write steers it.

mod decisions;
mod editor;
mod ends;
mod hostile;
mod keys;
mod output;
mod review;
mod screens;
mod shown_before;
mod smoke;
mod sources;
mod stage;
pub mod terminal;
