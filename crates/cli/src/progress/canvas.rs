//! The lower part of a terminal, drawn over and over.
//!
//! Owns the terminal while a run goes on: lines that stay are printed once and scroll away as any
//! output does; the frame below them is drawn in place. Invariant: between two drawings the cursor
//! stands at the beginning of the frame, so that whoever comes next (a drawing after the window
//! changed, an error, a panic, the shell) has nothing to step over: erasing from the cursor on takes
//! all of the frame away, however the terminal broke its lines anew. While the window changes there is
//! no frame: what a terminal breaks and pushes above its screen nobody can erase. The cursor is never
//! hidden: nothing is to be restored where the run is killed.

use std::io::{self, Write};

use super::{
    account::{ElapsedTime, RunProgress},
    frame::{self, View},
};

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

/// To the first column, and everything from there on is erased: the line by itself, since some terminals
/// keep a screen that is erased from its very first place among what scrolled away.
const ERASE: &str = "\r\u{1b}[K\u{1b}[C\u{1b}[J\r";
/// The rest of the line is erased.
const ERASE_LINE: &str = "\u{1b}[K";
/// What is too wide for a line is not shown, instead of going on below.
const CLIP: &str = "\u{1b}[?7l";
/// The opposite.
const WRAP: &str = "\u{1b}[?7h";

/// Something to draw on.
pub struct Canvas {
    out: Box<dyn Write + Send>,
    measure: Box<dyn Fn() -> Option<Size> + Send>,
    painted: bool,
    /// The frame as it stands there, and how large the terminal was.
    shown: Option<(Vec<String>, Size)>,
    /// How large the terminal was at the last look, where it has another size than the frame had.
    changing: Option<Size>,
}

impl Canvas {
    /// A canvas on this terminal, which is as large as `measure` says; none where it is somebody else's
    /// for now.
    pub fn new(
        out: Box<dyn Write + Send>,
        measure: Box<dyn Fn() -> Option<Size> + Send>,
        painted: bool,
    ) -> Self {
        Self {
            out,
            measure,
            painted,
            shown: None,
            changing: None,
        }
    }

    /// Draws the frame as it is now; where the window changes, once it is as it was at the last drawing.
    pub fn draw(&mut self, account: &RunProgress, moment: ElapsedTime) {
        let size = (self.measure)();
        if self.changing.is_some_and(|was| size == Some(was)) {
            self.changing = None;
        }
        self.add(account, moment, |_, _| Vec::new());
    }

    /// Prints lines that stay, made for so many columns and in colours or not, and draws the frame
    /// below them.
    pub fn add(
        &mut self,
        account: &RunProgress,
        moment: ElapsedTime,
        lines: impl FnOnce(usize, bool) -> Vec<String>,
    ) {
        let size = (self.measure)();
        // One less than there are: where a line ends in the last column, terminals differ.
        let columns = size.map_or(usize::MAX, |size| size.columns.saturating_sub(1));
        let stay = lines(columns, self.painted);
        let is_other = |(_, was): &(_, Size)| size.is_some_and(|size| size != *was);
        if self.changing.is_some() || self.shown.as_ref().is_some_and(is_other) {
            self.changing = size;
        }
        let size = size.filter(|_| self.changing.is_none());
        let frame = size.map(|size| {
            let view = View {
                columns,
                rows: size.rows,
                painted: self.painted,
                moment,
            };
            (frame::lines(account, view), size)
        });
        if stay.is_empty() && frame == self.shown {
            return;
        }
        let mut text = match frame.is_none() && self.shown.is_some() {
            // A line that was broken would go on being one with the next.
            true => ERASE.to_owned(),
            false => "\r".to_owned(),
        };
        for line in stay {
            text += &format!("{line}{ERASE_LINE}\r\n");
        }
        if let Some((lines, _)) = &frame {
            text += &drawn(lines);
        }
        self.shown = frame;
        self.put(&text);
    }

    /// Rings once.
    pub fn ring(&mut self) {
        self.put("\u{7}");
    }

