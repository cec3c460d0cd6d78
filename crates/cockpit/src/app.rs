//! What the cockpit shows and how far a person is in it: plain data.
//!
//! Owns the state that keys and events change: which screen, what is selected, what was shown, what is
//! asked. Invariants: a selection stays on its item for as long as that is there; what counts as shown
//! was drawn with its end in sight. It does no I/O.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use flagpost_model::TaskId;
use jiff::{Timestamp, tz::TimeZone};

use crate::{
    event::WakeSource,
    input::LineInput,
    keys::{Context, Keymap},
    landing::LandingPage,
    log::LogView,
    prompt::Prompt,
    review::ReviewPage,
    snapshot::{Interest, Lane, Snapshot, WaitingBrief, WaitingItem, WaitingPermission},
    tab::Tab,
    text::{self, LineKind},
    theme::Theme,
    thread::Thread,
};

/// A list with a selected row.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The rows by their place in the snapshot, as the filter leaves them.
    pub rows: Vec<usize>,
    /// Which of the rows is selected.
    pub at: usize,
    /// What the selected row is called.
    pub key: Option<String>,
    /// What the rows are filtered by.
    pub filter: String,
    /// Why the filter cannot be understood.
    pub fault: Option<String>,
    /// Marked rows by name, in the order in which they were marked.
    pub marks: Vec<String>,
}

/// A page over the screen.
#[derive(Debug)]
pub enum Page {
    /// A task in full, once it is read.
    Task {
        /// Which.
        id: TaskId,
        /// Its text.
        text: Option<String>,
        /// How far it is scrolled.
        top: usize,
    },
    /// What an agent prints.
    Log(LogView),
    /// What is to land.
    Landing(LandingPage),
    /// The work of a task.
    Review(ReviewPage),
    /// The keys of the screen below, narrowed by typing.
    Help {
        /// What narrows them.
        line: LineInput,
        /// How far it is scrolled.
        top: usize,
    },
    /// What I did.
    Journal {
        /// How far it is scrolled.
        top: usize,
    },
    /// A text: an answer, a difference.
    Text {
        /// Its heading.
        title: String,
        /// Its lines, with what each is.
        lines: Vec<(LineKind, String)>,
        /// How far it is scrolled.
        top: usize,
    },
}

/// A message at the bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    /// Since when.
    pub at: Duration,
    /// An error stays until a key.
    pub is_error: bool,
    /// The words.
    pub text: String,
}

/// So long a toast is shown.
pub const TOAST: Duration = Duration::from_secs(4);

/// A brief and the envelope that it had, or a request and all that was shown of it.
pub type ItemMark = (String, String);

/// All of it.
#[derive(Debug)]
pub struct App {
    /// Colours and signs.
    pub theme: Theme,
    /// Which key asks for what.
    pub keymap: Keymap,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The time of day, as of the last tick of the clock or event.
    pub now: Timestamp,
    /// Where that is.
    pub zone: TimeZone,
    /// Who acts: what they do is told as the answer to it.
    pub me: String,
    /// Whether moments are shown in full.
    pub absolute: bool,
    /// What is known.
    pub data: Arc<Snapshot>,
    /// Since when nothing could be read, and why.
    pub stale: Option<String>,
    /// How changes are learned of.
    pub source: WakeSource,
    /// Which screen.
    pub tab: Tab,
    /// A list for each screen.
    pub lists: [Selection; 6],
    /// The column of the board.
    pub lane: Lane,
    /// The session that is looked at; none is the one that runs, else the last.
    pub session: Option<String>,
    /// The task whose words stand beside the list, and what they are.
    pub preview: (Option<TaskId>, String),
    /// Whether these were asked for since the files changed.
    pub(crate) is_preview_fresh: bool,
    /// The main pane alone.
    pub zoom: bool,
    /// How far the main pane is scrolled.
    pub scroll: usize,
    /// Pages over the screen, the last on top.
    pub pages: Vec<Page>,
    /// What is asked at the bottom.
    pub prompt: Option<Prompt>,
    /// Messages at the bottom.
    pub toasts: Vec<Toast>,
    /// What I did, as commands.
    pub journal: Vec<String>,
    /// The conversations of the mail.
    pub threads: Vec<Thread>,
    /// The selected item of the inbox, in lines of the main pane's width.
    pub body: Vec<String>,
    /// The width that these have.
    pub(crate) body_of: (String, usize),
    /// Briefs whose end has been on the screen.
    pub shown: BTreeSet<ItemMark>,
    /// What a brief said when a decision on it came too late.
    pub before: BTreeMap<String, String>,
    /// When the selection last moved by itself.
    pub moved: Option<Duration>,
    /// Acts that go on.
    pub busy: usize,
    /// Whether the terminal is in front, where it says so.
    pub focus: Option<bool>,
    /// It is over.
    pub is_over: bool,
    /// Whether the first snapshot has come.
    pub(crate) is_begun: bool,
}

