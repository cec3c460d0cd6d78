//! How a terminal is told.
//!
//! Owns the bytes of a notification in each terminal's own language, and the choice among them by what
//! the terminal calls itself. Everything in a text that could steer a terminal is replaced. A terminal
//! that is not known gets the bell.

use super::one_line;
use crate::names::names;

names! {
    /// The language in which a terminal is told.
    Signal {
        /// By what the terminal calls itself.
        Auto = "auto",
        /// The bell, BEL.
        Bell = "bell",
        /// OSC 9: iTerm2, WezTerm, ConEmu.
        Osc9 = "9",
        /// OSC 777: urxvt, foot, Ghostty.
        Osc777 = "777",
        /// OSC 99: kitty.
        Osc99 = "99",
    }
}

/// What the environment says about the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalNames {
    /// `TERM`.
    pub term: Option<String>,
    /// `TERM_PROGRAM`.
    pub program: Option<String>,
    /// `TMUX` is set: between us and the terminal is tmux.
    pub tmux: bool,
}

/// So long a text is shown.
const LONGEST: usize = 200;

/// The bytes that tell a terminal. Within tmux the terminal beyond is not known, so `auto` is the bell;
/// another language goes through tmux, where its `allow-passthrough` is on, and the bell with it.
pub fn signal(wanted: Signal, terminal: &TerminalNames, text: &str) -> Vec<u8> {
    let chosen = match wanted {
        Signal::Auto if terminal.tmux => Signal::Bell,
        Signal::Auto => known(terminal),
        chosen => chosen,
    };
    let Some(sequence) = sequence(chosen, text) else {
        return b"\x07".to_vec();
    };
    match terminal.tmux {
        true => format!(
            "\x1bPtmux;{}\x1b\\\x07",
            sequence.replace('\x1b', "\x1b\x1b")
        ),
        false => sequence,
    }
    .into_bytes()
}

/// The language of a terminal that says its name.
fn known(terminal: &TerminalNames) -> Signal {
    let term = terminal.term.as_deref().unwrap_or_default();
    match terminal.program.as_deref().unwrap_or_default() {
        "iTerm.app" | "WezTerm" => return Signal::Osc9,
        "ghostty" => return Signal::Osc777,
        _ => {}
    }
    match term {
        "xterm-kitty" => Signal::Osc99,
        "xterm-ghostty" => Signal::Osc777,
        "wezterm" => Signal::Osc9,
        _ if term.starts_with("foot") || term.starts_with("rxvt-unicode") => Signal::Osc777,
        _ => Signal::Bell,
    }
}

/// The sequence of a language; none where it is the bell. Some terminals take a number at the beginning
/// of OSC 9 for another order, and a semicolon in OSC 777 for the end of the title.
fn sequence(signal: Signal, text: &str) -> Option<String> {
    let text = one_line(text, LONGEST);
    match signal {
        Signal::Auto | Signal::Bell => None,
        Signal::Osc9 => Some(format!("\x1b]9;Flagpost: {text}\x1b\\")),
        Signal::Osc777 => {
            let text = text.replace(';', ",");
            Some(format!("\x1b]777;notify;Flagpost;{text}\x1b\\"))
        }
        Signal::Osc99 => Some(format!("\x1b]99;;Flagpost: {text}\x1b\\")),
    }
}
