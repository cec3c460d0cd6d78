//! What of an item's words has been on the screen.
//!
//! Owns when a brief, or a request, counts as shown: once its end was drawn, in a pane that is wide enough to be read.

use super::{body_rows, body_width, shows_question};
use crate::{
    app::{App, mark_of_item},
    snapshot::WaitingItem,
    tab::Tab,
    text,
};

/// In a pane of fewer columns nothing counts as read: it does not even say where the end of a body is.
const READABLE: usize = 20;

impl App {
    /// Notes what was on the screen. To be called once the screen was drawn, and only then.
    pub fn drawn(&mut self) {
        let is_whole = shows_question(self);
        if let Some(prompt) = &mut self.prompt {
            prompt.is_drawn = is_whole;
        }
        let rows = body_rows(self);
        let is_seen = rows > 0
            && body_width(self) >= READABLE
            && self.pages.is_empty()
            && self.prompt.is_none()
            && self.scroll + rows >= self.body.len();
        let is_current = |item: &WaitingItem| self.body_of.0 == body_key(item);
        let item = self.waiting().filter(|it| is_seen && is_current(it));
        let mark = item
            .filter(|_| self.tab == Tab::Inbox)
            .and_then(mark_of_item);
        self.shown.extend(mark);
    }

    /// Has the main pane's lines made again, where what they are of or their width changed.
    pub(crate) fn refresh_body(&mut self) {
        let width = body_width(self);
        let Some(item) = self.waiting() else {
            self.body.clear();
            self.body_of = Default::default();
            return;
        };
        let of = (body_key(item), width);
        if of == self.body_of {
            return;
        }
        let body = text::wrapped(item.text(), width);
        if of.0 != self.body_of.0 {
            self.scroll = 0;
        }
        (self.body, self.body_of) = (body, of);
    }
}

/// An item and its words: another text is another body.
fn body_key(item: &WaitingItem) -> String {
    match item {
        WaitingItem::Permission(it) => format!("{} {}", item.key(), it.body),
        WaitingItem::Brief(it) => format!("{} {}", item.key(), it.envelope),
        WaitingItem::Question(it) => format!("{} {}", item.key(), it.said),
        WaitingItem::Other(it) => format!("{} {}", item.key(), it.line),
    }
}
