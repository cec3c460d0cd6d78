//! The chain of a history: each line carries, as `prev`, a short hash of the line before it.
//!
//! Owns the hash, and where a chain is broken: whoever changes a line, takes one out or puts one in
//! breaks it at the line after. It shows rot and careless hands; a forger who may write the file can
//! write the rest of it anew. Lines of before there was a chain carry nothing, and are in order as
//! long as none that carries something stands before them.

use flagpost_model::envelope::Hash;

/// So many hexadecimal digits of the SHA-256 are carried.
const DIGITS: usize = 16;

/// The short hash of a line, without its line break.
pub(super) fn print(line: &[u8]) -> String {
    let mut print = String::from(Hash::of(line));
    print.truncate(DIGITS);
    print
}

/// The last line that says anything, readable or not: a half one that a crash left is one.
pub(super) fn last(bytes: &[u8]) -> Option<&[u8]> {
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    lines.find(|line| !line.trim_ascii().is_empty())
}

/// A walk along a chain, from the history's first line on.
#[derive(Debug, Default)]
pub(super) struct Chain<'b> {
    before: Option<&'b [u8]>,
    is_begun: bool,
}

impl<'b> Chain<'b> {
    /// Whether the chain holds at the next line that says anything, which carries this.
    pub(super) fn holds(&mut self, line: &'b [u8], prev: Option<&str>) -> bool {
        let before = self.before.replace(line);
        match prev {
            Some(prev) => {
                self.is_begun = true;
                before.is_some_and(|before| print(before) == prev)
            }
            None => !self.is_begun,
        }
    }

    /// Passes one that cannot be read: the next one tells whether it was there.
    pub(super) fn pass(&mut self, line: &'b [u8]) {
        self.before = Some(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_beginning_of_what_sha256sum_prints() {
        assert_eq!(print(b"abc"), "ba7816bf8f01cfea");
    }

    #[test]
    fn the_last_line_is_the_last_that_says_anything() {
        assert_eq!(last(b""), None);
        assert_eq!(last(b"\n \n"), None);
        assert_eq!(last(b"one\ntwo\n\n"), Some(&b"two"[..]));
        assert_eq!(last(b"one\nhal"), Some(&b"hal"[..]));
    }

    #[test]
    fn a_chain_holds_where_each_line_carries_the_hash_of_the_one_before() {
        let (a, b) = (print(b"a"), print(b"b"));
        // A line, and what it carries.
        type Said<'s> = (&'s str, Option<&'s str>);
        let cases: &[(&[Said<'_>], &[bool])] = &[
            // Before there was a chain, and going on with one.
            (
                &[("a", None), ("b", None), ("c", Some(&b))],
                &[true, true, true],
            ),
            // The first of these says what stood before it.
            (&[("b", Some(&a)), ("c", Some(&b))], &[false, true]),
            // Changed, taken out, put in.
            (&[("x", None), ("b", Some(&a))], &[true, false]),
            (&[("a", None), ("c", Some(&b))], &[true, false]),
            (
                &[("a", None), ("b", Some(&a)), ("x", None)],
                &[true, true, false],
            ),
        ];
        for (lines, expected) in cases {
            let mut chain = Chain::default();
            let held: Vec<bool> = lines
                .iter()
                .map(|(line, prev)| chain.holds(line.as_bytes(), *prev))
                .collect();
            assert_eq!(held, *expected, "{lines:?}");
        }
    }
}
