//! `task_log.md`: a row per task that ended.
//!
//! ```text
//! # Task Execution Log
//!
//! | Task ID | Subject | Status | Attempts | Duration | Token Usage |
//! |---------|---------|--------|----------|----------|-------------|
//! | 1 | Implement auth middleware | PASS | 1/3 | 2m 34s | N/A |
//! ```
//!
//! Owns the table. The header is written once and each row appended by one write, so a crash
//! costs at most the row being written. A row is always one line: in cells, `|` is `\|`, a
//! backslash `\\`, and whatever could break a line or vanish at a cell's edge `\u{…}`. Any other
//! backslash stands for itself, since foreign rows hold paths.

use flagpost_model::session::{LogRow, Outcome};

use super::duration;

/// What the file begins with.
pub const HEADER: &str = "\
# Task Execution Log

| Task ID | Subject | Status | Attempts | Duration | Token Usage |
|---------|---------|--------|----------|----------|-------------|
";

/// The head of the table alone.
pub(super) const TABLE_HEAD: &str = HEADER.split_at("# Task Execution Log\n\n".len()).1;

const UNKNOWN: &str = "N/A";

/// What a log says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// The rows, in order.
    pub rows: Vec<LogRow>,
    /// Table lines that were not understood, as they stand.
    pub unread: Vec<String>,
}

/// The whole file.
pub fn render(rows: &[LogRow]) -> String {
    let rows: String = rows.iter().map(render_row).collect();
    format!("{HEADER}{rows}")
}

/// One line, with its end.
pub fn render_row(row: &LogRow) -> String {
    let duration = row.duration.map(duration::render);
    let tokens = row.tokens.map(with_commas);
    format!(
        "| {} | {} | {} | {}/{} | {} | {} |\n",
        row.id,
        escape(&row.subject),
        row.outcome,
        row.attempt,
        row.of,
        duration.as_deref().unwrap_or(UNKNOWN),
        tokens.as_deref().unwrap_or(UNKNOWN),
    )
}

/// What a file says.
pub fn parse(text: &str) -> Log {
    let mut log = Log::default();
    let lines = text.split('\n').map(str::trim);
    for line in lines.filter(|line| line.starts_with('|')) {
        let cells = cells(line);
        if is_frame(&cells) {
            continue;
        }
        match read_row(&cells) {
            Some(row) => log.rows.push(row),
            None => log.unread.push(line.to_owned()),
        }
    }
    log
}

fn read_row(cells: &[String]) -> Option<LogRow> {
    let [id, subject, status, attempts, rest @ ..] = cells else {
        return None;
    };
    let status = status.trim_matches(|c: char| !c.is_alphanumeric());
    let mut outcomes = Outcome::ALL.iter().copied();
    let (attempt, of) = match attempts.split_once('/') {
        Some((attempt, of)) => (attempt.trim().parse().ok()?, of.trim().parse().ok()?),
        None => {
            let only = attempts.trim().parse().ok()?;
            (only, only)
        }
    };
    Some(LogRow {
        id: id
            .trim_matches(['[', ']', '#', '*', ' '].as_slice())
            .parse()
            .ok()?,
        subject: unescape(subject),
        outcome: outcomes.find(|o| o.as_str().eq_ignore_ascii_case(status))?,
        attempt,
        of,
        duration: rest.first().and_then(|cell| duration::parse(cell)),
        tokens: rest.get(1).and_then(|cell| tokens(cell)),
    })
}

/// The header and the line below it, wherever they stand: agents repeat them.
fn is_frame(cells: &[String]) -> bool {
    let Some(first) = cells.first() else {
        return true;
    };
    first.eq_ignore_ascii_case("task id")
        || cells
            .iter()
            .all(|cell| cell.chars().all(|c| "-: ".contains(c)))
}