impl App {
    /// Nothing known yet.
    pub fn new(theme: Theme, keymap: Keymap, now: Timestamp, zone: TimeZone) -> Self {
        Self {
            theme,
            keymap,
            size: (80, 24),
            now,
            zone,
            me: String::new(),
            absolute: false,
            data: Arc::default(),
            stale: None,
            source: WakeSource::Files,
            tab: Tab::Fleet,
            lists: Default::default(),
            lane: Lane::Ready,
            session: None,
            preview: Default::default(),
            is_preview_fresh: false,
            zoom: false,
            scroll: 0,
            pages: Vec::new(),
            prompt: None,
            toasts: Vec::new(),
            journal: Vec::new(),
            threads: Vec::new(),
            body: Vec::new(),
            body_of: Default::default(),
            shown: BTreeSet::new(),
            before: BTreeMap::new(),
            moved: None,
            busy: 0,
            focus: None,
            is_over: false,
            is_begun: false,
        }
    }

    /// The list of the screen.
    pub fn list(&self) -> &Selection {
        &self.lists[self.tab as usize]
    }

    /// The same, to change it.
    pub fn list_mut(&mut self) -> &mut Selection {
        &mut self.lists[self.tab as usize]
    }

    /// Where keys go, unless something is asked.
    pub fn context(&self) -> Context {
        match self.pages.last() {
            None => Context::Tab(self.tab),
            Some(Page::Task { .. }) => Context::Task,
            Some(Page::Log(_)) => Context::Log,
            Some(Page::Landing(_)) => Context::Landing,
            Some(Page::Review(_)) => Context::Review,
            Some(Page::Help { .. } | Page::Journal { .. } | Page::Text { .. }) => Context::Text,
        }
    }

    /// The selected item of the inbox.
    pub fn waiting(&self) -> Option<&WaitingItem> {
        let list = &self.lists[Tab::Inbox as usize];
        self.data.waiting.get(*list.rows.get(list.at)?)
    }

    /// The task that is selected on this screen, or has its page open.
    pub fn selected_task(&self) -> Option<TaskId> {
        match self.pages.last() {
            Some(Page::Task { id, .. }) => return Some(id.clone()),
            Some(Page::Log(log)) => return Some(log.task.clone()),
            Some(Page::Review(page)) => return Some(page.task.clone()),
            Some(Page::Landing(page)) => return page.selected(),
            _ => {}
        }
        let row = *self.list().rows.get(self.list().at)?;
        match self.tab {
            Tab::Board | Tab::Tasks => self.data.tasks.get(row).map(|task| task.id.clone()),
            Tab::Fleet => {
                let worker = self.data.workers.get(row)?.worker.id.as_str();
                self.data.held_by(worker).next().map(|task| task.id.clone())
            }
            Tab::Inbox => match self.data.waiting.get(row)? {
                WaitingItem::Question(it) => Some(it.task.clone()),
                WaitingItem::Other(it) => it.task.clone(),
                WaitingItem::Permission(_) | WaitingItem::Brief(_) => None,
            },
            Tab::Run => self.key_of(Tab::Run, row).parse().ok(),
            Tab::Mail => None,
        }
    }

    /// The tasks that a command is about: the marked ones, else the selected one.
    pub fn chosen_tasks(&self) -> Vec<TaskId> {
        let marks = &self.list().marks;
        if self.pages.is_empty() && !marks.is_empty() {
            return marks.iter().filter_map(|it| it.parse().ok()).collect();
        }
        self.selected_task().into_iter().collect()
    }

    /// What the open screen reads beside the rest.
    pub fn interest(&self) -> Interest {
        Interest {
            timeline: self.tab == Tab::Run,
            session: self.session.clone().filter(|_| self.tab == Tab::Run),
            mail: self.tab == Tab::Mail,
        }
    }

    /// The brief that the inbox shows.
    pub fn shown_brief(&self) -> Option<&WaitingBrief> {
        match self.waiting()? {
            WaitingItem::Brief(brief) if self.tab == Tab::Inbox => Some(brief),
            _ => None,
        }
    }

    /// Whether the end of the brief's words, as they are now, has been on the screen.
    pub fn has_shown(&self, brief: &WaitingBrief) -> bool {
        self.shown.contains(&mark_of(brief))
    }

    /// The same of a request.
    pub fn has_shown_request(&self, request: &WaitingPermission) -> bool {
        self.shown.contains(&mark_of_request(request))
    }

    /// A message at the bottom.
    pub fn toast(&mut self, at: Duration, text: impl Into<String>) {
        self.push_toast(at, false, text.into());
    }

    /// The same of what went wrong.
    pub fn complain(&mut self, at: Duration, text: impl Into<String>) {
        self.push_toast(at, true, text.into());
    }

    fn push_toast(&mut self, at: Duration, is_error: bool, text: String) {
        let text = text::line(&text).into_owned();
        self.toasts.push(Toast { at, is_error, text });
    }

    /// Whether something is on the screen that goes by itself.
    pub fn fades(&self) -> bool {
        self.toasts.iter().any(|it| !it.is_error)
    }
}

/// What an item that is decided on is recognised by; none of one that no decision settles.
pub(crate) fn mark_of_item(item: &WaitingItem) -> Option<ItemMark> {
    match item {
        WaitingItem::Permission(request) => Some(mark_of_request(request)),
        WaitingItem::Brief(brief) => Some(mark_of(brief)),
        WaitingItem::Question(_) | WaitingItem::Other(_) => None,
    }
}

fn mark_of(brief: &WaitingBrief) -> ItemMark {
    let key = format!("{}/{}", brief.worker, brief.seq.get());
    (key, brief.envelope.clone())
}

/// Another worker that asks for the same makes of it another thing to decide on.
fn mark_of_request(request: &WaitingPermission) -> ItemMark {
    (format!("request {}", request.request), request.body.clone())
}
