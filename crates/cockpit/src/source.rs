//! Where the screens' data comes from: the files, read whenever somebody says that they changed.
//!
//! Owns who says so: the daemon's stream of events where one runs, else the system, else a look each second;
//! it changes over by itself, both ways. The data is the same in each case, since it is read from the files.
//! Looks are spaced so that a storm of changes takes a thirtieth of a processor, and its drawing little more.

use std::{
    io::{self, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    describe,
    history::{History, NewLines, Tail},
    watch::{HomeWatch, Wake},
};

use crate::{
    event::Input,
    event::WakeSource,
    notices::TerminalNotices,
    snapshot::{Interest, Place, read},
};

/// After a look that took one unit of time, the next waits for so many.
const REST: u32 = 32;
/// No look waits longer for the one before.
const LONGEST_REST: Duration = Duration::from_secs(1);
/// Changes that come together are one; so long the first waits for the others.
const TOGETHER: Duration = Duration::from_millis(8);
/// How often to look where nobody tells of changes.
const POLL: Duration = Duration::from_secs(1);
/// How often to look all the same, and for a daemon.
const RECHECK: Duration = Duration::from_secs(60);

/// What the one who reads is told.
#[derive(Debug)]
pub enum Nudge {
    /// Something changed.
    Changed,
    /// The system cannot tell of all changes.
    Lost,
    /// The daemon's stream began, or ended.
    Daemon(bool),
    /// Read this beside the rest from now on.
    Interest(Interest),
    /// Read everything again, now.
    Reread,
}

/// Reads from a thread of its own, for as long as somebody listens.
pub fn start(place: Arc<Place>, socket: PathBuf, send: Sender<Input>) -> Sender<Nudge> {
    let (nudge, nudges) = mpsc::channel();
    let own = nudge.clone();
    thread::spawn(move || {
        let mut source = Source::new(&place, socket, own);
        source.run(&nudges, &send);
    });
    nudge
}

struct Source<'p> {
    place: &'p Place,
    socket: PathBuf,
    nudge: Sender<Nudge>,
    watch: Option<HomeWatch>,
    /// The home could not be read the last time.
    is_blind: bool,
    has_daemon: bool,
    interest: Interest,
    tail: Option<Tail>,
    notices: TerminalNotices<'p>,
}

impl<'p> Source<'p> {
    fn new(place: &'p Place, socket: PathBuf, nudge: Sender<Nudge>) -> Self {
        let watch = watch(place, &socket, &nudge);
        Self {
            place,
            socket,
            nudge,
            watch,
            is_blind: false,
            has_daemon: false,
            interest: Interest::default(),
            tail: None,
            notices: TerminalNotices::new(place),
        }
    }

    fn run(&mut self, nudges: &Receiver<Nudge>, send: &Sender<Input>) {
        let mut said = None;
        loop {
            if !self.has_daemon && listen(&self.socket, &self.nudge) {
                self.has_daemon = true;
            }
            let begun = worked();
            if !self.look(send) {
                return;
            }
            // A look may find that the system tells of changes again, or does no more.
            let source = self.kind();
            if said != Some(source) {
                said = Some(source);
                if send.send(Input::Source(source)).is_err() {
                    return;
                }
            }
            let rest = (worked().saturating_sub(begun) * REST).min(LONGEST_REST);
            if !self.wait(nudges, send, Instant::now() + rest.max(TOGETHER)) {
                return;
            }
        }
    }

    fn kind(&self) -> WakeSource {
        match (self.has_daemon, &self.watch) {
            (true, _) => WakeSource::Daemon,
            (false, Some(_)) => WakeSource::Files,
            (false, None) => WakeSource::Polling,
        }
    }

    /// Reads everything, and sends it on; whether anybody listens.
    fn look(&mut self, send: &Sender<Input>) -> bool {
        let renewed = self.watch.as_mut().map(|it| it.renew(&self.place.home));
        if renewed.is_some_and(|it| it.is_err()) {
            self.watch = None;
        }
        let input = match read(self.place, &self.interest) {
            Ok(data) => {
                if std::mem::take(&mut self.is_blind) {
                    self.watch = watch(self.place, &self.socket, &self.nudge);
                }
                Input::Data(Arc::new(data))
            }
            Err(error) => {
                // What is watched may be gone, and another home come in its place.
                self.watch = None;
                self.is_blind = true;
                Input::Unreadable(describe(&error))
            }
        };
        if send.send(input).is_err() {
            return false;
        }
        let news = self.news();
        let notice = self.notices.due(true, self.has_daemon);
        let told = [news, notice].into_iter().flatten();
        told.into_iter().all(|it| send.send(it).is_ok())
    }

