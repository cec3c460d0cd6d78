//! The options that every command takes.
//!
//! Owns them and their help; what each means on this machine is for [`crate::context`].

use clap::ValueEnum;

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Answer in JSON: one object, or one per line of a stream
    #[arg(long, global = true)]
    pub json: bool,
    /// Print ids only
    #[arg(long, short, global = true, conflicts_with = "json")]
    pub quiet: bool,
    /// Act as [default: $FLAGPOST_WORKER, else your login name]
    #[arg(long = "as", alias = "agent-id", value_name = "ID", global = true)]
    pub actor: Option<String>,
    /// The list [default: $FLAGPOST_LIST, else the repository's]
    #[arg(long, value_name = "NAME", global = true)]
    pub list: Option<String>,
    /// Colour: auto, always or never; auto heeds NO_COLOR
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", global = true, hide_possible_values = true, hide_default_value = true)]
    pub color: Color,
    /// Times: relative, or iso for date and time
    #[arg(long, value_enum, default_value_t = TimeStyle::Relative, value_name = "STYLE", global = true, hide_possible_values = true, hide_default_value = true)]
    pub time: TimeStyle,
    /// Show the chain of causes behind an error
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How moments are told to people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum TimeStyle {
    /// As seen from now: 2m ago, in 13m
    #[default]
    Relative,
    /// Date and time: 2026-12-01T09:00:00Z
    Iso,
}
