//! The way out of a history whose numbers leaped to where none are left: the lines after the leap get
//! the numbers that they would have had.
//!
//! Owns the one case in which lines are rewritten: no line can be appended after the last number.
//! What was there is kept in quarantine first, and a line says what was done. Claims keep the tokens
//! that they have; a token is compared for being the same, so a great one does no harm.

use flagpost_disk::fsx::{self, Rank};
use flagpost_model::WorkerId;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{
    Fate, History, Kind, Line, Writer,
    chain::{self, Chain},
    last_change,
    scan::{HistoryScan, LEAP},
};
use crate::error::Result;

impl History<'_> {
    /// Gives the lines after a leap smaller numbers; false where there is none.
    pub(crate) fn renumber(&self, actor: &WorkerId, at: Timestamp) -> Result<bool> {
        let fs = self.home.fs();
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, fsx::DEFAULT_WAIT, at)?;
        let bytes = self.bytes()?;
        let Some(leap) = HistoryScan::of(&bytes).leap else {
            return Ok(false);
        };
        self.must_be_own()?;
        let (line, from, to) = (leap.line, leap.from, leap.to);
        let why = format!("its numbers leap from {from} to {to} at line {line}");
        fsx::store(fs, &self.path, &bytes, &why)?;
        let mut text = renumbered(&bytes);
        let mut survey = HistoryScan::of(&text);
        let mut writer = Writer {
            history: self,
            order: None,
            _lock: lock,
            at,
            last: survey.highest,
            prev: chain::last(&text).map(chain::print),
            voids: self.unsettled(last_change(&text).lines, Fate::CutShort)?,
        };
        let entry = survey.resumption(&text).detail("leap", to);
        text.extend(writer.lines(actor, vec![entry]));
        fsx::replace(fs, &self.path, &text)?;
        Ok(true)
    }
}

/// The same lines, each with the number that it would have had. The chain holds wherever it held.
fn renumbered(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let (mut chain, mut prev) = (Chain::default(), None);
    let (mut highest, mut leaps) = (0, Leaps::default());
    let said = bytes.split(|byte| *byte == b'\n');
    for line in said.filter(|line| !line.trim_ascii().is_empty()) {
        let map = Line::parse(line).and_then(|_| serde_json::from_slice(line).ok());
        let Some(mut map): Option<Map<String, Value>> = map else {
            chain.pass(line);
            prev = Some(put(&mut text, line));
            continue;
        };
        let held = chain.holds(line, map.get("prev").and_then(Value::as_str));
        let n = map.get("n").and_then(Value::as_u64).unwrap_or_default();
        leaps.pass(highest, n);
        highest = highest.max(n);
        leaps.lower(&mut map);
        if let (true, Some(said), Some(prev)) = (held, map.get_mut("prev"), prev) {
            *said = Value::String(prev);
        }
        prev = Some(put(&mut text, Value::Object(map).to_string().as_bytes()));
    }
    text
}

/// Adds the line, and answers with its hash.
fn put(text: &mut Vec<u8>, line: &[u8]) -> String {
    text.extend(line);
    text.push(b'\n');
    chain::print(line)
}

/// How much less each number from one on becomes; the last that applies counts.
#[derive(Debug, Default)]
struct Leaps(Vec<(u64, u64)>);

impl Leaps {
    /// Goes on from the greatest number so far to the next one.
    fn pass(&mut self, highest: u64, n: u64) {
        if n.saturating_sub(highest) > LEAP {
            self.0.push((n, n - self.lowered(highest) - 1));
        }
    }

    fn lowered(&self, n: u64) -> u64 {
        let mut latest = self.0.iter().rev();
        let less = latest.find(|(from, _)| *from <= n);
        n - less.map_or(0, |(_, less)| *less)
    }

    /// A line's own number, and those by which it names others of its history.
    fn lower(&self, line: &mut Map<String, Value>) {
        let is_void = line.get("kind").and_then(Value::as_str) == Some(Kind::Void.as_str());
        self.lower_one(line, "n");
        if let Some(Value::Object(detail)) = line.get_mut("detail") {
            self.lower_one(detail, "op");
            if is_void {
                self.lower_one(detail, "n");
            }
        }
    }

    fn lower_one(&self, map: &mut Map<String, Value>, key: &str) {
        if let Some(value) = map.get_mut(key)
            && let Some(n) = value.as_u64()
        {
            *value = self.lowered(n).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_after_a_leap_go_on_from_before_it() {
        let line = |n: u64, rest: &str| {
            format!("{{\"n\":{n},\"at\":\"2026-05-13T14:25:00Z\",\"repo\":\"r\",{rest}}}\n")
        };
        let far = 9_007_199_254_740_000;
        let text = line(1, r#""kind":"a""#)
            + &line(2, r#""kind":"b""#)
            + "garbage\n"
            + &line(far, r#""kind":"history.resumed","detail":{"after":2}"#)
            + &line(
                far + 1,
                &format!(r#""kind":"c","detail":{{"op":{}}}"#, far + 1),
            )
            + &line(
                far + 2,
                &format!(r#""kind":"history.void","detail":{{"n":{}}}"#, far + 1),
            )
            + &line(far * 2, r#""kind":"d""#);
        let expected = line(1, r#""kind":"a""#)
            + &line(2, r#""kind":"b""#)
            + "garbage\n"
            + &line(3, r#""kind":"history.resumed","detail":{"after":2}"#)
            + &line(4, r#""kind":"c","detail":{"op":4}"#)
            + &line(5, r#""kind":"history.void","detail":{"n":4}"#)
            + &line(6, r#""kind":"d""#);
        let lowered = String::from_utf8(renumbered(text.as_bytes())).unwrap();
        assert_eq!(lowered, expected);
        assert_eq!(HistoryScan::of(lowered.as_bytes()).leap, None);
    }

    #[test]
    fn the_chain_holds_where_it_held_and_nowhere_else() {
        let mut text = String::new();
        for (n, carried) in [
            (1, None),
            (2, None),
            (1_u64 << 40, None),
            (1 + (1 << 40), Some("x")),
        ] {
            let prev = chain::last(text.as_bytes()).map(chain::print);
            let prev = carried.map(str::to_owned).or(prev).unwrap_or_default();
            let head = format!("\"n\":{n},\"at\":\"2026-05-13T14:25:00Z\",\"repo\":\"r\"");
            text += &format!("{{{head},\"kind\":\"a\",\"prev\":\"{prev}\"}}\n");
        }
        let before = HistoryScan::of(text.as_bytes());
        let after = HistoryScan::of(&renumbered(text.as_bytes()));
        assert_eq!(
            (before.unchained, after.unchained),
            (vec![1, 4], vec![1, 4])
        );
        assert_eq!((before.leap.map(|it| it.line), after.leap), (Some(3), None));
    }
}
