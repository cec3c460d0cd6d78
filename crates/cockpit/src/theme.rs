//! Colours and signs.
//!
//! Owns what each means, the same on every screen and in the board: a colour never stands without its
//! sign or word. The user's own 16 colours, unless the terminal says that it has all of them; none with
//! `NO_COLOR`, where weight and reversal remain.

use ratatui::style::{Color, Modifier, Style};

use crate::snapshot::Lane;

/// Which colours a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorDepth {
    /// None are wanted.
    None,
    /// The user's own.
    Ansi,
    /// All.
    True,
}

/// Which signs a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// ◐ ○ ▲ ✓
    Unicode,
    /// Letters and punctuation.
    Ascii,
}

/// What a style says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A frame, an aside.
    Dim,
    /// A heading.
    Title,
    /// The chosen row.
    Selected,
    /// It can begin.
    Ready,
    /// Somebody holds it.
    Claimed,
    /// Somebody works on it.
    Running,
    /// A person is asked.
    NeedsYou,
    /// It is over and well.
    Done,
    /// It failed, or somebody tampered with it.
    Failed,
    /// It came new in a diff.
    Added,
    /// It went in a diff.
    Removed,
    /// What a search found.
    Hit,
}

/// Colours and signs of one terminal.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Its colours.
    pub colors: ColorDepth,
    /// Its signs.
    pub glyphs: Glyphs,
}

impl Theme {
    /// The style of a role.
    pub fn style(self, role: Role) -> Style {
        let weight = match role {
            Role::Dim => Style::new().add_modifier(Modifier::DIM),
            Role::Title => Style::new().add_modifier(Modifier::BOLD),
            Role::Selected | Role::Hit => Style::new().add_modifier(Modifier::REVERSED),
            Role::NeedsYou | Role::Failed => Style::new().add_modifier(Modifier::BOLD),
            Role::Ready
            | Role::Claimed
            | Role::Running
            | Role::Done
            | Role::Added
            | Role::Removed => Style::new(),
        };
        match self.color(role) {
            Some(color) => weight.fg(color),
            None => weight,
        }
    }

    fn color(self, role: Role) -> Option<Color> {
        let (ansi, rgb) = match role {
            Role::Dim | Role::Title | Role::Selected | Role::Ready => return None,
            Role::Claimed => (Color::Cyan, Color::Rgb(86, 182, 194)),
            Role::Running => (Color::Blue, Color::Rgb(97, 154, 239)),
            Role::NeedsYou | Role::Hit => (Color::Yellow, Color::Rgb(229, 178, 80)),
            Role::Done | Role::Added => (Color::Green, Color::Rgb(120, 190, 110)),
            Role::Failed | Role::Removed => (Color::Red, Color::Rgb(230, 100, 100)),
        };
        match self.colors {
            ColorDepth::None => None,
            ColorDepth::Ansi => Some(ansi),
            ColorDepth::True => Some(rgb),
        }
    }

    /// A lane's sign and colour.
    pub fn lane(self, lane: Lane) -> (&'static str, Role) {
        match lane {
            Lane::Ready => ("○", Role::Ready),
            Lane::Blocked => ("⌄", Role::Dim),
            Lane::Claimed => ("◔", Role::Claimed),
            Lane::Running => ("◐", Role::Running),
            Lane::NeedsYou => ("▲", Role::NeedsYou),
            Lane::Done => ("✓", Role::Done),
        }
    }
}

/// What stands for a sign where only ASCII is shown; none for other text.
pub fn ascii(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "●" => "*",
        "◌" => "o",
        "◐" => "@",
        "◔" => "~",
        "○" => "-",
        "▲" => "!",
        "✓" => "+",
        "✗" => "x",
        "⌄" => "v",
        "▌" => ">",
        "⚡" => "*",
        "█" => "#",
        "─" => "-",
        "·" => "|",
        "…" => "~",
        "→" => ">",
        "×" => "x",
        _ => return None,
    })
}
