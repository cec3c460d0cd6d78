//! The formats that Flagpost shares with other programs.
//!
//! Each dialect translates between one tree of files and the model. A dialect never imports
//! another and never decides; what it does not understand it keeps.

pub mod session;
