//! The line of a number, found without reading the history.
//!
//! Owns the search: numbers grow from line to line, so a few looks at the file find any of them, and
//! most are near its end. What a look read is kept for the next one, which mostly asks for a line
//! nearby. A number that is not found may be in a history with damaged lines: whoever needs to know
//! reads it all.

use std::sync::{Mutex, PoisonError};

use flagpost_disk::{self as disk, fsx};

use super::{History, Line};
use crate::error::Result;

/// So much is read at once; more where a line is longer.
const LOOK: u64 = 64 << 10;

/// So often is looked before the numbers are taken for disordered.
const LOOKS: usize = 48;

/// What of a history was read last.
#[derive(Debug, Default)]
pub(crate) struct Window(Mutex<HistoryChunk>);

/// A part of a history: the whole lines in it.
#[derive(Debug, Default)]
struct HistoryChunk {
    begin: u64,
    bytes: Vec<u8>,
}

/// A place in a history, and the number of the line that begins there or of the one before.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: u64,
    n: u64,
}

impl History<'_> {
    /// The line of this number; none where there is none, or its place cannot be found.
    pub(crate) fn line(&self, n: u64, window: &Window) -> Result<Option<Line>> {
        // Whoever panicked meanwhile left at worst a part of another place.
        let mut part = window.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let NumberLookup::Line(line) = part.find(n) {
            return Ok(Some(*line));
        }
        let fs = self.home.fs();
        let end = fsx::stat(fs, &self.path)?.map_or(0, |stat| stat.len);
        let (mut low, mut high) = (Mark { at: 0, n: 0 }, None::<Mark>);
        let (mut begin, mut look, mut gap) = (end.saturating_sub(LOOK), LOOK, None);
        for _ in 0..LOOKS {
            // By the byte before it a line that begins here is known to be whole.
            let from = begin.saturating_sub(1);
            let read = fs.read_part(&self.path, from, look.saturating_add(1).min(end - from));
            let bytes = read.map_err(disk::Error::io("read", &self.path))?;
            *part = HistoryChunk::whole_lines(from, bytes);
            let (first, last) = match part.find(n) {
                NumberLookup::Line(line) => return Ok(Some(*line)),
                NumberLookup::Between => return Ok(None),
                NumberLookup::Nothing if look >= end => return Ok(None),
                // One line is longer than that.
                NumberLookup::Nothing => {
                    look = look.saturating_mul(4);
                    begin = begin.min(end.saturating_sub(look));
                    continue;
                }
                NumberLookup::Outside { first, last } => (first, last),
            };
            if n > last {
                low = Mark {
                    at: part.begin + part.bytes.len() as u64,
                    n: last,
                };
            } else {
                high = Some(Mark {
                    at: part.begin,
                    n: first,
                });
            }
            let Some(high) = high else { return Ok(None) };
            if low.at >= high.at || n <= low.n {
                return Ok(None);
            }
            let is_narrower = gap.replace(high.at - low.at) != Some(high.at - low.at);
            (begin, look) = match is_narrower {
                true => (between(low, high, n), LOOK),
                // A long line lies there: all of what is left is read.
                false => (low.at, high.at - low.at),
            };
        }
        Ok(None)
    }
}

/// Where to look for a number between two marks: as far as it lies between theirs, and a little before
/// that. Where there is one look left between them, it is at the first.
fn between(low: Mark, high: Mark, n: u64) -> u64 {
    let bytes = high.at - low.at;
    if bytes <= LOOK {
        return low.at;
    }
    let (part, whole) = (u128::from(n - low.n), u128::from(high.n - low.n).max(1));
    let far = u64::try_from(u128::from(bytes) * part / whole).unwrap_or(bytes);
    // A look that ends where the marks do would find nothing new.
    let far = far.saturating_sub(LOOK / 2).min(bytes - LOOK);
    low.at + far
}

/// What a part says about a number.
enum NumberLookup {
    /// Its line.
    Line(Box<Line>),
    /// It would have to be here, and is not.
    Between,
    /// It is before the first or after the last line here.
    Outside { first: u64, last: u64 },
    /// There are no lines here.
    Nothing,
}

impl HistoryChunk {
    fn whole_lines(begin: u64, mut bytes: Vec<u8>) -> Self {
        let newline = |byte: &u8| *byte == b'\n';
        let end = bytes.iter().rposition(newline).map_or(0, |at| at + 1);
        bytes.truncate(end);
        let cut = match begin {
            0 => 0,
            _ => bytes.iter().position(newline).map_or(0, |at| at + 1),
        };
        bytes.drain(..cut);
        Self {
            begin: begin + cut as u64,
            bytes,
        }
    }

