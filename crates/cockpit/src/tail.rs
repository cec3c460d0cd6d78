//! Reading what an agent prints, as it grows.
//!
//! Owns the file's end and its beginning: the last lines first, those in front when somebody scrolls there,
//! new ones as they come. It reads from a thread of its own, which ends when nobody listens or another log
//! is opened. How the lines are shown is [`crate::log`]'s.

use std::{
    io::{self, Read as _, SeekFrom},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use flagpost_core::{
    Result, describe,
    sessions::{Outlook, Output},
};
use flagpost_model::TaskId;

use crate::{
    event::Input,
    log::{LogEvent, MOST},
    snapshot::Place,
    text::LONGEST_LOG_LINE,
};

/// How much is read at once, from the end or from the front.
const PART: u64 = 1 << 20;
/// How often the file is looked at while it grows.
const LOOK: Duration = Duration::from_millis(200);

/// What the one who reads is asked.
#[derive(Debug)]
pub enum LogRequest {
    /// The lines in front of the first.
    Earlier,
}

/// Begins to read what a task's agent prints; dropped, the answer ends it.
///
/// In this session, where one is named, else in the newest that has some of it.
pub fn start(
    place: Arc<Place>,
    (task, session): (TaskId, Option<String>),
    send: Sender<Input>,
) -> Sender<LogRequest> {
    let (ask, asked) = mpsc::channel();
    thread::spawn(move || {
        let tell = |event| send.send(Input::Log(task.clone(), event)).is_ok();
        if let Err(error) = read(&place, (&task, session.as_deref()), &asked, &tell) {
            tell(LogEvent::Ended(describe(&error)));
        }
    });
    ask
}

fn read(
    place: &Place,
    (task, session): (&TaskId, Option<&str>),
    asked: &Receiver<LogRequest>,
    tell: &dyn Fn(LogEvent) -> bool,
) -> Result<()> {
    let Some(sessions) = place.sessions() else {
        tell(LogEvent::Ended(
            "this list belongs to no repository".to_owned(),
        ));
        return Ok(());
    };
    let mut output = sessions.output(&place.list()?, task, (session, None))?;
    loop {
        let mut lines = Lines::new(output.open()?);
        let first = lines.last_part().unwrap_or_default();
        let title = title(&output);
        let has_earlier = lines.first > 0;
        if !tell(LogEvent::Opened { title, has_earlier }) || !tell(LogEvent::Lines(first)) {
            return Ok(());
        }
        loop {
            match asked.recv_timeout(LOOK) {
                Ok(LogRequest::Earlier) => {
                    let earlier = lines.part_before().unwrap_or_default();
                    let has_earlier = lines.first > 0;
                    let event = LogEvent::Earlier {
                        lines: earlier,
                        has_earlier,
                    };
                    if !tell(event) {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let more = lines.more().unwrap_or_default();
            if !more.is_empty() {
                if !tell(LogEvent::Lines(more)) {
                    return Ok(());
                }
                continue;
            }
            match output.outlook(&sessions)? {
                Outlook::More => {}
                Outlook::Next(next) => {
                    output = *next;
                    break;
                }
                Outlook::Over => {
                    // Earlier lines may be wanted all the same.
                    if !tell(LogEvent::Ended("ended".to_owned())) {
                        return Ok(());
                    }
                    while let Ok(LogRequest::Earlier) = asked.recv() {
                        let earlier = lines.part_before().unwrap_or_default();
                        let has_earlier = lines.first > 0;
                        tell(LogEvent::Earlier {
                            lines: earlier,
                            has_earlier,
                        });
                    }
                    return Ok(());
                }
            }
        }
    }
}

fn title(output: &Output) -> String {
    match &output.agent {
        Some(agent) => format!("attempt {} by {agent}", output.attempt),
        None => format!("attempt {}", output.attempt),
    }
}

/// A file's lines from both ends.
struct Lines<F> {
    file: F,
    /// Where the first line begins that was read.
    first: u64,
    /// Where reading goes on at the end.
    end: u64,
    /// What was read behind the last line break.
    rest: Vec<u8>,
}

impl<F: io::Read + io::Seek> Lines<F> {
    fn new(file: F) -> Self {
        Self {
            file,
            first: 0,
            end: 0,
            rest: Vec::new(),
        }
    }

    /// The last lines of the file.
    fn last_part(&mut self) -> io::Result<Vec<String>> {
        let len = self.file.seek(SeekFrom::End(0))?;
        (self.first, self.end) = (len, len);
        self.part_before()
    }

    /// The lines in front of those that were read, at most [`MOST`]. What comes behind the last break of
    /// the file is left for [`Self::more`].
    fn part_before(&mut self) -> io::Result<Vec<String>> {
        let from = self.first.saturating_sub(PART);
        self.file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        (&mut self.file)
            .take(self.first - from)
            .read_to_end(&mut bytes)?;
        if self.first == self.end {
            let last = bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            self.rest = bytes.split_off(last);
        }
        // The first line of a part may have begun before it.
        let mut begun = match (from, bytes.iter().position(|byte| *byte == b'\n')) {
            (0, _) | (_, None) => 0,
            (_, Some(at)) => at + 1,
        };
        let breaks = bytes[begun..].iter().filter(|byte| **byte == b'\n').count();
        for _ in 0..breaks.saturating_sub(MOST) {
            let next = bytes[begun..].iter().position(|byte| *byte == b'\n');
            begun += next.map_or(0, |at| at + 1);
        }
        self.first = from + u64::try_from(begun).unwrap_or(0);
        Ok(lines(&bytes[begun..]))
    }

    /// The lines that came at the end since.
    fn more(&mut self) -> io::Result<Vec<String>> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let read = (&mut self.file).take(PART).read_to_end(&mut self.rest)?;
        self.end += u64::try_from(read).unwrap_or(0);
        let Some(last) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            // A line without an end is no line yet, unless it is longer than any that is shown.
            let is_long = self.rest.len() > LONGEST_LOG_LINE * 4;
            let long = is_long.then(|| std::mem::take(&mut self.rest));
            return Ok(long.map_or_else(Vec::new, |it| lines(&it)));
        };
        let rest = self.rest.split_off(last + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        Ok(lines(&whole))
    }
}

/// Bytes as lines, each no longer than what is shown of one.
fn lines(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    let shown = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // One more character than is shown tells that it is longer.
        let most = line.len().min(LONGEST_LOG_LINE * 4 + 4);
        String::from_utf8_lossy(&line[..most]).into_owned()
    };
    bytes.split(|byte| *byte == b'\n').map(shown).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn lines_come_from_both_ends_and_none_twice() {
        let text: Vec<u8> = (0..100_000)
            .flat_map(|n| format!("line {n}\n").into_bytes())
            .collect();
        let mut lines = Lines::new(Cursor::new(text));
        let mut all = lines.last_part().unwrap();
        assert_eq!(all.len(), MOST);
        assert_eq!(all.last().unwrap(), "line 99999");
        while lines.first > 0 {
            let mut earlier = lines.part_before().unwrap();
            earlier.append(&mut all);
            all = earlier;
        }
        assert_eq!(all.len(), 100_000);
        assert_eq!(all[0], "line 0");
        assert!(lines.more().unwrap().is_empty());
    }

    #[test]
    fn a_line_counts_once_it_has_an_end() {
        let mut lines = Lines::new(Cursor::new(b"one\ntw".to_vec()));
        assert_eq!(lines.last_part().unwrap(), ["one"]);
        assert!(lines.more().unwrap().is_empty());
        lines.file.get_mut().extend_from_slice(b"o\nthree\n");
        assert_eq!(lines.more().unwrap(), ["two", "three"]);
    }

    #[test]
    fn bytes_that_are_no_text_and_long_lines_do_no_harm() {
        let mut text = b"\xff\xfe\x1b[2J\n".to_vec();
        text.extend(vec![b'x'; 1 << 20]);
        text.push(b'\n');
        let mut lines = Lines::new(Cursor::new(text));
        let read = [
            lines.part_before().unwrap_or_default(),
            lines.last_part().unwrap(),
        ]
        .concat();
        assert!(read.iter().all(|it| it.len() <= LONGEST_LOG_LINE * 4 + 4));
    }
}
