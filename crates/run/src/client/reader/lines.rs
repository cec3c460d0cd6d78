//! Whole lines out of bytes that come in any pieces.
//!
//! Owns the one buffer between two pieces. Invariant: it never holds more than a line of
//! [`LONGEST`] bytes; a longer line is passed over, however long it is, and the one after it is
//! read again.

/// The longest line that is looked at.
pub(crate) const LONGEST: usize = 1 << 20;

/// A buffer that grew beyond this is given back once its line is over.
const KEPT: usize = 64 << 10;

/// The beginning of a line whose end has not come yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// It is too long, and passed over up to its end.
    passing: bool,
}

impl Lines {
    /// Tells `line` each line that ends in these bytes, without its line break; none for one that is
    /// too long.
    pub fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(Option<&[u8]>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.begun.is_empty() && !self.passing {
                line(Some(head).filter(|head| head.len() <= LONGEST));
            } else {
                if !self.passing {
                    self.keep(head);
                }
                line((!std::mem::take(&mut self.passing)).then_some(&*self.begun));
                self.empty();
            }
            bytes = rest;
        }
        if !self.passing {
            self.keep(bytes);
        }
    }

    /// Tells the last line, where no line break followed it.
    pub fn finish(&mut self, mut line: impl FnMut(Option<&[u8]>)) {
        if std::mem::take(&mut self.passing) {
            line(None);
        } else if !self.begun.is_empty() {
            line(Some(&self.begun));
            self.empty();
        }
    }

    /// How much it can hold without growing.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.begun.capacity()
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() > LONGEST {
            self.empty();
            self.passing = true;
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn empty(&mut self) {
        if self.begun.capacity() > KEPT {
            self.begun = Vec::new();
        } else {
            self.begun.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        let mut see = |line: Option<&[u8]>| {
            let line = line.map(String::from_utf8_lossy);
            seen.push(line.map_or("(too long)".to_owned(), |it| it.into_owned()));
        };
        for piece in pieces {
            lines.feed(piece, &mut see);
        }
        lines.finish(&mut see);
        seen
    }

    #[test]
    fn a_line_is_whole_however_it_comes() {
        for pieces in [
            &[b"one\ntwo\n\nthree".as_slice()][..],
            &[b"on", b"e", b"\n", b"two\n\nth", b"ree"],
            &[b"one\ntwo", b"\n", b"\n", b"three"],
        ] {
            assert_eq!(lines(pieces), ["one", "two", "", "three"]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_itself_and_nothing_else() {
        let long = vec![b'x'; LONGEST + 1];
        let told = ["a", "(too long)", "b"];
        assert_eq!(lines(&[b"a\n", &long, b"\nb\n"]), told);
        assert_eq!(lines(&[b"a\nx", &long, &long, b"y\nb\n"]), told);
        let one = [b"a\n".as_slice(), &long, b"\nb\n"].concat();
        assert_eq!(lines(&[&one]), told);
        assert_eq!(lines(&[b"a\n", &long, b"no end"]), told[..2]);
        let fits = vec![b'x'; LONGEST];
        assert_eq!(lines(&[&fits[1..], b"x\n"])[0].len(), LONGEST);
    }

    #[test]
    fn memory_is_flat() {
        let mut kept = Lines::default();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..200 {
            kept.feed(&piece, |_| panic!("no line ended"));
            assert!(kept.capacity() <= 2 * LONGEST, "{}", kept.capacity());
        }
        let mut seen = 0;
        kept.feed(b"\nnext\n", |line| seen += line.map_or(100, <[u8]>::len));
        assert_eq!(seen, 104);
        assert!(kept.capacity() <= KEPT, "{}", kept.capacity());
    }
}
