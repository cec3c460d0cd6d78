//! The loop: inputs in, acts out, one drawing for all that came together.
//!
//! Owns the threads and the terminal for as long as the cockpit is open. It ends by a key, by SIGTERM or
//! SIGHUP, or with its terminal.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Error,
    bridge::{self, Host},
    files::Draft,
};
use flagpost_model::notification::{TerminalNames, signal};
use ratatui::{Terminal, backend::CrosstermBackend};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{
    act::Act,
    app::{App, TOAST},
    event::Input,
    keys::Keymap,
    landing,
    snapshot::{Place, WaitingBrief},
    source::{self, Nudge},
    tail::{self, LogRequest},
    term::{self, Lent, Screen, Taken},
    theme::Theme,
    update::update,
    view,
    worker::{self, Person, Work},
};

/// No more drawings a second than thirty.
const FRAME: Duration = Duration::from_millis(33);

/// How long the bridge has for the command that it carries out when the cockpit is closed.
const BRIDGE_GRACE: Duration = Duration::from_secs(2);

/// What the cockpit is opened with.
#[derive(Debug)]
pub struct Cockpit {
    /// Which list, of which repository.
    pub place: Place,
    /// Who acts.
    pub person: Person,
    /// Colours and signs.
    pub theme: Theme,
    /// Which key asks for what.
    pub keymap: Keymap,
    /// Whether the mouse is taken.
    pub mouse: bool,
    /// Where the home's daemon listens, where it has one.
    pub socket: PathBuf,
    /// What the terminal calls itself.
    pub terminal: TerminalNames,
    /// The person's editor, as a shell has it.
    pub editor: String,
}

