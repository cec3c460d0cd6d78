//! How long something took, as these files write it: `34s`, `2m 34s`, `1h 2m 3s`.
//!
//! Owns that one form. Fractions round to the second; a clock that jumped back gives `0s`.

use jiff::SignedDuration;

/// The duration in words.
pub fn render(duration: SignedDuration) -> String {
    let millis = duration.as_millis().max(0);
    let seconds = (millis + 500) / 1000;
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (h, m) {
        (0, 0) => format!("{s}s"),
        (0, _) => format!("{m}m {s}s"),
        _ => format!("{h}h {m}m {s}s"),
    }
}

/// The duration that the words name. Agents also write `~2m`, `2m34s` and `90.5s`.
pub(super) fn parse(text: &str) -> Option<SignedDuration> {
    let mut rest = text.trim().trim_start_matches('~').trim_start();
    let mut total = SignedDuration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let number: f64 = number.parse().ok()?;
        let unit_len = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_len);
        let seconds = match unit {
            "h" => 3600.0,
            "m" | "min" => 60.0,
            "s" | "sec" => 1.0,
            _ => return None,
        };
        let part = SignedDuration::try_from_secs_f64(number * seconds).ok()?;
        total = total.checked_add(part)?;
        rest = tail.trim_start();
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_they_are_written() {
        for (millis, text) in [
            (0, "0s"),
            (499, "0s"),
            (34_000, "34s"),
            (59_500, "1m 0s"),
            (154_000, "2m 34s"),
            (3_723_000, "1h 2m 3s"),
            (93_600_000, "26h 0m 0s"),
            (-5_000, "0s"),
        ] {
            assert_eq!(render(SignedDuration::from_millis(millis)), text);
            let read = parse(text).unwrap();
            assert_eq!(render(read), text);
        }
    }

    #[test]
    fn other_spellings_are_read_and_nonsense_is_not() {
        assert_eq!(parse("~2m34s"), Some(SignedDuration::from_secs(154)));
        assert_eq!(parse("1.5s"), Some(SignedDuration::from_millis(1500)));
        for bad in [
            "",
            "N/A",
            "5",
            "m",
            "5 parsecs",
            "..s",
            "1e9h",
            &"9".repeat(400),
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
