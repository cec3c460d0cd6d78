//! The screen that an answer is printed on: its width, its colours, its clock.
//!
//! Owns the colour of every state and the words for a moment, the same for each verb. Colour is never
//! the only carrier of meaning.

use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;

use crate::{
    context::Context,
    fit,
    globals::{Color, TimeStyle},
    table,
    terminal::{NARROWEST, columns_of},
};

/// How wide the terminal is, whether to colour, and when it is read.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// None where nothing need fit: whatever reads a pipe wants all of it.
    width: Option<u16>,
    color: bool,
    /// None where moments are told by date and time.
    now: Option<Timestamp>,
}

impl Screen {
    /// The screen that stdout goes to.
    pub fn of(context: &Context) -> Self {
        let stdout = io::stdout();
        let color = is_coloured(context, stdout.is_terminal());
        let terminal = columns_of(&stdout);
        let width = context.settings.columns.filter(|it| *it >= NARROWEST);
        let width = width.or(terminal);
        let narrow = stdout.is_terminal().then_some(100);
        let is_relative = context.globals.time == TimeStyle::Relative;
        Self {
            width: width.or(narrow),
            color,
            now: is_relative.then(|| context.home.now()),
        }
    }

    /// How many columns a line may have; none where nothing need fit.
    pub fn columns(self) -> Option<usize> {
        self.width.map(usize::from)
    }

    /// Whether colours are wanted.
    pub fn is_coloured(self) -> bool {
        self.color
    }

    /// The page as it fits a terminal, broken between words. A program gets its lines whole.
    pub fn wrapped(self, page: &str) -> String {
        match self.columns() {
            Some(columns) if io::stdout().is_terminal() => fit::wrapped(page, columns),
            _ => page.to_owned(),
        }
    }

    /// No screen: a file, or a text within JSON.
    pub fn none() -> Self {
        Self {
            width: Some(100),
            color: false,
            now: None,
        }
    }

    /// Nothing need fit, and there are no colours.
    #[cfg(test)]
    pub fn unbounded() -> Self {
        Self {
            width: None,
            ..Self::none()
        }
    }

    /// The text in this style, where colours are wanted.
    pub fn paint(self, style: Style, text: &str) -> String {
        fit::paint(style, text, self.color)
    }

    /// A state by its word, coloured.
    pub fn state(self, word: &str) -> String {
        self.paint(style_of(word), word)
    }

    /// A moment: "2m ago", "in 13m", or its date and time.
    pub fn time(self, at: Timestamp) -> String {
        match self.now {
            Some(now) => relative(at, now),
            None => format!("{at:.0}"),
        }
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// Rows under a header, columns that nobody uses left out; the last column takes what is left
    /// of the screen.
    pub fn table(self, header: &[&str], rows: Vec<Vec<String>>) -> String {
        self.fitted(header, rows, &[])
    }

    /// The same, where the expendable columns make room for the last one, in this order.
    pub fn fitted(self, header: &[&str], rows: Vec<Vec<String>>, expendable: &[usize]) -> String {
        let header: Vec<String> = header.iter().map(|name| self.bold(name)).collect();
        table::table(self.width, &header, &rows, expendable)
    }
}

/// The style of what should worry a reader.
pub fn alarm() -> Style {
    AnsiColor::Red.on_default()
}

/// The style of a state, by its word: of a task, an outcome, a worker, a session, a brief, a message,
/// a finding.
pub fn style_of(state: &str) -> Style {
    match state {
        "failed" | "dead" | "misread" | "rejected" | "error" | "alone" | "frozen" => alarm(),
        "stuck" | "partial" | "silent" | "withheld" | "foreign" | "expired" | "lapsed"
        | "blocked" | "warning" | "behind" | "unknown" => AnsiColor::Yellow.on_default(),
        "completed" | "passed" | "live" | "ratified" | "edited" | "done" => {
            AnsiColor::Green.on_default()
        }
        "claimed" | "parked" | "waits" | "offered" | "held" | "new" => AnsiColor::Cyan.on_default(),
        "in_progress" => AnsiColor::Blue.on_default(),
        "cancelled" | "skipped" | "interrupted" | "retired" | "archived" | "withdrawn" | "read"
        | "acked" | "confirmed" => AnsiColor::BrightBlack.on_default(),
        _ => Style::new(),
    }
}

/// How far a moment is from now, in its largest unit.
fn relative(at: Timestamp, now: Timestamp) -> String {
    let millis = at.duration_since(now).as_millis();
    // Somebody else may have looked at the clock a little earlier.
    let seconds = (millis.unsigned_abs() + 500) / 1_000;
    let (count, unit) = match seconds {
        0 => return "now".to_owned(),
        1..60 => (seconds, "s"),
        60..3_570 => ((seconds + 30) / 60, "m"),
        3_570..171_000 => ((seconds + 1_800) / 3_600, "h"),
        _ => ((seconds + 43_200) / 86_400, "d"),
    };
    match millis > 0 {
        true => format!("in {count}{unit}"),
        false => format!("{count}{unit} ago"),
    }
}

/// Whether colours are wanted on what is a terminal or not.
pub fn is_coloured(context: &Context, is_terminal: bool) -> bool {
    match context.globals.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && !context.settings.no_color,
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_moment_is_told_in_its_largest_unit() {
        let now: Timestamp = "2026-05-13T14:25:00Z".parse().unwrap();
        let told = |seconds: f64| relative(now + SignedDuration::from_secs_f64(seconds), now);
        for (seconds, words) in [
            (0.0, "now"),
            (-0.4, "now"),
            (-12.0, "12s ago"),
            (899.99, "in 15m"),
            (-3_569.0, "59m ago"),
            (-3_600.0, "1h ago"),
            (7_199.0, "in 2h"),
            (-90_000.0, "25h ago"),
            (172_800.0, "in 2d"),
            (-31_536_000.0, "365d ago"),
        ] {
            assert_eq!(told(seconds), words);
        }
    }
}
