//! The keys, and what each does on which screen.
//!
//! Owns the one table that decides what a key means; help, hints and `[keys]` of config.toml read it too.
//! Invariant: on one screen a key has one meaning. It knows no state: whether a command can be carried out
//! now is for [`crate::update`] to say.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tab::Tab;

/// Where a command can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// A screen.
    Tab(Tab),
    /// A task's page.
    Task,
    /// What an agent prints.
    Log,
    /// What is to land.
    Landing,
    /// The work of a task.
    Review,
    /// Help, journal, an answer: text and nothing else.
    Text,
    /// A line that is typed.
    Line,
    /// A question that yes or no answers, or a letter.
    Question,
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Tab(Tab::Fleet),
        Self::Tab(Tab::Board),
        Self::Tab(Tab::Tasks),
        Self::Tab(Tab::Inbox),
        Self::Tab(Tab::Run),
        Self::Tab(Tab::Mail),
        Self::Task,
        Self::Log,
        Self::Landing,
        Self::Review,
        Self::Text,
        Self::Line,
        Self::Question,
    ];

    /// Whether something is asked there, which takes all keys.
    fn is_asked(self) -> bool {
        matches!(self, Self::Line | Self::Question)
    }
}

/// On which screens a command can be given.
#[derive(Debug, Clone, Copy)]
enum On {
    /// On every screen and page, and in no question.
    Everywhere,
    Only(&'static [Context]),
}

/// The screens with tasks.
const TASKS: On = On::Only(&[
    Context::Tab(Tab::Board),
    Context::Tab(Tab::Tasks),
    Context::Task,
]);
/// The screens with a list.
const LISTS: On = On::Only(&[
    Context::Tab(Tab::Fleet),
    Context::Tab(Tab::Board),
    Context::Tab(Tab::Tasks),
    Context::Tab(Tab::Inbox),
    Context::Tab(Tab::Run),
    Context::Tab(Tab::Mail),
]);
const INBOX: On = On::Only(&[Context::Tab(Tab::Inbox)]);
const RUN: On = On::Only(&[Context::Tab(Tab::Run)]);
const LOG: On = On::Only(&[Context::Log]);
const BOARD: On = On::Only(&[Context::Tab(Tab::Board)]);
/// Where a task with an agent's output can be chosen, and `l` is free.
const OUTPUT: On = On::Only(&[
    Context::Tab(Tab::Fleet),
    Context::Tab(Tab::Tasks),
    Context::Tab(Tab::Run),
    Context::Task,
]);
/// Where `y` decides nothing.
const COPIES: On = On::Only(&[
    Context::Tab(Tab::Fleet),
    Context::Tab(Tab::Board),
    Context::Tab(Tab::Tasks),
    Context::Tab(Tab::Run),
    Context::Tab(Tab::Mail),
    Context::Task,
    Context::Log,
    Context::Landing,
    Context::Text,
]);
/// Where something can be opened.
const OPENS: On = On::Only(&[
    Context::Tab(Tab::Fleet),
    Context::Tab(Tab::Board),
    Context::Tab(Tab::Tasks),
    Context::Tab(Tab::Inbox),
    Context::Tab(Tab::Run),
    Context::Tab(Tab::Mail),
    Context::Landing,
    Context::Review,
]);
const REVIEW: On = On::Only(&[Context::Review]);
/// Where a task with work can be chosen.
const WORK: On = On::Only(&[
    Context::Tab(Tab::Board),
    Context::Tab(Tab::Tasks),
    Context::Tab(Tab::Inbox),
    Context::Tab(Tab::Run),
    Context::Task,
    Context::Landing,
]);

const LINE: On = On::Only(&[Context::Line]);

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $name:literal [$($key:literal),*] $on:expr, $about:literal;)+) => {
        /// Something that a key asks for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum KeyCommand { $($(#[$doc])* $variant),+ }

        impl KeyCommand {
            /// All of them, in the order in which help shows them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// What it is called in `[keys]`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What it does, in a few words.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }

            fn defaults(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($key),*]),+ }
            }

            fn on(self) -> On {
                match self { $(Self::$variant => $on),+ }
            }
        }
    };
}

