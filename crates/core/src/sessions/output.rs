//! What an attempt's agent printed: which file has it, and whether more may come.
//!
//! Owns the way from a task to that file: the newest session of the list in which it was begun. What
//! is in the file is the agent's own. A session's files move when it ends; what was opened before is
//! read on from where it was.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{Read, Seek as _, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use flagpost_disk::{self as disk, dialects::session::layout, fsx};
use flagpost_model::{ListRef, SessionId, TaskId};
use serde_json::{Map, Value};

use super::{SessionStatus, Sessions, read_lock};
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
};

/// How often it is asked whether the runner still lives, where nothing else says so.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How much of the events is read at once.
const PART: usize = 1 << 20;

/// The longest event that is looked at.
const LONGEST: usize = 1 << 20;

/// The output of one attempt.
#[derive(Debug)]
pub struct Output {
    /// The task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: u32,
    /// The file.
    pub path: PathBuf,
    /// The session that it belongs to.
    pub session: String,
    /// The agent as the operator named it, where its client told of itself.
    pub agent: Option<String>,
    /// Where the agent works, where that is known.
    pub dir: Option<PathBuf>,
    id: Option<SessionId>,
    events: Option<Events>,
    known: TaskActivity,
    looked: Option<Instant>,
}

/// That a task's agent left output.
#[derive(Debug)]
pub struct TaskOutput {
    /// The task.
    pub task: TaskId,
    /// Its last attempt in the session.
    pub attempt: u32,
    /// The newest session that has output of it.
    pub session: String,
    /// The file of that attempt.
    pub path: PathBuf,
}

/// How much of an output is handed out at once: 256 KiB.
const LONGEST_PART: u64 = 256 << 10;

/// And how many lines of it: a page that keeps two parts knows where one of them begins.
const MOST_LINES: usize = 2500;

/// Which part of an output is meant.
#[derive(Debug, Clone, Copy)]
pub enum PartPlace {
    /// From this byte on.
    From(u64),
    /// What ends at this byte.
    Before(u64),
    /// Its end.
    Last,
}

/// A part of an attempt's output.
#[derive(Debug)]
pub struct OutputPart {
    /// Where it begins, in bytes.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
    /// What was printed there, without the zeros of what a long log left out.
    pub text: String,
    /// Whether this was the end of it.
    pub is_over: bool,
}

/// Whether more of an attempt's output may come.
#[derive(Debug)]
pub enum Outlook {
    /// It may.
    More,
    /// Not of this attempt; another of the same task was begun.
    Next(Box<Output>),
    /// It is over.
    Over,
}

/// What a session's events say of one task.
#[derive(Debug, Default)]
struct TaskActivity {
    /// The last attempt that was begun.
    begun: u32,
    /// The last that ended, and whether another may follow.
    ended: Option<(u32, bool)>,
    /// Nothing more is done on it in this session.
    settled: bool,
}