/// Why the cockpit cannot be opened, or ended.
#[derive(Debug, thiserror::Error)]
pub enum CockpitError {
    /// The terminal cannot be used.
    #[error("the terminal cannot be used")]
    Terminal(#[from] io::Error),
    /// The home or the list cannot be read.
    #[error(transparent)]
    Core(#[from] Error),
}

/// Opens it, and stays until it is closed.
pub fn run(cockpit: Cockpit) -> Result<(), CockpitError> {
    // What cannot be opened at all is told on the terminal as it was.
    match cockpit.place.list() {
        // It comes with its first task.
        Ok(_) | Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let (send, inputs) = mpsc::channel();
    let place = Arc::new(cockpit.place);
    let mut app = App::new(
        cockpit.theme,
        cockpit.keymap,
        place.home.now(),
        place.home.zone(),
    );
    cockpit.person.name().as_str().clone_into(&mut app.me);
    let taken = Taken::take(cockpit.mouse)?;
    let mut screen = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    app.size = screen.size().map(|it| (it.width, it.height))?;
    end_by_signal(send.clone(), taken.lent())?;
    let hands = Hands {
        nudge: source::start(Arc::clone(&place), cockpit.socket, send.clone()),
        work: worker::start(Arc::clone(&place), cockpit.person.clone(), send.clone()),
        person: cockpit.person,
        editor: cockpit.editor,
        terminal: cockpit.terminal,
        taken: &taken,
        send: send.clone(),
        place: Arc::clone(&place),
        log: None,
        landing: None,
    };
    source::clock(Arc::clone(&place), send.clone());
    taken.read(send);
    // What comes of it is told by the history, as of any other bridge.
    let bridge = bridge::tend(place.home.clone(), Host::Cockpit, |_| {});
    let closed = turn(&mut app, &mut screen, hands, &inputs);
    // What it is cut off from counts as left by a crash.
    bridge.end(BRIDGE_GRACE);
    closed
}

/// Ends the loop by a signal: the terminal is given back on the way out. Those that keys send are meant for
/// the editor while it has the terminal.
fn end_by_signal(send: Sender<Input>, lent: Lent) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    thread::spawn(move || {
        let is_meant = |it: &i32| !([SIGINT, SIGQUIT].contains(it) && lent.is_so());
        if signals.forever().any(|it| is_meant(&it)) {
            // Where the loop has ended already there is nothing to end.
            let _: Result<(), _> = send.send(Input::Hangup);
        }
    });
    Ok(())
}

fn turn(
    app: &mut App,
    screen: &mut Screen,
    mut hands: Hands<'_>,
    inputs: &Receiver<Input>,
) -> Result<(), CockpitError> {
    let begun = Instant::now();
    let mut titled = None;
    loop {
        screen.draw(|frame| view::draw(app, frame))?;
        app.drawn();
        let drawn = Instant::now();
        let waiting = app.data.waiting.len();
        if titled != Some(waiting) {
            titled = Some(waiting);
            term::title(waiting)?;
        }
        let mut next = match app.fades() {
            // Until the first message goes.
            true => inputs.recv_timeout(TOAST),
            false => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        // What comes in the time of one drawing is shown by one.
        let left = FRAME.checked_sub(drawn.elapsed());
        if let Some(left) = left.filter(|_| !matches!(next, Ok(Input::Key(_)))) {
            thread::sleep(left);
        }
        loop {
            let input = match next {
                Ok(Input::Hangup) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(input) => input,
                Err(RecvTimeoutError::Timeout) => Input::Tick(hands.place.home.now()),
            };
            // A key is about what was on the screen when it was pressed.
            let is_key = matches!(input, Input::Key(_));
            for act in update(app, input, begun.elapsed()) {
                let is_lent = matches!(act, Act::Edit(_) | Act::Suspend);
                hands.carry_out(act, screen)?;
                if is_lent {
                    hands.forget_keys(inputs);
                }
            }
            if app.is_over {
                return Ok(());
            }
            if is_key {
                break;
            }
            match inputs.try_recv() {
                Ok(more) => next = Ok(more),
                Err(_) => break,
            }
        }
    }
}

/// What acts are carried out with.
struct Hands<'t> {
    nudge: Sender<Nudge>,
    work: Sender<Work>,
    person: Person,
    editor: String,
    terminal: TerminalNames,
    taken: &'t Taken,
    send: Sender<Input>,
    place: Arc<Place>,
    log: Option<Sender<LogRequest>>,
    landing: Option<Sender<()>>,
}

impl Hands<'_> {
    fn carry_out(&mut self, act: Act, screen: &mut Screen) -> Result<(), CockpitError> {
        match act {
            Act::Carry(request) => give(&self.work, Work::Carry(request)),
            Act::ReadTask(id) => give(&self.work, Work::ReadTask(id)),
            Act::ReadChange(id, path) => give(&self.work, Work::ReadChange(id, path)),
            Act::Interest(interest) => give(&self.nudge, Nudge::Interest(interest)),
            Act::Reread => give(&self.nudge, Nudge::Reread),
            Act::OpenLog(task, session) => {
                let place = Arc::clone(&self.place);
                self.log = Some(tail::start(place, (task, session), self.send.clone()));
            }
            Act::EarlierLog => {
                if let Some(log) = &self.log {
                    give(log, LogRequest::Earlier);
                }
            }
            Act::CloseLog => self.log = None,
            Act::OpenLanding => {
                let (place, person) = (Arc::clone(&self.place), self.person.clone());
                self.landing = Some(landing::start(place, person, self.send.clone()));
            }
            Act::LookAtLanding => {
                if let Some(landing) = &self.landing {
                    give(landing, ());
                }
            }
            Act::Copy(text) => term::copy(&text)?,
            Act::Notify(wanted, text) => term::notify(&signal(wanted, &self.terminal, &text))?,
            Act::Edit(brief) => {
                let made = self.edit(&brief)?;
                self.redraw(screen)?;
                give(&self.send, Input::Edited(Box::new(brief), made));
            }
            Act::Suspend => {
                self.taken
                    .lend(|| emulate_default_handler(signal_hook::consts::SIGTSTP))??;
                self.redraw(screen)?;
            }
        }
        Ok(())
    }

    /// Draws all of it anew: somebody else had the terminal, which may have another size since.
    fn redraw(&self, screen: &mut Screen) -> io::Result<()> {
        // Clearing the old one would ask the terminal where its cursor is, and wait for the reader of keys.
        *screen = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let size = screen.size()?;
        give(&self.send, Input::Size(size.width, size.height));
        Ok(())
    }

    /// Forgets what was typed behind a key that gave the terminal away: it was about another screen.
    fn forget_keys(&self, inputs: &Receiver<Input>) {
        let is_typed = |it: &Input| matches!(it, Input::Key(_) | Input::Paste(_) | Input::Mouse(_));
        let kept: Vec<Input> = inputs.try_iter().filter(|it| !is_typed(it)).collect();
        for input in kept {
            give(&self.send, input);
        }
    }

    /// Has a person rewrite a brief in the editor.
    fn edit(&self, brief: &WaitingBrief) -> Result<Result<String, String>, CockpitError> {
        let draft = Draft::new(&self.place.home, &brief.body)?;
        let ended = self.taken.lend(|| term::edit(&self.editor, &draft.path))?;
        let read = std::fs::read_to_string(&draft.path);
        // An editor may have taken it away.
        let _: flagpost_core::Result<()> = draft.discard();
        Ok(match ended {
            Ok(status) if status.success() => read.map_err(|error| {
                format!("nothing was decided: what the editor left cannot be read: {error}")
            }),
            Ok(status) => Err(format!(
                "nothing was decided: {} ended with {status}",
                self.editor
            )),
            Err(error) => Err(format!(
                "nothing was decided: the editor {:?} cannot be started: {error}; set VISUAL or EDITOR",
                self.editor
            )),
        })
    }
}

/// Gives a thread something to do; one that is gone has ended with the loop.
fn give<T>(thread: &Sender<T>, what: T) {
    let _: Result<(), mpsc::SendError<T>> = thread.send(what);
}
