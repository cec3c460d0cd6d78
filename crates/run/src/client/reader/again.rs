//! When a client says that its account is answered again.
//!
//! Owns the forms of that: "try again at Nov 23rd, 2026 2:13 AM", "at 2:13 AM" and "in 3 days 4 hours"
//! of Codex, "in 3600s" and "after 1h30m" of Gemini. A moment is local time. What is in none of these
//! forms is unknown: the caller waits its own time.

use jiff::{SignedDuration, Timestamp, civil, fmt::strtime, tz::TimeZone};

/// Words that a moment follows.
const AT: &[&str] = &["try again at ", "resets at "];

/// Words that a time span follows.
const IN: &[&str] = &["try again in ", "retry in ", "retry after ", "reset after "];

/// When it is, by these words.
pub(crate) fn again(words: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let after = |marks: &[&str]| {
        let found = marks.iter().find_map(|mark| find(words, mark));
        found.map(|from| &words[from..])
    };
    match after(AT) {
        Some(rest) => moment(rest, now, zone),
        None => span(after(IN)?).and_then(|span| now.checked_add(span).ok()),
    }
}

/// Where the mark ends in the words, whatever the case of its letters.
fn find(words: &str, mark: &str) -> Option<usize> {
    let (words, mark) = (words.as_bytes(), mark.as_bytes());
    let at = words
        .windows(mark.len())
        .position(|part| part.eq_ignore_ascii_case(mark))?;
    Some(at + mark.len())
}

/// "Nov 23rd, 2026 2:13 AM", or "2:13 AM" of the day that comes next.
fn moment(rest: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let upper = rest
        .get(..rest.len().min(40))
        .unwrap_or(rest)
        .to_uppercase();
    let end = [" AM", " PM"]
        .iter()
        .filter_map(|half| upper.find(half))
        .min()?;
    let text = upper.get(..end + " AM".len())?;
    if let Ok(time) = civil::Time::strptime("%I:%M %p", text) {
        let today = now.to_zoned(zone.clone()).date();
        let days = [Some(today), today.tomorrow().ok()];
        let mut moments = days.into_iter().flatten().filter_map(|day| {
            let at = zone
                .to_ambiguous_timestamp(day.to_datetime(time))
                .compatible();
            at.ok()
        });
        // Minutes are rounded down: the one that runs is not that of tomorrow.
        let minute = SignedDuration::from_mins(1);
        return moments.find(|at| now.duration_since(*at) < minute);
    }
    let plain = without_ordinals(text);
    let time = strtime::parse("%b %d, %Y %I:%M %p", &plain).ok()?;
    let at = time.to_datetime().ok()?;
    zone.to_ambiguous_timestamp(at).compatible().ok()
}

/// "23RD," as "23,".
fn without_ordinals(text: &str) -> String {
    let mut words = text.split(' ').map(|word| {
        let bare = word.strip_suffix(',').unwrap_or(word);
        let end = bare
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(bare.len());
        match (end, &bare[end..]) {
            (1.., "ST" | "ND" | "RD" | "TH") => format!("{}{}", &bare[..end], &word[bare.len()..]),
            _ => word.to_owned(),
        }
    });
    let first = words.next().unwrap_or_default();
    words.fold(first, |text, word| text + " " + &word)
}

/// "3 days 4 hours 5 minutes", "28.5s", "1h30m".
fn span(rest: &str) -> Option<SignedDuration> {
    let (mut total, mut any, mut rest) = (0.0, false, rest);
    loop {
        let trimmed = rest.trim_start_matches([' ', ',']);
        let trimmed = trimmed.strip_prefix("and ").unwrap_or(trimmed);
        let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, tail) = trimmed.split_at(digits.unwrap_or(trimmed.len()));
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, tail) = tail.split_at(letters.unwrap_or(tail.len()));
        let Some((number, unit)) = number.parse::<f64>().ok().zip(seconds(unit)) else {
            break;
        };
        (total, any, rest) = (total + number * unit, true, tail);
    }
    any.then(|| SignedDuration::try_from_secs_f64(total).ok())?
}

/// How many seconds a unit has.
fn seconds(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ms" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str, now: &str, zone: &TimeZone) -> Option<String> {
        let at = again(words, now.parse().unwrap(), zone)?;
        Some(at.to_string())
    }

    #[test]
    fn every_form_is_understood_in_local_time() {
        let east = TimeZone::fixed(jiff::tz::offset(3));
        let now = "2026-11-22T19:40:00Z";
        for (words, expected) in [
            (
                "try again at Nov 23rd, 2026 2:13 AM.",
                "2026-11-22T23:13:00Z",
            ),
            (
                "try again at Dec 1st, 2026 12:00 PM.",
                "2026-12-01T09:00:00Z",
            ),
            (
                "try again at Dec 2nd, 2026 12:05 AM.",
                "2026-12-01T21:05:00Z",
            ),
            (
                "Try again at Dec 11th, 2026 11:59 PM",
                "2026-12-11T20:59:00Z",
            ),
            // It is 22:40 there.
            ("or try again at 11:10 PM.", "2026-11-22T20:10:00Z"),
            ("or try again at 10:40 PM.", "2026-11-22T19:40:00Z"),
            ("or try again at 2:13 AM.", "2026-11-22T23:13:00Z"),
            ("try again in 3 days 4 hours.", "2026-11-25T23:40:00Z"),
            (
                "try again in 1 day, 2 hours and 5 minutes.",
                "2026-11-23T21:45:00Z",
            ),
            ("Please try again in 28.5s.", "2026-11-22T19:40:28.5Z"),
            ("Please retry in 3600s.", "2026-11-22T20:40:00Z"),
            ("Suggested retry after 600s.", "2026-11-22T19:50:00Z"),
            (
                "Your quota will reset after 1h30m5s.",
                "2026-11-22T21:10:05Z",
            ),
        ] {
            assert_eq!(
                told(words, now, &east).as_deref(),
                Some(expected),
                "{words}"
            );
        }
    }

    #[test]
    fn what_is_no_moment_is_unknown() {
        for words in [
            "",
            "try again later.",
            "try again at",
            "try again at noon",
            "try again at 25:00 PM",
            "try again at Smarch 3rd, 2026 2:13 AM",
            "try again at Nov 31st, 2026 2:13 AM",
            "try again in a while",
            "try again in 99999999999999999999999999 days",
            "try again in . s",
            "try again at 2:13 \u{130}M AMé",
            "try again in 3 fortnights",
        ] {
            assert_eq!(
                told(words, "2026-11-22T19:40:00Z", &TimeZone::UTC),
                None,
                "{words}"
            );
        }
    }
}