    /// What came to the history since the last look.
    fn news(&mut self) -> Option<Input> {
        let repository = self.place.repository.as_ref()?;
        let history = History::of(&self.place.home, &repository.id);
        let Some(tail) = &mut self.tail else {
            // What was there before is no news.
            self.tail = at_end(&history);
            return None;
        };
        match tail.read_on(&history) {
            Ok(NewLines::Lines(lines)) if !lines.is_empty() => Some(Input::News(lines)),
            Ok(NewLines::Lines(_)) => None,
            Ok(NewLines::Rewritten) => {
                self.tail = at_end(&history);
                None
            }
            // The doctor tells of a history that cannot be read.
            Err(_) => None,
        }
    }

    /// Waits for something to look at, and until it may be looked at; whether anybody listens.
    fn wait(&mut self, nudges: &Receiver<Nudge>, send: &Sender<Input>, rested: Instant) -> bool {
        let pause = match self.kind() {
            WakeSource::Daemon | WakeSource::Files => RECHECK,
            WakeSource::Polling => POLL,
        };
        let begun = Instant::now();
        loop {
            let left = pause.saturating_sub(begun.elapsed());
            match nudges.recv_timeout(left.min(self.notices.pause().max(TOGETHER))) {
                Ok(nudge) => match self.take(nudge) {
                    true => return true,
                    false => break,
                },
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= pause => return true,
                Err(RecvTimeoutError::Timeout) => {
                    let notice = self.notices.due(false, self.has_daemon);
                    if notice.is_some_and(|it| send.send(it).is_err()) {
                        return false;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        // What comes meanwhile is looked at together.
        loop {
            let left = rested
                .saturating_duration_since(Instant::now())
                .max(TOGETHER);
            match nudges.recv_timeout(left) {
                Ok(nudge) => {
                    if self.take(nudge) {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            if rested <= Instant::now() {
                return true;
            }
        }
    }

    /// Takes a nudge; whether a person waits for what it asks for.
    fn take(&mut self, nudge: Nudge) -> bool {
        match nudge {
            Nudge::Changed => false,
            Nudge::Lost => {
                self.watch = None;
                false
            }
            Nudge::Daemon(is_there) => {
                self.has_daemon = is_there;
                false
            }
            Nudge::Interest(interest) => {
                self.interest = interest;
                true
            }
            Nudge::Reread => true,
        }
    }
}

/// Watches what is shown, where the system can.
fn watch(place: &Place, socket: &Path, nudge: &Sender<Nudge>) -> Option<HomeWatch> {
    let told = nudge.clone();
    let mut also = Vec::from([socket.parent().unwrap_or(socket).to_owned()]);
    if let Some(sessions) = place.sessions() {
        also.extend([sessions.root().to_owned(), sessions.live_dir()]);
    }
    HomeWatch::begin(&place.home, also, move |wake| {
        let nudge = match wake {
            Wake::Changed => Nudge::Changed,
            Wake::Lost => Nudge::Lost,
        };
        // Nobody listens any more at the end.
        let _: Result<(), _> = told.send(nudge);
    })
}

/// How long this thread has kept a processor busy.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The end of a history, where nothing of it is news.
fn at_end(history: &History<'_>) -> Option<Tail> {
    let mut tail = Tail::at_end(history).ok()?;
    // The last change may not have appeared yet, and comes again; what has is no news either.
    tail.read_on(history).ok()?;
    Some(tail)
}

/// Listens to the daemon, where one answers at its socket; whether one does. From a thread of its own,
/// which ends with the stream.
fn listen(socket: &Path, nudge: &Sender<Nudge>) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else {
        return false;
    };
    let asked = stream.write_all(
        b"GET /v1/events HTTP/1.1\r\nHost: flagpost\r\nAccept: text/event-stream\r\n\r\n",
    );
    if asked.is_err() {
        return false;
    }
    let nudge = nudge.clone();
    thread::spawn(move || {
        let ended = events(&mut BufReader::new(stream), &nudge);
        // It ended: with the daemon, or because nobody listens here.
        let _: Result<(), _> = nudge.send(Nudge::Daemon(false));
        drop(ended);
    });
    true
}

/// Nudges with every event of the stream. Whatever it says, the files are read.
fn events(stream: &mut impl io::BufRead, nudge: &Sender<Nudge>) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line of the stream is short; chunk sizes between them are lines, too, and say nothing.
        if io::BufRead::read_until(&mut stream.by_ref().take(1 << 20), b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.starts_with(b"event:") && nudge.send(Nudge::Changed).is_err() {
            return Ok(());
        }
    }
}

/// So long after each other the clock is looked at, by which ages are told.
const CLOCK: Duration = Duration::from_secs(5);

/// Tells the time, again and again.
pub fn clock(place: Arc<Place>, send: Sender<Input>) {
    thread::spawn(move || {
        loop {
            thread::sleep(CLOCK);
            if send.send(Input::Tick(place.home.now())).is_err() {
                return;
            }
        }
    });
}
