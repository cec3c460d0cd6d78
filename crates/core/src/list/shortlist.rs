//! The ready tasks that one claimer found, handed on to those who queue behind it.
//!
//! Owns `.shortlist`: the number of the last look at the whole list that somebody began, and the
//! first tasks that it found, in claim order. Both are read and written under the list's lock, but
//! for the number, which a claimer reads when it asks. Invariant: a claimer uses only what a look
//! found that began after it asked, so that nothing it could know of is missed. A hint, worth
//! nothing after a crash; it must never be the reason that a task is given out or refused.

use flagpost_disk::dialects::claude_tasks::SHORTLIST;
use flagpost_model::TaskId;

use super::List;
use crate::error::Result;

/// More than are handed on, and more than are likely to be refused to the one who looks.
pub(crate) const MOST: usize = 256;

/// Its file has always this size: one that keeps its size costs no sync anything.
const BYTES: usize = 1 << 10;

/// The number of a look at the whole list. It grows with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Look(u64);

impl Look {
    /// Before the first.
    pub(crate) const NONE: Self = Self(0);
}

/// What a look found.
#[derive(Debug)]
pub(crate) struct Shortlist<'l> {
    list: &'l List<'l>,
    /// None where nobody can be told.
    look: Option<Look>,
    ready: Vec<TaskId>,
}

impl<'l> Shortlist<'l> {
    /// The last look that had begun by now; to be asked before the lock is queued for.
    pub(crate) fn asked(list: &List<'_>) -> Look {
        read(list).map_or(Look::NONE, |(look, _)| look)
    }

    /// What somebody found who began to look after `asked`, as far as it is not gone since. Under
    /// the list's lock.
    pub(crate) fn found_since(asked: Look, list: &'l List<'l>) -> Option<Self> {
        let (look, ready) = read(list)?;
        (look > asked && !ready.is_empty()).then_some(Self {
            list,
            look: Some(look),
            ready,
        })
    }

    /// Looks at the whole list. Under its lock.
    pub(crate) fn find(
        list: &'l List<'l>,
        look_at: impl FnOnce() -> Result<Vec<TaskId>>,
    ) -> Result<Self> {
        let next = Look(Self::asked(list).0.saturating_add(1));
        // Who asks from here on must not take this look for a later one.
        let look = write(list, next, &[]).then_some(next);
        let ready = look_at()?;
        Ok(Self { list, look, ready })
    }

    /// What was found where nobody else is told.
    pub(crate) fn untold(list: &'l List<'l>, ready: Vec<TaskId>) -> Self {
        let look = None;
        Self { list, look, ready }
    }

    /// The tasks, in claim order.
    pub(crate) fn ready(&self) -> &[TaskId] {
        &self.ready
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Leaves the tasks from that place on to the next in the queue. Those before it were refused.
    pub(crate) fn hand_on_from(&self, at: usize) {
        if let Some(look) = self.look {
            // Where it fails the next one is refused what this one was.
            let _: bool = write(self.list, look, self.ready.get(at..).unwrap_or_default());
        }
    }
}

fn read(list: &List<'_>) -> Option<(Look, Vec<TaskId>)> {
    let fs = list.home.fs();
    let bytes = fs.read(&list.path(SHORTLIST), 0, BYTES as u64).ok()?;
    if bytes.len() != BYTES {
        return None;
    }
    let (number, ready) = std::str::from_utf8(&bytes).ok()?.split_once('\n')?;
    let look = Look(number.parse().ok()?);
    let ready = ready.split_whitespace().map(|id| id.parse().ok());
    Some((look, ready.collect::<Option<_>>()?))
}

/// Whether it was written. What has no room is left out.
fn write(list: &List<'_>, look: Look, ready: &[TaskId]) -> bool {
    let mut text = format!("{:020}\n", look.0);
    for id in ready {
        if text.len() + id.as_str().len() + 1 > BYTES {
            break;
        }
        text.push_str(id.as_str());
        text.push(' ');
    }
    let text = format!("{text:BYTES$}");
    let path = list.path(SHORTLIST);
    list.home.fs().overwrite(&path, text.as_bytes()).is_ok()
}