commands! {
    /// Let a brief through.
    Ratify = "ratify" ["y"] INBOX, "approve the brief, allow what is asked";
    /// Reject it.
    Reject = "reject" ["n"] INBOX, "reject or deny it, with a reason";
    /// Allow it and its like from now on.
    Always = "always" ["a"] INBOX, "allow what is asked from now on, by a rule";
    /// Rewrite it.
    Edit = "edit" ["e"] INBOX, "edit it in $EDITOR";
    /// Let all through that were read.
    RatifyAll = "ratify-all" ["Y"] INBOX, "approve the listed briefs that you have read";
    /// Show the work of a task.
    Review = "review" ["D"] WORK, "what the task changes, to approve or return it";
    /// Approve it.
    Approve = "approve" ["y"] REVIEW, "approve this commit: it may land";
    /// Return it.
    Return = "return" ["n"] REVIEW, "return it, with words and the remarks";
    /// Remark on a line.
    Remark = "remark" ["c"] REVIEW, "remark on the line";
    /// Land it.
    Land = "land" ["L"] On::Only(&[Context::Landing, Context::Review]), "land it; on the page of what is to land, all that can";
    /// Answer a question.
    Answer = "answer" ["A"] On::Only(&[Context::Tab(Tab::Inbox), Context::Tab(Tab::Board), Context::Tab(Tab::Tasks), Context::Task]), "answer the question";
    /// Claim a task.
    Claim = "claim" ["c"] TASKS, "claim";
    /// Complete it.
    Done = "done" ["d"] TASKS, "done, with a word about it";
    /// Give it back.
    Release = "release" ["r"] TASKS, "release";
    /// Change its state.
    Move = "move" ["m"] TASKS, "move to another state";
    /// Give it to a worker.
    Assign = "assign" ["a"] On::Only(&[Context::Tab(Tab::Fleet), Context::Tab(Tab::Board), Context::Tab(Tab::Tasks), Context::Task]), "assign to a worker";
    /// Show what its agent prints.
    Log = "log" ["l"] OUTPUT, "what the agent prints";
    /// The same where the letter has another use.
    LogHere = "log-here" ["L"] BOARD, "what the agent prints";
    /// Take back the last change.
    Undo = "undo" ["u"] LISTS, "undo my last change";
    /// Stop the run.
    Stop = "stop" ["S"] On::Only(&[Context::Tab(Tab::Run), Context::Tab(Tab::Fleet)]), "stop the run";
    /// Mark a row.
    Mark = "mark" ["space", "x"] LISTS, "mark";
    /// Mark from the last mark to here.
    Range = "range" ["v"] LISTS, "mark from the last mark to here";
    /// Open what is selected.
    Open = "open" ["enter"] OPENS, "open";
    /// Go back, or end a filter.
    Back = "back" ["esc"] On::Everywhere, "back; ends a filter";
    /// Filter.
    Filter = "filter" ["/"] On::Everywhere, "filter; ! in front inverts it";
    /// The next hit.
    NextHit = "next-hit" ["n"] LOG, "next hit";
    /// The one before.
    PreviousHit = "previous-hit" ["N"] LOG, "previous hit";
    /// Follow what is printed.
    Follow = "follow" ["f"] LOG, "follow";
    /// Wrap lines.
    Wrap = "wrap" ["w"] LOG, "wrap long lines";
    /// Show moments in full.
    Times = "times" ["t"] On::Everywhere, "times: relative or absolute";
    /// The palette.
    Palette = "palette" ["ctrl-p", ":"] On::Everywhere, "palette of commands";
    /// Down.
    Down = "down" ["j", "down"] On::Everywhere, "down";
    /// Up.
    Up = "up" ["k", "up"] On::Everywhere, "up";
    /// The column on the left.
    Left = "left" ["h", "left"] BOARD, "column on the left";
    /// The column on the right.
    Right = "right" ["l", "right"] BOARD, "column on the right";
    /// To the first.
    First = "first" ["g", "<", "home"] On::Everywhere, "to the first";
    /// To the last.
    Last = "last" ["G", ">", "end"] On::Everywhere, "to the last";
    /// Half a page down.
    HalfDown = "half-down" ["ctrl-d"] On::Everywhere, "half a page down";
    /// Half a page up.
    HalfUp = "half-up" ["ctrl-u"] On::Everywhere, "half a page up";
    /// Scroll the main pane down.
    ScrollDown = "scroll-down" ["J", "pgdn"] On::Everywhere, "scroll the main pane down";
    /// Scroll the main pane up.
    ScrollUp = "scroll-up" ["K", "pgup"] On::Everywhere, "scroll the main pane up";
    /// To the end of the main pane.
    ScrollEnd = "scroll-end" ["E"] INBOX, "to the end of the body";
    /// Zoom the main pane.
    Zoom = "zoom" ["+", "_"] LISTS, "main pane alone, or beside the list";
    /// Copy.
    Copy = "copy" ["ctrl-o"] On::Everywhere, "copy what is selected";
    /// The same where the letter decides nothing.
    CopyHere = "copy-here" ["y"] COPIES, "copy what is selected";
    /// The workers.
    Fleet = "fleet" ["1"] On::Everywhere, "Fleet";
    /// The lanes.
    Board = "board" ["2"] On::Everywhere, "Board";
    /// The list.
    Tasks = "tasks" ["3"] On::Everywhere, "Tasks";
    /// What waits.
    Inbox = "inbox" ["4"] On::Everywhere, "Inbox";
    /// The session.
    Run = "run" ["5"] On::Everywhere, "Run";
    /// Messages.
    Mail = "mail" ["6"] On::Everywhere, "Mail";
    /// The session before the one on the screen.
    EarlierRun = "earlier-run" ["("] RUN, "the run before";
    /// The one after it.
    LaterRun = "later-run" [")"] RUN, "the run after";
    /// The next screen.
    NextTab = "next-screen" ["tab", "]"] On::Everywhere, "next screen";
    /// The one before.
    PreviousTab = "previous-screen" ["shift-tab", "["] On::Everywhere, "previous screen";
    /// What is to land.
    Landing = "landing" ["7"] On::Everywhere, "what is to land, and what has landed";
    /// What I did.
    Journal = "journal" ["@"] On::Everywhere, "what I did, as commands";
    /// The keys.
    Help = "help" ["?"] On::Everywhere, "keys of this screen";
    /// Read everything again.
    Reread = "reread" ["R"] On::Everywhere, "read everything again";
    /// To the shell and back.
    Suspend = "suspend" ["ctrl-z"] On::Everywhere, "suspend";
    /// Leave.
    Quit = "quit" ["q", "ctrl-c"] On::Everywhere, "quit";
    /// Do what is asked.
    Yes = "yes" ["y"] On::Only(&[Context::Question]), "yes; any other key is no";
    /// Take the line.
    Accept = "accept" ["enter"] LINE, "take what is typed";
    /// Complete the line.
    Complete = "complete" ["tab"] LINE, "complete, in the palette";
    /// The choice below.
    NextChoice = "next-choice" ["down", "ctrl-n"] LINE, "next choice, in the palette";
    /// The choice above.
    PreviousChoice = "previous-choice" ["up", "ctrl-p"] LINE, "previous choice, in the palette";
    /// Take nothing.
    Cancel = "cancel" ["esc", "ctrl-c"] On::Only(&[Context::Line, Context::Question]), "leave what is asked";
}

