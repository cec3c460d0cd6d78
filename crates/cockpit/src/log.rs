//! What an agent prints, as it is shown.
//!
//! Owns the lines that are held, at most [`MOST`], and the way through them: following stops at the first
//! scroll upwards and goes on at the end. Filter, wrap and follow leave each other alone. Reading the file
//! is `tail`'s.

use std::collections::VecDeque;

use flagpost_model::TaskId;

/// More lines than these are not held.
pub const MOST: usize = 5_000;

/// What comes from the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// This is what is read: an attempt, in words, and whether there is more in front of it.
    Opened {
        /// The attempt.
        title: String,
        /// Whether the file has lines before the first that follow.
        has_earlier: bool,
    },
    /// These came at the end.
    Lines(Vec<String>),
    /// These come before the first.
    Earlier {
        /// The lines.
        lines: Vec<String>,
        /// Whether there are more.
        has_earlier: bool,
    },
    /// Nothing more comes, and why.
    Ended(String),
}

/// The lines of a log, and how far it is scrolled.
#[derive(Debug)]
pub struct LogView {
    /// Whose.
    pub task: TaskId,
    /// The attempt, in words.
    pub title: String,
    /// The lines, oldest first.
    pub lines: VecDeque<String>,
    /// The lines that the filter leaves.
    pub rows: Vec<usize>,
    /// The first row on the screen.
    pub top: usize,
    /// Whether the end stays in sight.
    pub follows: bool,
    /// Whether long lines are broken.
    pub wraps: bool,
    /// Which lines are shown.
    pub filter: String,
    /// Whether the file has earlier lines.
    pub has_earlier: bool,
    /// Earlier lines are being read.
    pub is_reading: bool,
    /// Why nothing more comes.
    pub ended: Option<String>,
}

impl LogView {
    /// Nothing read yet.
    pub fn new(task: TaskId) -> Self {
        Self {
            task,
            title: String::new(),
            lines: VecDeque::new(),
            rows: Vec::new(),
            top: 0,
            follows: true,
            wraps: false,
            filter: String::new(),
            has_earlier: false,
            is_reading: false,
            ended: None,
        }
    }

    /// Takes what came from the file; `height` rows are on the screen.
    pub fn take(&mut self, event: LogEvent, height: usize) {
        match event {
            LogEvent::Opened { title, has_earlier } => {
                (self.title, self.has_earlier) = (title, has_earlier);
                (self.ended, self.top) = (None, 0);
                self.lines.clear();
            }
            LogEvent::Lines(lines) => {
                self.lines.extend(lines);
                // Who looks at earlier lines keeps them; what is too much comes again from the file.
                if self.lines.len() > MOST && self.follows {
                    let gone = self.lines.len() - MOST;
                    self.lines.drain(..gone);
                    self.has_earlier = true;
                }
                self.lines.truncate(2 * MOST);
            }
            LogEvent::Earlier { lines, has_earlier } => {
                let before = self.rows.len();
                for line in lines.into_iter().rev() {
                    self.lines.push_front(line);
                }
                self.lines.truncate(MOST);
                self.has_earlier = has_earlier;
                self.is_reading = false;
                self.select();
                self.top += self.rows.len().saturating_sub(before);
            }
            LogEvent::Ended(why) => self.ended = Some(why),
        }
        self.select();
        self.stay(height);
    }

    /// Shows the lines that fit.
    pub fn filter_by(&mut self, filter: &str, height: usize) {
        self.filter = filter.to_owned();
        self.select();
        self.stay(height);
    }

    /// Scrolls; whether earlier lines are wanted.
    pub fn scroll(&mut self, by: isize, height: usize) -> bool {
        let last = self.rows.len().saturating_sub(height);
        self.top = self.top.saturating_add_signed(by).min(last);
        if by < 0 {
            self.follows = false;
        }
        if self.top == last && by > 0 {
            self.follows = true;
        }
        let wants = by < 0 && self.top == 0 && self.has_earlier && !self.is_reading;
        self.is_reading |= wants;
        wants
    }

    /// To the end, and on with it.
    pub fn follow(&mut self, follows: bool, height: usize) {
        self.follows = follows;
        self.stay(height);
    }

    /// Puts the next hit of the filter at the top, or the one before.
    pub fn hit(&mut self, forward: bool, height: usize) {
        let last = self.rows.len().saturating_sub(height);
        self.follows = false;
        self.top = match forward {
            true => (self.top + 1).min(last),
            false => self.top.saturating_sub(1),
        };
    }

    fn stay(&mut self, height: usize) {
        let last = self.rows.len().saturating_sub(height);
        self.top = if self.follows {
            last
        } else {
            self.top.min(last)
        };
    }

    fn select(&mut self) {
        let (word, is_inverse) = match self.filter.strip_prefix('!') {
            Some(rest) => (rest.to_lowercase(), true),
            None => (self.filter.to_lowercase(), false),
        };
        let fits =
            |line: &String| word.is_empty() || line.to_lowercase().contains(&word) != is_inverse;
        let lines = self.lines.iter().enumerate();
        let rows = lines.filter(|(_, line)| fits(line)).map(|(at, _)| at);
        self.rows = rows.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: usize) -> LogView {
        let mut log = LogView::new("12".parse().unwrap());
        let lines = (0..lines).map(|n| format!("line {n}")).collect();
        log.take(LogEvent::Lines(lines), 10);
        log
    }

    #[test]
    fn following_stops_at_a_scroll_upwards_and_goes_on_at_the_end() {
        let mut log = log(100);
        assert_eq!(log.top, 90);
        log.scroll(-1, 10);
        log.take(LogEvent::Lines(vec!["new".to_owned()]), 10);
        assert_eq!((log.top, log.follows), (89, false));
        log.scroll(50, 10);
        assert_eq!((log.top, log.follows), (91, true));
    }

    #[test]
    fn a_filter_leaves_follow_and_wrap_alone() {
        let mut log = log(100);
        log.wraps = true;
        log.filter_by("line 9", 10);
        assert_eq!(log.rows.len(), 11);
        assert!(log.follows && log.wraps);
        log.filter_by("!line", 10);
        assert_eq!(log.rows.len(), 0);
        log.filter_by("", 10);
        assert_eq!((log.rows.len(), log.top), (100, 90));
    }

    #[test]
    fn earlier_lines_come_in_front_and_what_is_shown_stays() {
        let mut log = log(20);
        log.has_earlier = true;
        assert!(log.scroll(-20, 10));
        assert!(!log.scroll(-1, 10), "it is being read already");
        let lines = (0..30).map(|n| format!("earlier {n}")).collect();
        let has_earlier = false;
        log.take(LogEvent::Earlier { lines, has_earlier }, 10);
        assert_eq!(log.lines[log.rows[log.top]], "line 0");
    }

    #[test]
    fn no_more_lines_are_held_than_these() {
        assert_eq!(log(3 * MOST).lines.len(), MOST);
    }
}
