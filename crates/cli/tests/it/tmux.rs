//! A real terminal to look at: a tmux of one test, and what its screen shows.

use std::{ffi::OsStr, process::Command};

use flagpost_testkit::{race::until, sealed::World};

/// A tmux server that ends with the test.
pub struct Tmux<'w>(&'w World);

impl<'w> Tmux<'w> {
    /// The server of this world; it starts with its first session.
    pub fn of(world: &'w World) -> Self {
        Self(world)
    }

    /// A program that finds the server, in the environment of the world.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.0.command_of(program);
        command
            .env("TMUX_TMPDIR", self.0.outside())
            .env("TERM", "xterm");
        command
    }

    fn tmux(&self, args: &[&str]) -> std::process::Output {
        let mut command = self.command("tmux");
        let output = command.args(["-f", "/dev/null"]).args(args).output();
        output.expect("install tmux to run this test")
    }

    /// Whether tmux did it.
    pub fn run(&self, args: &[&str]) -> bool {
        self.tmux(args).status.success()
    }

    /// Begins a window of this size with this in it.
    pub fn open(&self, columns: u16, rows: u16, command: &str) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        let opened = self.tmux(&[&["new-session", "-d"], &size[..], &[command]].concat());
        assert!(opened.status.success(), "{opened:?}");
    }

    /// Makes the window as large as this.
    pub fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        assert!(self.run(&["resize-window", "-x", &columns, "-y", &rows]));
    }

    /// Types these keys.
    pub fn keys(&self, keys: &[&str]) {
        assert!(self.run(&[&["send-keys"], keys].concat()));
    }

    /// What the screen shows, with its styles where that is wanted.
    pub fn screen(&self, styled: bool) -> String {
        let args = ["capture-pane", "-p", "-e"];
        let output = self.tmux(&args[..2 + usize::from(styled)]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether the bell rang.
    pub fn has_rung(&self) -> bool {
        let output = self.tmux(&["display-message", "-p", "#{window_bell_flag}"]);
        output.stdout == b"1\n"
    }

    /// Waits until the screen shows this; the screen.
    pub fn until(&self, what: &str, shows: impl Fn(&str) -> bool) -> String {
        let mut screen = String::new();
        until(what, || {
            screen = self.screen(false);
            shows(&screen)
        });
        screen
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}
