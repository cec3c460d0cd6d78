//! What is told at once, in pieces.
//!
//! Owns the size of a piece. The state of many tasks is megabytes long: it is written once into pieces that
//! all to whom it is told share, and each is free when the last of them has it. No piece is so large that
//! its memory would stay with the process.

use std::io;

use axum::body::Bytes;

/// So long is a piece.
const PIECE: usize = 32 << 10;

/// A text that does not change any more.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pieces: Vec<Bytes>,
}

/// A text that is being written.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    whole: Text,
    last: Vec<u8>,
}

impl Text {
    /// The pieces in their order.
    pub(crate) fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// What this writes.
    pub(crate) fn written<E>(write: impl FnOnce(&mut Writing) -> Result<(), E>) -> Result<Self, E> {
        let mut writing = Writing::default();
        write(&mut writing)?;
        writing.close();
        Ok(writing.whole)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        let pieces = match text.is_empty() {
            true => Vec::new(),
            false => vec![text.into()],
        };
        Self { pieces }
    }
}

impl Writing {
    fn close(&mut self) {
        let piece = std::mem::take(&mut self.last);
        if !piece.is_empty() {
            self.whole.pieces.push(piece.into());
        }
    }
}

impl io::Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.last.capacity() == 0 {
            self.last.reserve_exact(PIECE);
        }
        let fits = bytes.len().min(PIECE - self.last.len());
        self.last.extend_from_slice(&bytes[..fits]);
        if self.last.len() == PIECE {
            self.close();
        }
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_pieces_are_the_text() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, PIECE * 3] {
            let whole: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let text = Text::written(|to| to.write_all(&whole)).unwrap();
            assert_eq!(text.pieces().concat(), whole);
            assert!(
                text.pieces()
                    .iter()
                    .all(|it| (1..=PIECE).contains(&it.len()))
            );
        }
    }
}