    fn find(&self, n: u64) -> NumberLookup {
        let lines = || {
            self.bytes
                .split(|byte| *byte == b'\n')
                .filter_map(|line| Some((number_of(line)?, line)))
        };
        let Some((first, _)) = lines().next() else {
            return NumberLookup::Nothing;
        };
        let backwards = self.bytes.rsplit(|byte| *byte == b'\n');
        let last = backwards.filter_map(number_of).next().unwrap_or(first);
        if n < first || n > last {
            return NumberLookup::Outside { first, last };
        }
        // Half a line that a power cut left may begin with the number of the next whole one.
        let mut of_number = lines().filter(|(number, _)| *number == n);
        match of_number.find_map(|(_, line)| Line::parse(line)) {
            Some(line) => NumberLookup::Line(Box::new(line)),
            None => NumberLookup::Between,
        }
    }
}

/// The number that a line begins with; our own lines do.
fn number_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"n\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use flagpost_model::RepoId;
    use jiff::Timestamp;

    use super::*;
    use crate::{
        Home,
        history::{Entry, Kind},
    };

    fn line(n: u64) -> Line {
        let length = usize::try_from(n % 7 * 200).unwrap();
        Line {
            n,
            at: Timestamp::UNIX_EPOCH,
            repo: "r1".parse().unwrap(),
            entry: Entry::new(Kind::TaskNoted).detail("text", "x".repeat(length)),
        }
    }

    fn find_all(numbers: &[u64], asked: impl Iterator<Item = u64>) {
        let whole = |n: &u64| format!("{}\n", line(*n).to_json());
        find_in(
            &numbers.iter().map(whole).collect::<String>(),
            numbers,
            asked,
        );
    }

    fn find_in(text: &str, numbers: &[u64], asked: impl Iterator<Item = u64>) {
        let scratch = flagpost_testkit::scratch::scratch();
        let home = Home::at(scratch.path().to_owned());
        let repo: RepoId = "r1".parse().unwrap();
        let history = History::of(&home, &repo);
        std::fs::create_dir_all(home.repository_dir(&repo)).unwrap();
        std::fs::write(&history.path, text).unwrap();
        let window = Window::default();
        for n in asked {
            let expected = numbers.contains(&n).then(|| line(n));
            assert_eq!(history.line(n, &window).unwrap(), expected, "{n}");
            let fresh = Window::default();
            assert_eq!(history.line(n, &fresh).unwrap(), expected, "{n} at once");
        }
    }

    #[test]
    fn each_line_is_found_by_its_number_and_none_that_is_not_there() {
        let numbers: Vec<u64> = (1..=2_000).collect();
        find_all(&numbers, (0..=2_001).step_by(13).chain([1, 2_000, 2_001]));
    }

    #[test]
    fn gaps_and_leaps_hide_no_line() {
        let low = 1..=700_u64;
        let high = (1_000_000..1_000_700).chain([1 << 50]);
        let numbers: Vec<u64> = low.chain(high).collect();
        let asked = [1, 350, 700, 701, 999_999, 1_000_000, 1_000_350, 1_000_699];
        find_all(
            &numbers,
            asked.into_iter().chain([1_000_700, 1 << 50, (1 << 50) + 1]),
        );
    }

    #[test]
    fn half_a_line_hides_no_whole_one_of_its_number() {
        let [before, torn, after] = [3, 4, 5].map(|n| line(n).to_json().to_string());
        let text = format!("{before}\n{}\n{torn}\n{after}\n", &torn[..20]);
        find_in(&text, &[3, 4, 5], [3, 4, 5, 6].into_iter());
    }

    #[test]
    fn lines_that_are_longer_than_a_look_hide_no_line() {
        let long = |n: u64| {
            let mut long = line(n);
            long.entry = long.entry.detail("text", "x".repeat(200_000));
            long
        };
        let of = |n: u64| {
            if n.is_multiple_of(3) {
                long(n)
            } else {
                line(n)
            }
        };
        let scratch = flagpost_testkit::scratch::scratch();
        let home = Home::at(scratch.path().to_owned());
        let repo: RepoId = "r1".parse().unwrap();
        let history = History::of(&home, &repo);
        std::fs::create_dir_all(home.repository_dir(&repo)).unwrap();
        let text: String = (1..=30).map(|n| format!("{}\n", of(n).to_json())).collect();
        std::fs::write(&history.path, text).unwrap();
        for n in 1..=30 {
            let found = history.line(n, &Window::default()).unwrap();
            assert_eq!(found, Some(of(n)), "{n}");
        }
        assert_eq!(history.line(31, &Window::default()).unwrap(), None);
    }

    #[test]
    fn an_empty_history_has_no_lines() {
        find_all(&[], [0, 1, u64::MAX].into_iter());
    }
}