impl Sessions<'_> {
    /// The output of a task's attempt, else of its last: in the session that is meant (as in
    /// [`Sessions::find`]), else in the live one, else in the newest of this list that has one.
    pub fn output(
        &self,
        list: &List<'_>,
        task: &TaskId,
        (session, attempt): (Option<&str>, Option<u32>),
    ) -> Result<Output> {
        let with = match session {
            Some(session) => self.of_session(session, task)?,
            None => self.newest_with(list.id(), task)?,
        };
        let Some((dir, attempts)) = with else {
            list.task(task)?;
            return Err(Error::NoOutput {
                task: task.clone(),
                session: session.map(str::to_owned),
            });
        };
        let (id, session) = session_of(self.home, &dir)?;
        let attempt = match attempt {
            Some(asked) if !attempts.contains(&asked) => {
                return Err(Error::NoAttempt {
                    task: task.clone(),
                    session,
                    attempt: asked,
                    known: attempts,
                });
            }
            asked => asked.or(attempts.last().copied()).unwrap_or(1),
        };
        let mut output = Output {
            task: task.clone(),
            attempt,
            path: path_of(&dir, task, attempt),
            session,
            agent: None,
            dir: None,
            id: id.filter(|_| dir == self.live_dir()),
            events: Events::open(&dir)?,
            known: TaskActivity::default(),
            looked: None,
        };
        output.poll()?;
        Ok(output)
    }

    /// The tasks of a list whose agents left output, each with that of the newest session.
    pub fn outputs(&self, list: &ListRef) -> Result<Vec<TaskOutput>> {
        let mut found = BTreeMap::new();
        for dir in self.newest_first(list)? {
            let (_, session) = session_of(self.home, &dir)?;
            for (task, attempts) in logs(self.home, &dir, None)? {
                let Some(attempt) = attempts.last().copied() else {
                    continue;
                };
                found.entry(task.clone()).or_insert_with(|| TaskOutput {
                    path: path_of(&dir, &task, attempt),
                    session: session.clone(),
                    task,
                    attempt,
                });
            }
        }
        Ok(found.into_values().collect())
    }

    /// The directory of the session that is meant, where it has output of a task, and of which attempts.
    fn of_session(&self, given: &str, task: &TaskId) -> Result<Option<(PathBuf, Vec<u32>)>> {
        let dir = self.find(given)?.dir;
        let attempts = attempts(self.home, &dir, task)?;
        Ok((!attempts.is_empty()).then_some((dir, attempts)))
    }

    /// The newest session's directory with output of a task, and of which attempts.
    fn newest_with(&self, list: &ListRef, task: &TaskId) -> Result<Option<(PathBuf, Vec<u32>)>> {
        for dir in self.newest_first(list)? {
            let attempts = attempts(self.home, &dir, task)?;
            if !attempts.is_empty() {
                return Ok(Some((dir, attempts)));
            }
        }
        Ok(None)
    }

    /// The directories of a list's sessions: the live one, then the newest first.
    fn newest_first(&self, list: &ListRef) -> Result<Vec<PathBuf>> {
        let of_list = |named: Option<&ListRef>| named.is_none_or(|named| named == list);
        self.stay_inside()?;
        let live = self.live_dir();
        // Before the ended ones: one that is archived meanwhile is among them, too.
        let lock = read_lock(self.home, &live)?.unwrap_or_default();
        let ended = self.ended()?;
        let ended = ended.iter().rev();
        let ended = ended.filter(|ended| of_list(ended.lock.list.as_ref()));
        let dirs = [live].into_iter().filter(|_| of_list(lock.list.as_ref()));
        Ok(dirs.chain(ended.map(|ended| self.dir(&ended.id))).collect())
    }

    /// Whether the session of this id still runs.
    fn runs(&self, id: &SessionId) -> Result<bool> {
        // Somebody starts or ends one at this moment: asked again later.
        let Some((stage, lock)) = self.status()? else {
            return Ok(fsx::stat(self.home.fs(), &self.live_dir())?.is_some());
        };
        Ok(stage == SessionStatus::Live && lock.session.as_ref() == Some(id))
    }
}

impl Output {
    /// Opens the file.
    pub fn open(&self) -> Result<File> {
        Ok(File::open(&self.path).map_err(disk::Error::io("open", &self.path))?)
    }

    /// The whole lines of this place; a part of 256 KiB and 2,500 lines at most. A line that is longer is
    /// cut; what is behind the last line break comes once nothing more does.
    pub fn part(&mut self, sessions: &Sessions<'_>, place: PartPlace) -> Result<OutputPart> {
        // Asked first: what is printed meanwhile is in the part.
        let is_over = !matches!(self.outlook(sessions)?, Outlook::More);
        let mut file = self.open()?;
        let failed = || disk::Error::io("read", &self.path);
        let size = file.metadata().map_err(failed())?.len();
        let (begin, end) = match place {
            PartPlace::From(at) => (at.min(size), size),
            PartPlace::Before(at) => (at.min(size).saturating_sub(LONGEST_PART), at.min(size)),
            PartPlace::Last => (size.saturating_sub(LONGEST_PART), size),
        };
        file.seek(SeekFrom::Start(begin)).map_err(failed())?;
        let mut bytes = Vec::new();
        file.take(LONGEST_PART.min(end - begin))
            .read_to_end(&mut bytes)
            .map_err(failed())?;
        let is_end = is_over && begin + bytes.len() as u64 >= size;
        let goes_on = matches!(place, PartPlace::From(_));
        let whole = whole_lines(&bytes, !goes_on && begin > 0, is_end);
        let whole = fewer_lines(&bytes, whole, goes_on);
        let said = bytes[whole.clone()].iter().copied();
        let said: Vec<u8> = said.filter(|byte| *byte != 0).collect();
        Ok(OutputPart {
            from: begin + whole.start as u64,
            to: begin + whole.end as u64,
            text: String::from_utf8_lossy(&said).into_owned(),
            is_over: is_over && begin + whole.end as u64 >= size,
        })
    }

