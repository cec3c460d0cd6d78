//! The terminal: raw mode and its end, keys, the clipboard, the editor.
//!
//! Owns that the terminal is left as it was found, whatever ends the cockpit: a key, a panic, a signal. And
//! that there is one reader of it: while an editor has it, nobody else reads.

use std::{
    io::{self, Write as _},
    path::Path,
    process::{Command, ExitStatus},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::Sender,
    },
    thread,
    time::{Duration, Instant},
};

use crossterm::{
    cursor::Show,
    event::{
        self, DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
        EnableFocusChange, EnableMouseCapture, Event,
    },
    execute, queue,
    style::Print,
    terminal::{
        self, EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode,
        enable_raw_mode,
    },
};
use ratatui::{Terminal, backend::CrosstermBackend};
use rustix::termios::QueueSelector;

use crate::event::Input;

/// How often the reader looks whether it is to wait.
const PAUSE: Duration = Duration::from_millis(50);
/// So much later a signal may be heard of, on a busy machine.
const LATE: Duration = Duration::from_secs(2);

/// The screen that is drawn on.
pub type Screen = Terminal<CrosstermBackend<io::Stdout>>;

/// The terminal in the cockpit's hands. Dropped, it is as it was.
#[derive(Debug)]
pub struct Taken {
    mouse: bool,
    reader: Arc<Reader>,
}

/// Who reads the keys, and whether it may.
#[derive(Debug, Default)]
struct Reader {
    parked: AtomicBool,
    /// Grows with each look; one who parks it waits until it was seen to wait.
    waits: AtomicU32,
    /// When somebody else gave the terminal back.
    returned: Mutex<Option<Instant>>,
}

impl Taken {
    /// Takes the terminal: raw, on its other screen. A panic gives it back before it speaks.
    pub fn take(mouse: bool) -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        let taken = Self {
            mouse,
            reader: Arc::default(),
        };
        taken.enter()?;
        Ok(taken)
    }

    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableFocusChange
        )?;
        if self.mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        Ok(())
    }

    /// Sends on whatever the terminal says, from a thread of its own, for as long as somebody listens.
    pub fn read(&self, send: Sender<Input>) {
        let reader = Arc::clone(&self.reader);
        thread::spawn(move || {
            loop {
                if reader.parked.load(Ordering::SeqCst) {
                    reader.waits.fetch_add(1, Ordering::SeqCst);
                    thread::park_timeout(PAUSE);
                    continue;
                }
                // Without a limit: an idle cockpit does nothing at all. Who parks it wakes it by a signal.
                let read = match event::poll(Duration::MAX) {
                    Ok(true) if !reader.parked.load(Ordering::SeqCst) => event::read(),
                    Ok(_) => continue,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let input = match read {
                    Ok(Event::Key(key)) => Input::Key(key),
                    Ok(Event::Paste(text)) => Input::Paste(text),
                    Ok(Event::Mouse(event)) => Input::Mouse(event),
                    // By now it may have another size than the event says.
                    Ok(Event::Resize(columns, rows)) => {
                        let (columns, rows) = terminal::size().unwrap_or((columns, rows));
                        Input::Size(columns, rows)
                    }
                    Ok(Event::FocusGained) => Input::Focus(true),
                    Ok(Event::FocusLost) => Input::Focus(false),
                    // The terminal is gone.
                    Err(_) => Input::Hangup,
                };
                let is_end = matches!(input, Input::Hangup);
                if send.send(input).is_err() || is_end {
                    return;
                }
            }
        });
    }

    /// Whether somebody else has the terminal now.
    pub fn lent(&self) -> Lent {
        Lent(Arc::clone(&self.reader))
    }

    /// Gives the terminal to somebody else for as long as `meanwhile` takes.
    pub fn lend<T>(&self, meanwhile: impl FnOnce() -> T) -> io::Result<T> {
        self.reader.parked.store(true, Ordering::SeqCst);
        let seen = self.reader.waits.load(Ordering::SeqCst);
        // A window change wakes whoever waits for the terminal, and means nothing.
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH)?;
        // On a busy machine it may take a while.
        for _ in 0..400 {
            if self.reader.waits.load(Ordering::SeqCst) > seen {
                break;
            }
            thread::sleep(PAUSE / 10);
        }
        give_back();
        let came = meanwhile();
        rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush)?;
        self.enter()?;
        // What was typed in front of it was meant for somebody else. Nobody else reads here now.
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        let returned = self.reader.returned.lock();
        *returned.unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.reader.parked.store(false, Ordering::SeqCst);
        Ok(came)
    }
}

/// Tells whether somebody else has the terminal.
#[derive(Debug)]
pub struct Lent(Arc<Reader>);

impl Lent {
    /// Whether somebody else has it, or had it a moment ago: a signal may be heard of late.
    pub fn is_so(&self) -> bool {
        let returned = self.0.returned.lock();
        let returned = returned.unwrap_or_else(PoisonError::into_inner);
        let is_recent = returned.is_some_and(|at| at.elapsed() < LATE);
        self.0.parked.load(Ordering::SeqCst) || is_recent
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the terminal as it was found; what cannot be written any more is lost with it.
pub fn give_back() {
    let _: io::Result<()> = execute!(
        io::stdout(),
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    let _: io::Result<()> = disable_raw_mode();
}

/// Names the window.
pub fn title(waiting: usize) -> io::Result<()> {
    let title = match waiting {
        0 => "flagpost".to_owned(),
        n => format!("({n}) flagpost"),
    };
    execute!(io::stdout(), SetTitle(title))
}

/// Tells the person, in the terminal's own language: a bell, or a notification.
pub fn notify(bytes: &[u8]) -> io::Result<()> {
    io::stdout().write_all(bytes)?;
    io::stdout().flush()
}

/// Puts a text where the terminal has its clipboard, by OSC 52.
pub fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    queue!(out, Print("\x1b]52;c;"))?;
    out.write_all(base64(text.as_bytes()).as_bytes())?;
    out.write_all(b"\x07")?;
    out.flush()
}

/// As RFC 4648 has it, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4 {
            match place <= chunk.len() {
                true => {
                    let at = (group >> (18 - 6 * place)) & 63;
                    text.push(char::from(ALPHABET[at as usize]));
                }
                false => text.push('='),
            }
        }
    }
    text
}

/// Opens a file in the person's editor, a line of words as a shell has them, and waits for its end.
pub fn edit(editor: &str, path: &Path) -> io::Result<ExitStatus> {
    let words = shlex::split(editor).unwrap_or_default();
    let (program, words) = words
        .split_first()
        .ok_or_else(|| io::Error::other("$EDITOR says nothing"))?;
    Command::new(program).args(words).arg(path).status()
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn what_is_copied_is_spelled_as_terminals_read_it() {
        for (plain, spelled) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("Grüße\n", "R3LDvMOfZQo="),
        ] {
            assert_eq!(base64(plain.as_bytes()), spelled);
        }
    }
}
