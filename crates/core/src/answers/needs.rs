//! What needs a person, as every face answers it.

use flagpost_model::{TaskId, notification::NoticeKind, view};
use jiff::Timestamp;

use super::each;
use crate::needs::{Need, Needs};

view! {
    /// What needs a person: one list, the same on every face.
    ///
    /// After 'flagpost inbox', from GET /v1/needs, and in 'flagpost status'.
    #[derive(Default)]
    pub struct NeedsAnswer<'a> from it: &'a Needs {
        /// How many there are.
        total: usize = it.all.len(),
        /// One each: what waits for a decision first, and of one kind what has waited longest.
        needs: Vec<NeedAnswer<'a>> = each(&it.all),
        /// What could not be read, in words: more may need a person.
        unread: &'a [String] = &it.faults,
    }

    /// Something that needs a person.
    pub struct NeedAnswer<'a> from it: &'a Need {
        /// Why it needs one.
        kind: NoticeKind = it.item.key.kind,
        /// Its name, as in W1/inbox/0003.
        item: &'a str = &it.item.key.item,
        /// The repository that it belongs to, by name; null where it belongs to none.
        repo: Option<&'a str> = it.item.key.repo.as_deref(),
        /// The task that it is about; null where it is about none.
        task: Option<&'a TaskId> = it.about.task().map(|(_, task)| task),
        /// What there is to say of it, in a line, which an agent may have written.
        line: &'a str = &it.line,
        /// Since when, where that is known; of an account, until when it rests.
        at: Option<Timestamp> = it.item.key.at,
        /// The command that settles it; null where there is nothing to do but wait.
        settle_with: Option<&'a str> = it.settle_with.as_deref(),
        /// Its page, below the daemon's address; null where it has none.
        page: Option<&'a str> = it.item.page.as_deref(),
    }
}
