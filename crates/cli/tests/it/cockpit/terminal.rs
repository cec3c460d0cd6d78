//! A shell in a real terminal, and the cockpit in it.
//!
//! Owns the tmux server of one test: it has a socket of its own, below the world's directory, and ends with
//! the value. Whatever is waited for has a deadline, and a test that waits in vain shows the screen.

use std::{
    cell::RefCell,
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use flagpost_testkit::{
    background::{kill, with_in_environment},
    patience::patience,
    race::until,
    sealed::World,
};
use rustix::process::Signal;

/// How often to look at the screen.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A selection that moved by itself takes no decision for 300 ms.
const GUARD: Duration = Duration::from_millis(400);
/// What the shell says when it waits for a command.
const PROMPT: &str = "at your service:";

/// What the tests need of tmux: programs may set its clipboard and the window's name, so that a test sees
/// where they do.
const SETTINGS: &str = "set -g default-terminal xterm-256color
set -g set-clipboard on
set -g allow-rename on
set -g allow-passthrough on
set -g status off
set -s escape-time 0
";

/// A terminal with a shell in it.
pub struct Terminal<'w> {
    world: &'w World,
    settings: PathBuf,
}

impl<'w> Terminal<'w> {
    /// One of so many columns and rows; none, and a line that says so, where there is no tmux.
    pub fn open(world: &'w World, columns: u16, rows: u16) -> Option<Self> {
        if world.command_of("tmux").arg("-V").output().is_err() {
            println!("skipped: tmux is not installed, and the cockpit needs a terminal");
            return None;
        }
        let settings = world.outside().join("tmux.conf");
        fs::write(&settings, SETTINGS).unwrap();
        let rc = world.outside().join("rc.bash");
        fs::write(&rc, format!("PS1='{PROMPT} '\nset +o history\n")).unwrap();
        let terminal = Self { world, settings };
        let shell = format!("exec bash --noprofile --rcfile '{}' -i", rc.display());
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        let session = [&["new-session", "-d"], &size[..], &[&shell]].concat();
        until("the server of another terminal is gone", || {
            terminal.tmux(&session);
            terminal.knows("#{pane_pid}").parse::<u32>().is_ok()
        });
        terminal.shows(PROMPT);
        Some(terminal)
    }

    /// The same with the cockpit open in it.
    pub fn with_cockpit(world: &'w World, columns: u16, rows: u16) -> Option<Self> {
        let terminal = Self::open(world, columns, rows)?;
        terminal.cockpit();
        Some(terminal)
    }

    /// What tmux answers.
    pub fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.world.command_of("tmux");
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_flagpost"));
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        command
            .env("TMUX_TMPDIR", self.world.outside())
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env_remove("COLUMNS")
            .args(["-L", "cockpit", "-f"])
            .arg(&self.settings);
        let output = command.args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What tmux knows of the terminal.
    pub fn knows(&self, format: &str) -> String {
        let said = self.tmux(&["display-message", "-p", format]);
        said.trim_end_matches('\n').to_owned()
    }

    /// Presses these keys, by their names.
    pub fn keys(&self, keys: &[&str]) -> &Self {
        self.tmux(&[&["send-keys"], keys].concat());
        self
    }

    /// Types this as it is.
    pub fn types(&self, text: &str) -> &Self {
        self.tmux(&["send-keys", "-l", "--", text]);
        self
    }

    /// Has the shell do this.
    pub fn runs(&self, command: &str) -> &Self {
        self.types(command).keys(&["Enter"])
    }

    /// Makes the window as large as this.
    pub fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Keeps all that is written to the terminal from now on; the file that has it.
    pub fn keeps_what_is_written(&self) -> PathBuf {
        let path = self.world.outside().join("written");
        self.tmux(&["pipe-pane", &format!("cat > '{}'", path.display())]);
        self.until("it is kept", |_| path.exists());
        path
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows this; the screen.
    pub fn until(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + patience();
        loop {
            let screen = self.screen();
            if shows(&screen) {
                return screen;
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain until {what}:\n{screen}"
            );
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Waits until these words are on the screen; the screen.
    pub fn shows(&self, words: &str) -> String {
        self.until(words, |screen| screen.contains(words))
    }

    /// Waits until the screen stays as it is for a moment; the screen.
    pub fn rests(&self) -> String {
        let last = RefCell::new(self.screen());
        self.until("it rests", |_| {
            thread::sleep(Duration::from_millis(100));
            let screen = self.screen();
            screen == last.replace(screen.clone())
        });
        last.into_inner()
    }

    /// Opens the cockpit. When it ends, the shell says how.
    pub fn cockpit(&self) {
        self.runs("flagpost cockpit; echo \"it ended with $?\"");
        self.shows("1:Fleet");
        self.looks();
    }

    /// The same where no shell sees it stop.
    pub fn cockpit_of_a_script(&self) {
        self.runs("bash -c 'flagpost cockpit; echo \"it ended with $?\"'");
        self.shows("1:Fleet");
        self.looks();
    }

    /// Waits until the cockpit has ended; its exit code.
    pub fn ended(&self) -> u8 {
        let code = |screen: &str| {
            let mut lines = screen.lines();
            lines.find_map(|line| line.strip_prefix("it ended with ")?.trim().parse().ok())
        };
        code(&self.until("it has ended", |screen| code(screen).is_some())).unwrap_or_default()
    }

    /// Looks at the screen for as long as a selection that moved takes no decision.
    pub fn looks(&self) {
        thread::sleep(GUARD);
    }

    /// The cockpit's process.
    pub fn pid(&self) -> u32 {
        let found = self.cockpits();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]
    }

    /// The processes of cockpits in this world.
    pub fn cockpits(&self) -> Vec<u32> {
        let home = format!("FLAGPOST_HOME={}", self.world.home().display());
        let mut found = with_in_environment(&home);
        found.retain(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.starts_with(b"flagpost\0cockpit\0")
        });
        found
    }

    /// Keeps how the shell finds the terminal, for [`Terminal::assert_as_before`].
    pub fn keeps_its_settings(&self) {
        self.settings_to("before");
    }

    /// The shell has the terminal again as it was: on its own screen, with a cursor, no mouse, lines and
    /// echo.
    pub fn assert_as_before(&self) {
        self.until("the shell has its screen and cursor", |_| {
            self.knows("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "0 1 0"
        });
        self.runs("echo still$((20+22))");
        let screen = self.shows("still42");
        assert!(screen.contains("echo still$((20+22))"), "{screen}");
        assert_eq!(self.settings_to("after"), self.settings_to("before"));
    }

    fn settings_to(&self, name: &str) -> String {
        let path = self.world.outside().join(name);
        if !path.exists() {
            self.runs(&format!("stty -a > {}", path.display()));
            self.until(name, |_| {
                fs::read(&path).is_ok_and(|it| it.ends_with(b"\n"))
            });
        }
        fs::read_to_string(&path).unwrap()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let left = self.cockpits();
        self.tmux(&["kill-server"]);
        for pid in left {
            kill(pid, Signal::KILL);
        }
    }
}