impl KeyCommand {
    /// Whether it can be given here.
    pub fn is_on(self, context: Context) -> bool {
        match self.on() {
            On::Everywhere => !context.is_asked(),
            On::Only(contexts) => contexts.contains(&context),
        }
    }
}

/// A key as it is written: `y`, `ctrl-p`, `pgdn`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    /// The key that was pressed; none where it has no name here.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        let name = match event.code {
            KeyCode::Char(' ') => "space".to_owned(),
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::CONTROL) => {
                return Some(Self(format!("ctrl-{}", c.to_ascii_lowercase())));
            }
            KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::ALT) => {
                return Some(Self(format!("alt-{c}")));
            }
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Enter => "enter".to_owned(),
            KeyCode::Esc => "esc".to_owned(),
            KeyCode::Tab => "tab".to_owned(),
            KeyCode::BackTab => "shift-tab".to_owned(),
            KeyCode::Up => "up".to_owned(),
            KeyCode::Down => "down".to_owned(),
            KeyCode::Left => "left".to_owned(),
            KeyCode::Right => "right".to_owned(),
            KeyCode::Home => "home".to_owned(),
            KeyCode::End => "end".to_owned(),
            KeyCode::PageUp => "pgup".to_owned(),
            KeyCode::PageDown => "pgdn".to_owned(),
            KeyCode::F(n) => format!("f{n}"),
            _ => return None,
        };
        Some(Self(name))
    }
}

