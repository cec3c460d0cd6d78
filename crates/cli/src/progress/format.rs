//! How a run's small things are told: a foreign text on one line, a try, a time, tokens, a price.
//!
//! Owns that what an agent wrote can neither steer the terminal nor pretend to be a line of ours.
//! Pure.

use std::time::Duration;

use flagpost_model::session::{Attempt, AttemptRecord};

use crate::terminal;

/// More of a foreign text than this is on no line.
const LONGEST: usize = 4_000;

/// A foreign text as one harmless line.
pub fn one_line(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map(|(end, _)| end);
    let text = terminal::line(&text[..end.unwrap_or(text.len())]);
    terminal::clean(text.trim(), false)
}

/// A text on one line: its beginning, and its end, where the last thing an agent printed stands, unless
/// the beginning says that already.
pub fn brief(text: &str) -> String {
    let mut lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    let first = one_line(lines.next().unwrap_or_default());
    match lines.next_back().map(one_line) {
        Some(last) if !first.ends_with(&last) => format!("{first} … {last}"),
        _ => first,
    }
}

/// The first line of a text that says something.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    one_line(lines.next().unwrap_or_default())
}

/// An attempt.
pub fn a_try(attempt: Attempt) -> String {
    format!("try {} of {}", attempt.number, attempt.of)
}

/// How long something lasts, in its two largest units.
pub fn lasting(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m {:02}s", seconds % 60),
        3_600..86_400 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {:02}h", hours % 24),
    }
}

/// How many tokens, as far as anybody cares.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} tokens"),
        1_000..100_000 => format!("{}.{}k tokens", count / 1_000, count % 1_000 / 100),
        100_000..1_000_000 => format!("{}k tokens", count / 1_000),
        _ => format!(
            "{}.{}M tokens",
            count / 1_000_000,
            count % 1_000_000 / 100_000
        ),
    }
}

/// A price in dollars; one of less than a cent is not told as nothing.
pub fn dollars(price: f64) -> String {
    match price {
        _ if price > 0.0 && price < 0.01 => "less than $0.01".to_owned(),
        _ => format!("${price:.2}"),
    }
}

/// The actions that a client refused in an attempt, a line each.
pub fn denied(record: Option<&AttemptRecord>) -> Vec<String> {
    let denied = record.iter().flat_map(|record| &record.denied);
    denied
        .map(|it| one_line(&format!("{} {}", it.tool, it.what)))
        .collect()
}

/// The actions that a client refused, so many of them by name.
pub fn refused(actions: &[String], named: usize) -> String {
    let names: Vec<&str> = actions.iter().take(named).map(String::as_str).collect();
    match actions.len() - names.len() {
        0 => names.join("; "),
        more => format!("{}; and {more} more", names.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units() {
        for (seconds, told) in [
            (0, "0s"),
            (59, "59s"),
            (62, "1m 02s"),
            (7_800, "2h 10m"),
            (90_000, "1d 01h"),
        ] {
            assert_eq!(lasting(Duration::from_secs(seconds)), told);
        }
    }

    #[test]
    fn numbers_are_told_shortly() {
        assert_eq!(
            [999, 12_345, 166_000, 3_450_000].map(tokens),
            ["999 tokens", "12.3k tokens", "166k tokens", "3.4M tokens"]
        );
        assert_eq!(
            [0.0, 0.004, 3.4].map(dollars),
            ["$0.00", "less than $0.01", "$3.40"]
        );
    }

    #[test]
    fn what_an_agent_wrote_is_one_harmless_line() {
        assert_eq!(one_line(" a\nb\u{1b}[2J "), "a b␛[2J");
        assert_eq!(brief("\n one\n\ntwo\nthree \n"), "one … three");
        assert_eq!(
            brief("code 1: Error: no\n\nIts end:\nError: no"),
            "code 1: Error: no"
        );
        assert_eq!(first_line("\n\n boom\nat line 3"), "boom");
        assert!(one_line(&"x".repeat(1 << 20)).len() <= LONGEST);
    }
}