    /// Whether more may come, now that all of it was read.
    pub fn outlook(&mut self, sessions: &Sessions<'_>) -> Result<Outlook> {
        let Some(id) = self.id.clone() else {
            return Ok(Outlook::Over);
        };
        self.poll()?;
        if self.known.begun > self.attempt {
            return Ok(match self.next(sessions)? {
                Some(next) => Outlook::Next(Box::new(next)),
                None => Outlook::Over,
            });
        }
        let ended = self
            .known
            .ended
            .filter(|(attempt, _)| *attempt >= self.attempt);
        if self.known.settled || ended.is_some_and(|(_, again)| !again) {
            return Ok(Outlook::Over);
        }
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Ok(Outlook::More);
        }
        self.looked = Some(Instant::now());
        Ok(match sessions.runs(&id)? {
            true => Outlook::More,
            false => Outlook::Over,
        })
    }

    /// Whether this attempt itself has ended, as far as its session told.
    pub fn has_ended(&self) -> bool {
        let later = self.known.begun > self.attempt;
        let ended = self
            .known
            .ended
            .is_some_and(|(attempt, _)| attempt >= self.attempt);
        self.id.is_none() || later || ended
    }

    /// The output of the attempt that was begun after this one, where it is there.
    fn next(&self, sessions: &Sessions<'_>) -> Result<Option<Self>> {
        let dir = sessions.live_dir();
        let lock = read_lock(sessions.home, &dir)?.unwrap_or_default();
        let path = path_of(&dir, &self.task, self.known.begun);
        // It may have come to its end meanwhile, and its files be elsewhere.
        if lock.session != self.id || fsx::stat(sessions.home.fs(), &path)?.is_none() {
            return Ok(None);
        }
        let mut next = Self {
            task: self.task.clone(),
            attempt: self.known.begun,
            path,
            session: self.session.clone(),
            agent: None,
            dir: None,
            id: self.id.clone(),
            events: Events::open(&dir)?,
            known: TaskActivity::default(),
            looked: None,
        };
        next.poll()?;
        Ok(Some(next))
    }

    /// Takes in what the session told since.
    fn poll(&mut self) -> Result<()> {
        let Some(mut events) = self.events.take() else {
            return Ok(());
        };
        let heard = events.read(|event| self.take_in(event));
        self.events = Some(events);
        heard
    }

    fn take_in(&mut self, event: &Map<String, Value>) {
        let text = |key| event.get(key).and_then(Value::as_str);
        let number = |key| {
            let number = event.get(key).and_then(Value::as_u64);
            number
                .and_then(|it| u32::try_from(it).ok())
                .unwrap_or_default()
        };
        if text("event") == Some("session.finished") {
            self.known.settled = true;
        }
        if text("task") != Some(self.task.as_str()) {
            return;
        }
        let attempt = number("attempt");
        match text("event") {
            Some("task.started") => {
                // A conversation that is taken up again is the same attempt.
                self.known = TaskActivity {
                    begun: attempt,
                    ..TaskActivity::default()
                };
            }
            Some("task.session") if attempt == self.attempt => {
                self.agent = text("agent").map(str::to_owned);
                self.dir = text("dir").map(PathBuf::from);
            }
            Some("task.ended") => {
                let again = !matches!(text("outcome"), Some("PASS" | "STUCK" | "PARKED"));
                self.known.ended = Some((attempt, again && attempt < number("attempts")));
                let agent = event.get("record").and_then(|it| it.get("agent")?.as_str());
                if attempt == self.attempt && self.agent.is_none() {
                    self.agent = agent.map(str::to_owned);
                }
            }
            Some("task.settled") => self.known.settled = true,
            _ => {}
        }
    }
}