impl KeyName {
    /// Whether it stands for a character.
    fn is_typed(&self) -> bool {
        self.0 == "space" || self.0.chars().count() == 1
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a person's own keys cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysRefusal {
    /// Nothing is called this.
    #[error("keys.{0}: the cockpit has no command of this name; '?' in it shows them all")]
    Unknown(String),
    /// This is no key.
    #[error("keys.{command}: {key:?} is no key; say one as in y, ctrl-p, space, enter, pgdn or f5")]
    NoKey {
        /// Of which command.
        command: &'static str,
        /// What was written.
        key: String,
    },
    /// It is typed where the command can be given.
    #[error(
        "keys.{command}: {key} is typed in a line; say a key that types nothing, as in ctrl-j or f5"
    )]
    Typed {
        /// Of which command.
        command: &'static str,
        /// The key.
        key: String,
    },
    /// A key has two meanings on one screen.
    #[error(
        "keys: {key} means both {first} and {second} on one screen; give one of them another key"
    )]
    Twice {
        /// The key.
        key: String,
        /// One command.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

/// Which key asks for what.
#[derive(Debug, Clone)]
pub struct Keymap(Vec<(KeyCommand, Vec<KeyName>)>);

impl Default for Keymap {
    fn default() -> Self {
        let names = |it: &[&str]| it.iter().map(|key| KeyName((*key).to_owned())).collect();
        let all = KeyCommand::ALL.iter();
        Self(all.map(|it| (*it, names(it.defaults()))).collect())
    }
}

impl Keymap {
    /// The usual keys, but for those of a person's own: a command's name and its keys, in words.
    pub fn with<'k>(
        own: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<Self, KeysRefusal> {
        let mut map = Self::default();
        for (name, keys) in own {
            let of_name = |(command, _): &&mut (KeyCommand, _)| command.name() == name;
            let found = map.0.iter_mut().find(of_name);
            let (command, bound) = found.ok_or_else(|| KeysRefusal::Unknown(name.to_owned()))?;
            let mut read = Vec::new();
            for key in keys.split_whitespace() {
                match is_key(key) {
                    true => read.push(KeyName(key.to_owned())),
                    false => {
                        return Err(KeysRefusal::NoKey {
                            command: command.name(),
                            key: key.to_owned(),
                        });
                    }
                }
            }
            let is_line = command.is_on(Context::Line);
            if let Some(key) = read.iter().find(|key| is_line && key.is_typed()) {
                return Err(KeysRefusal::Typed {
                    command: command.name(),
                    key: key.to_string(),
                });
            }
            *bound = read;
        }
        map.must_be_plain()?;
        Ok(map)
    }

    /// What the key asks for here.
    pub fn command(&self, key: &KeyName, context: Context) -> Option<KeyCommand> {
        let means = |(command, keys): &&(KeyCommand, Vec<KeyName>)| {
            command.is_on(context) && keys.contains(key)
        };
        self.0.iter().find(means).map(|(command, _)| *command)
    }

    /// The keys of a command, as they are shown; empty where it has none.
    pub fn shown(&self, command: KeyCommand) -> String {
        let of = |(it, _): &&(KeyCommand, Vec<KeyName>)| *it == command;
        let keys = self.0.iter().find(of).map(|(_, keys)| keys);
        let keys = keys.into_iter().flatten().map(KeyName::to_string);
        keys.collect::<Vec<_>>().join(" ")
    }

    /// The first key of a command.
    pub fn first(&self, command: KeyCommand) -> String {
        let shown = self.shown(command);
        shown.split(' ').next().unwrap_or_default().to_owned()
    }

    /// Refuses two meanings of a key on one screen.
    fn must_be_plain(&self) -> Result<(), KeysRefusal> {
        for (place, (first, keys)) in self.0.iter().enumerate() {
            for (second, others) in &self.0[place + 1..] {
                let meet = |it: &Context| first.is_on(*it) && second.is_on(*it);
                if !Context::ALL.iter().any(meet) {
                    continue;
                }
                if let Some(key) = keys.iter().find(|key| others.contains(key)) {
                    return Err(KeysRefusal::Twice {
                        key: key.to_string(),
                        first: first.name(),
                        second: second.name(),
                    });
                }
            }
        }
        Ok(())
    }
}

fn is_key(text: &str) -> bool {
    const NAMED: [&str; 14] = [
        "space",
        "enter",
        "esc",
        "tab",
        "shift-tab",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pgup",
        "pgdn",
        "backspace",
    ];
    let is_one = |it: &str| it.chars().count() == 1 && !it.contains(char::is_control);
    let number = text.strip_prefix('f').and_then(|it| it.parse::<u8>().ok());
    let modified = ["ctrl-", "alt-"]
        .iter()
        .find_map(|it| text.strip_prefix(it));
    NAMED.contains(&text)
        || is_one(text)
        || modified.is_some_and(is_one)
        || number.is_some_and(|it| (1..=12).contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> KeyName {
        KeyName::of(&KeyEvent::new(code, modifiers)).unwrap()
    }

    #[test]
    fn no_key_means_two_things_on_one_screen() {
        assert_eq!(Keymap::default().must_be_plain(), Ok(()));
    }

    #[test]
    fn y_decides_in_the_inbox_and_copies_elsewhere() {
        let (map, y) = (
            Keymap::default(),
            pressed(KeyCode::Char('y'), KeyModifiers::NONE),
        );
        let inbox = Context::Tab(Tab::Inbox);
        assert_eq!(map.command(&y, inbox), Some(KeyCommand::Ratify));
        assert_eq!(map.command(&y, Context::Log), Some(KeyCommand::CopyHere));
    }

    #[test]
    fn a_persons_own_keys_take_the_place_of_the_usual_ones() {
        let map = Keymap::with([("ratify", "ctrl-y f5")]).unwrap();
        let inbox = Context::Tab(Tab::Inbox);
        let y = pressed(KeyCode::Char('y'), KeyModifiers::NONE);
        assert_eq!(map.command(&y, inbox), None);
        let ctrl_y = pressed(KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(map.command(&ctrl_y, inbox), Some(KeyCommand::Ratify));
        assert_eq!(map.shown(KeyCommand::Ratify), "ctrl-y f5");
    }

    #[test]
    fn keys_that_cannot_be_used_are_refused_by_name() {
        for (own, said) in [
            (
                ("rattify", "y"),
                "keys.rattify: the cockpit has no command of this name",
            ),
            (("ratify", "hyper-y"), "keys.ratify: \"hyper-y\" is no key"),
            (
                ("ratify", "n"),
                "keys: n means both ratify and reject on one screen",
            ),
            (
                ("ratify", "q"),
                "keys: q means both ratify and quit on one screen",
            ),
            (
                ("yes", "esc"),
                "keys: esc means both yes and cancel on one screen",
            ),
            (
                ("accept", "enter j"),
                "keys.accept: j is typed in a line; say a key that types nothing",
            ),
        ] {
            let refusal = Keymap::with([own]).unwrap_err().to_string();
            assert!(refusal.starts_with(said), "{refusal}");
        }
    }
}