    /// Takes the frame away.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            self.put(ERASE);
        }
    }

    /// In one piece, so that nobody sees half a drawing. Nobody can be told if that fails.
    fn put(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        let _: io::Result<()> = written.and_then(|()| self.out.flush());
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A frame from the cursor on, which is then where it was.
fn drawn(lines: &[String]) -> String {
    let each: Vec<String> = lines
        .iter()
        .map(|line| format!("{line}{ERASE_LINE}"))
        .collect();
    let below = lines.len().saturating_sub(1);
    let back = if below > 0 {
        format!("\u{1b}[{below}A")
    } else {
        String::new()
    };
    format!("{CLIP}{}\u{1b}[J{WRAP}{back}\r", each.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use super::*;

    /// What was written, piece by piece.
    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<String>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.0.lock().unwrap().push(text);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Paper {
        fn pieces(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }

        fn canvas(&self, size: Option<Size>) -> Canvas {
            Canvas::new(Box::new(self.clone()), Box::new(move || size), false)
        }
    }

    const SIZE: Option<Size> = Some(Size {
        columns: 41,
        rows: 12,
    });

    fn second(seconds: u64) -> ElapsedTime {
        ElapsedTime {
            elapsed: Duration::from_secs(seconds),
            now: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_cursor_is_left_where_the_frame_begins() {
        let paper = Paper::default();
        let mut canvas = paper.canvas(SIZE);
        canvas.add(&RunProgress::default(), second(7), |columns, _| {
            vec![format!("{columns} columns")]
        });
        let expected = "\r40 columns\u{1b}[K\r\n\
            \u{1b}[?7l\u{1b}[K\r\n[             ] 0 of 0 passed  7s\u{1b}[K\
            \u{1b}[J\u{1b}[?7h\u{1b}[1A\r";
        assert_eq!(paper.pieces(), [expected]);
    }

    #[test]
    fn nothing_is_drawn_where_nothing_changed() {
        let paper = Paper::default();
        let mut canvas = paper.canvas(SIZE);
        canvas.draw(&RunProgress::default(), second(7));
        canvas.draw(&RunProgress::default(), second(7));
        assert_eq!(paper.pieces().len(), 1);
        canvas.draw(&RunProgress::default(), second(8));
        assert_eq!(paper.pieces().len(), 2);
    }

    /// Each change would have the terminal break the lines of a frame anew, and push some out of reach.
    #[test]
    fn there_is_no_frame_while_the_window_changes() {
        let paper = Paper::default();
        let size = Arc::new(Mutex::new(SIZE));
        let measure = {
            let size = size.clone();
            Box::new(move || *size.lock().unwrap())
        };
        let mut canvas = Canvas::new(Box::new(paper.clone()), measure, false);
        let draw = |canvas: &mut Canvas, at| {
            canvas.draw(&RunProgress::default(), second(at));
            let pieces = paper.pieces();
            (
                pieces.len(),
                pieces.last().unwrap().contains("0 of 0 passed"),
            )
        };
        let resize = |columns| {
            *size.lock().unwrap() = Some(Size { columns, rows: 12 });
        };
        assert_eq!(draw(&mut canvas, 1), (1, true));
        resize(40);
        assert_eq!(draw(&mut canvas, 2), (2, false));
        assert_eq!(paper.pieces()[1], ERASE);
        resize(39);
        assert_eq!(draw(&mut canvas, 3), (2, false), "it goes on changing");
        canvas.add(&RunProgress::default(), second(3), |columns, _| {
            vec![format!("{columns} columns")]
        });
        assert_eq!(
            paper.pieces()[2],
            "\r38 columns\u{1b}[K\r\n",
            "what stays is told"
        );
        assert_eq!(draw(&mut canvas, 4), (4, true));
        assert_eq!(draw(&mut canvas, 5), (5, true));
    }

    #[test]
    fn nothing_is_left_also_after_a_panic() {
        let paper = Paper::default();
        let mut canvas = paper.canvas(SIZE);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            canvas.draw(&RunProgress::default(), second(7));
            panic!("as it were");
        }));
        assert!(panicked.is_err());
        let pieces = paper.pieces();
        assert_eq!((pieces.len(), pieces[1].as_str()), (2, ERASE));
    }

    #[test]
    fn a_terminal_that_others_have_gets_only_what_stays() {
        let paper = Paper::default();
        let mut canvas = paper.canvas(None);
        canvas.draw(&RunProgress::default(), second(7));
        canvas.add(&RunProgress::default(), second(7), |_, _| {
            vec!["passed".to_owned()]
        });
        canvas.clear();
        assert_eq!(paper.pieces(), ["\rpassed\u{1b}[K\r\n"]);
    }
}