/// Where the whole lines of these bytes are, which may begin inside of one; the last bytes of all are whole
/// too. A line that fills a part is cut.
fn whole_lines(bytes: &[u8], begins_inside: bool, is_last: bool) -> Range<usize> {
    let is_break = |byte: &u8| *byte == b'\n';
    let first = bytes.iter().position(is_break).map(|at| at + 1);
    let start = first.filter(|at| begins_inside && *at < bytes.len());
    let start = start.unwrap_or(0);
    let end = match bytes.iter().rposition(is_break) {
        _ if is_last => bytes.len(),
        Some(last) => last + 1,
        None if bytes.len() as u64 == LONGEST_PART => bytes.len(),
        None => start,
    };
    start..end
}

/// The first lines of these, where one goes on from them, or the last.
fn fewer_lines(bytes: &[u8], whole: Range<usize>, goes_on: bool) -> Range<usize> {
    let breaks = whole.clone().filter(|at| bytes[*at] == b'\n');
    match goes_on {
        true => {
            let end = breaks.map(|at| at + 1).nth(MOST_LINES - 1);
            whole.start..end.unwrap_or(whole.end)
        }
        false => {
            // The last one ends the last line.
            let start = breaks.rev().map(|at| at + 1).nth(MOST_LINES);
            start.unwrap_or(whole.start)..whole.end
        }
    }
}

/// The file of an attempt's output.
pub(super) fn path_of(dir: &Path, task: &TaskId, attempt: u32) -> PathBuf {
    dir.join(layout::LOGS)
        .join(layout::attempt_log(task, attempt))
}

/// The session of this directory: its id where its lock tells it, and what it is called.
fn session_of(home: &Home, dir: &Path) -> Result<(Option<SessionId>, String)> {
    let id = read_lock(home, dir)?.and_then(|lock| lock.session);
    let name = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let title = id.as_ref().map_or(name, SessionId::as_str).to_owned();
    Ok((id, title))
}

/// Which attempts of a task left output in a session, in order.
fn attempts(home: &Home, dir: &Path, task: &TaskId) -> Result<Vec<u32>> {
    let mut logs = logs(home, dir, Some(task))?;
    Ok(logs.remove(task).unwrap_or_default())
}

/// Which attempts of each task, or of one alone, left output in a session, in order.
fn logs(home: &Home, dir: &Path, of: Option<&TaskId>) -> Result<BTreeMap<TaskId, Vec<u32>>> {
    let dir = dir.join(layout::LOGS);
    let mut logs: BTreeMap<TaskId, Vec<u32>> = BTreeMap::new();
    for name in fsx::names(home.fs(), &dir)? {
        let Some((task, attempt)) = name.to_str().and_then(layout::attempt_of_log) else {
            continue;
        };
        if of.is_some_and(|of| *of != task) {
            continue;
        }
        // A link leads elsewhere, and a pipe would be waited for.
        let file = fsx::stat(home.fs(), &dir.join(name))?;
        if file.is_some_and(|file| file.kind == fsx::FileKind::File) {
            logs.entry(task).or_default().push(attempt);
        }
    }
    logs.values_mut()
        .for_each(|attempts| attempts.sort_unstable());
    Ok(logs)
}

/// A session's events, read as they are recorded.
#[derive(Debug)]
struct Events {
    file: File,
    path: PathBuf,
    /// The beginning of an event that is being written.
    begun: Vec<u8>,
}

impl Events {
    /// None where there are none.
    fn open(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(layout::PROGRESS_EVENTS);
        match File::open(&path) {
            Ok(file) => Ok(Some(Self {
                file,
                path,
                begun: Vec::new(),
            })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk::Error::io("open", &path)(error).into()),
        }
    }

    /// Tells `see` the events since. A line that is none is passed over.
    fn read(&mut self, mut see: impl FnMut(&Map<String, Value>)) -> Result<()> {
        let mut part = vec![0; PART];
        loop {
            let read = self.file.read(&mut part);
            let read = read.map_err(disk::Error::io("read", &self.path))?;
            if read == 0 {
                return Ok(());
            }
            self.begun.extend_from_slice(&part[..read]);
            let end = self.begun.iter().rposition(|byte| *byte == b'\n');
            let whole: Vec<u8> = self.begun.drain(..end.map_or(0, |end| end + 1)).collect();
            for line in whole.split(|byte| *byte == b'\n') {
                if let Ok(event) = serde_json::from_slice(line) {
                    see(&event);
                }
            }
            if self.begun.len() > LONGEST {
                self.begun.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests;