/// The cells, trimmed and still escaped; the line's own edges are none.
fn cells(line: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut chars = line.chars().skip(1);
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                cell.push(c);
                cell.extend(chars.next());
            }
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    let last = cell.trim();
    if !last.is_empty() {
        cells.push(last.to_owned());
    }
    cells
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let last = text.chars().count().saturating_sub(1);
    for (at, c) in text.chars().enumerate() {
        let at_edge = at == 0 || at == last;
        match c {
            '|' | '\\' => out.extend(['\\', c]),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}')
                || (at_edge && c.is_whitespace()) =>
            {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (c, tail) = escaped(after).unwrap_or(('\\', after));
        out.push(c);
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The character that stands after a backslash, and what follows it.
fn escaped(after: &str) -> Option<(char, &str)> {
    if let Some(code) = after.strip_prefix("u{") {
        let (code, tail) = code.split_once('}')?;
        let c = u32::from_str_radix(code, 16)
            .ok()
            .and_then(char::from_u32)?;
        return Some((c, tail));
    }
    let c = after.chars().next().filter(|c| matches!(c, '|' | '\\'))?;
    Some((c, &after[c.len_utf8()..]))
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn tokens(text: &str) -> Option<u64> {
    let number = text.trim_start_matches('~').split_whitespace().next()?;
    number.replace([',', '_'], "").parse().ok()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    fn row(id: u64, subject: &str) -> LogRow {
        LogRow {
            id: id.into(),
            subject: subject.to_owned(),
            outcome: Outcome::Pass,
            attempt: 1,
            of: 3,
            duration: Some(SignedDuration::from_secs(154)),
            tokens: None,
        }
    }

    #[test]
    fn the_seeds_sample_is_written_and_read() {
        let mut partial = row(2, "Add rate limiting");
        partial.outcome = Outcome::Partial;
        partial.attempt = 2;
        partial.tokens = Some(1_069_754);
        let rows = [row(1, "Implement auth middleware"), partial];
        let text = render(&rows);
        assert_eq!(
            text,
            "# Task Execution Log\n\n\
             | Task ID | Subject | Status | Attempts | Duration | Token Usage |\n\
             |---------|---------|--------|----------|----------|-------------|\n\
             | 1 | Implement auth middleware | PASS | 1/3 | 2m 34s | N/A |\n\
             | 2 | Add rate limiting | PARTIAL | 2/3 | 2m 34s | 1,069,754 |\n"
        );
        assert_eq!(parse(&text).rows, rows);
        assert_eq!(parse(&text.replace('\n', "\r\n")).rows, rows);
    }

    #[test]
    fn foreign_rows_give_what_they_hold() {
        let log = parse(
            "| #7 | Fix C:\\new\\temp | **Pass** | 1/3 | ~5m | 48,873 tokens |\n\
             | [8] | No usage | fail | 2 | n/a\n\
             |:---|---:|\n\
             | 9 | Skipped | SKIPPED | 0/3 | 0s | N/A |\n\
             | torn ro",
        );
        assert_eq!(log.rows.len(), 2);
        assert_eq!(log.rows[0].subject, "Fix C:\\new\\temp");
        assert_eq!(log.rows[0].tokens, Some(48_873));
        assert_eq!(log.rows[0].duration, Some(SignedDuration::from_mins(5)));
        assert_eq!((log.rows[1].attempt, log.rows[1].of), (2, 2));
        assert_eq!(log.rows[1].duration, None);
        assert_eq!(log.unread.len(), 2, "{:?}", log.unread);
    }

    proptest! {
        #[test]
        fn trap_02_punctuation_survives_every_line_format(
            subjects in proptest::collection::vec(
                prop_oneof![any::<String>(), "[|\\\\\r\n—\\]u{}0-9a \u{2028}\u{85}-]{0,12}"],
                0..6,
            ),
        ) {
            let rows: Vec<LogRow> = (1..).zip(&subjects).map(|(id, s)| row(id, s)).collect();
            let text = render(&rows);
            prop_assert_eq!(&parse(&text).rows, &rows);
            prop_assert_eq!(&parse(&text.replace('\n', "\r\n")).rows, &rows);
            // Other readers may end lines at any control character, or at these two.
            let breaks = |c: char| (c.is_control() && c != '\n') || "\u{2028}\u{2029}".contains(c);
            prop_assert!(!text.contains(breaks));
            // Another reader counts lines that begin like a row.
            let theirs = text.lines().skip(4).filter(|line| {
                line.strip_prefix("| ").is_some_and(|l| l.starts_with(|c: char| c.is_ascii_digit()))
            });
            prop_assert_eq!(theirs.count(), rows.len());
        }

        #[test]
        fn any_text_is_read(text in any::<String>()) {
            parse(&format!("|{text}"));
        }
    }
}
