//! When somebody at work counts as stalled: nothing was said, printed or changed for a while.
//!
//! Owns the rule, over what was seen from one look to the next. What was not looked at is no
//! evidence: the time counts from the first look that knew everything. A stall is a reason to look
//! and never one to end anybody.

use std::mem::replace;

use jiff::{SignedDuration, Timestamp};

/// What there is to see of somebody at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs {
    /// How many messages it sent about its task.
    pub words: u64,
    /// When it last renewed what it has, where it does so itself.
    pub renewed: Option<Timestamp>,
    /// How long its output is.
    pub printed: u64,
    /// The files where it works.
    pub files: FileActivity,
}

/// What is known of the files where somebody works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileActivity {
    /// Nobody looked: there were other signs.
    Unseen,
    /// They cannot be told, as where git keeps none.
    Unknown,
    /// As they were; another number is another state.
    Seen(u64),
}

/// A turn that is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallTransition {
    /// There was no sign since then.
    Stalled {
        /// The last look that saw something new.
        since: Timestamp,
    },
    /// There is a new sign after a stall.
    Resumed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StallState {
    Going,
    Stalled,
}

/// The signs of one attempt, from look to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    signs: Signs,
    since: Timestamp,
    course: StallState,
}

impl Activity {
    /// Somebody who begins now.
    pub fn new(now: Timestamp) -> Self {
        let signs = Signs {
            words: 0,
            renewed: None,
            printed: 0,
            files: FileActivity::Unseen,
        };
        Self {
            signs,
            since: now,
            course: StallState::Going,
        }
    }

    /// Whether the files have to be looked at: the other signs, which cost less, are as before.
    pub fn needs_files(&self, signs: &Signs) -> bool {
        let files = self.signs.files;
        Signs { files, ..*signs } == self.signs
    }

    /// Takes in what is to be seen now.
    pub fn look(
        &mut self,
        signs: Signs,
        now: Timestamp,
        after: SignedDuration,
    ) -> Option<StallTransition> {
        if signs != self.signs {
            let news = Self {
                signs,
                since: now,
                course: StallState::Going,
            };
            let before = replace(self, news);
            return (before.course == StallState::Stalled).then_some(StallTransition::Resumed);
        }
        if self.course == StallState::Stalled || now.duration_since(self.since) < after {
            return None;
        }
        self.course = StallState::Stalled;
        Some(StallTransition::Stalled { since: self.since })
    }

    /// It waits for a person's answer, and may show no sign.
    pub fn rest(&mut self, now: Timestamp) {
        self.since = now;
    }

    /// Since when it is stalled, if it is.
    pub fn stalled_since(&self) -> Option<Timestamp> {
        (self.course == StallState::Stalled).then_some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: SignedDuration = SignedDuration::from_secs(10);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// The turn of the last of these looks: second, words, printed, files.
    fn last(looks: &[(i64, u64, u64, FileActivity)]) -> Option<StallTransition> {
        let mut pulse = Activity::new(at(0));
        let mut turn = None;
        for (second, words, printed, files) in looks {
            let signs = Signs {
                words: *words,
                renewed: None,
                printed: *printed,
                files: *files,
            };
            turn = pulse.look(signs, at(*second), AFTER);
        }
        turn
    }

    #[test]
    fn only_a_whole_while_without_any_sign_is_a_stall() {
        use FileActivity::{Seen, Unknown, Unseen};
        let stalled = |since| Some(StallTransition::Stalled { since: at(since) });
        for (case, looks, expected) in [
            (
                "too early",
                &[(1, 0, 0, Seen(1)), (10, 0, 0, Seen(1))][..],
                None,
            ),
            (
                "no sign",
                &[(1, 0, 0, Seen(1)), (11, 0, 0, Seen(1))],
                stalled(1),
            ),
            ("a word", &[(1, 0, 0, Seen(1)), (11, 1, 0, Unseen)], None),
            ("output", &[(1, 0, 0, Seen(1)), (11, 0, 7, Unseen)], None),
            ("a file", &[(1, 0, 0, Seen(1)), (11, 0, 0, Seen(2))], None),
            ("files never seen before", &[(11, 0, 0, Seen(1))], None),
            (
                "no files to see",
                &[(1, 0, 0, Unknown), (11, 0, 0, Unknown)],
                stalled(1),
            ),
            (
                "told once",
                &[(1, 0, 0, Seen(1)), (11, 0, 0, Seen(1)), (30, 0, 0, Seen(1))],
                None,
            ),
            (
                "a word ends it",
                &[(1, 0, 0, Seen(1)), (11, 0, 0, Seen(1)), (30, 1, 0, Unseen)],
                Some(StallTransition::Resumed),
            ),
            (
                "a file ends it",
                &[(1, 0, 0, Seen(1)), (11, 0, 0, Seen(1)), (30, 0, 0, Seen(2))],
                Some(StallTransition::Resumed),
            ),
            (
                "and it may come again",
                &[
                    (1, 0, 0, Seen(1)),
                    (11, 0, 0, Seen(1)),
                    (30, 0, 0, Seen(2)),
                    (40, 0, 0, Seen(2)),
                ],
                stalled(30),
            ),
        ] {
            assert_eq!(last(looks), expected, "{case}");
        }
    }

    #[test]
    fn who_waits_for_an_answer_does_not_stall() {
        let mut pulse = Activity::new(at(0));
        let signs = pulse.signs;
        pulse.rest(at(100));
        assert_eq!(pulse.look(signs, at(100), AFTER), None);
        assert_eq!(pulse.stalled_since(), None);
        let turn = pulse.look(signs, at(110), AFTER);
        assert_eq!(turn, Some(StallTransition::Stalled { since: at(100) }));
        assert_eq!(pulse.stalled_since(), Some(at(100)));
    }

    #[test]
    fn files_are_looked_at_only_where_nothing_else_is_new() {
        let pulse = Activity::new(at(0));
        assert!(pulse.needs_files(&pulse.signs));
        let spoke = Signs {
            words: 1,
            ..pulse.signs
        };
        assert!(!pulse.needs_files(&spoke));
    }
}
