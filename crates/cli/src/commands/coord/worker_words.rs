//! Who acts at the table, and on what.
//!
//! Owns the second way to say so: other programs of the format put the worker's name before all else,
//! as in `worker complete terminal-2 task-001`. A word that is a known worker's name and no task's is
//! one, where nobody is named by `--as`.

use flagpost_core::coordination::Directory;
use flagpost_model::WorkerId;

use super::CoordContext;
use crate::error::usage;

/// What the words of a worker's verb say.
#[derive(Debug)]
pub struct WorkerWords<'a, const N: usize> {
    /// Who acts.
    pub actor: WorkerId,
    /// The words after its name.
    pub rest: [Option<&'a str>; N],
}

/// Reads them; there may be `N` beside the worker's name.
pub fn read<'a, const N: usize>(
    place: &CoordContext<'_>,
    directory: &Directory<'_>,
    given: &[Option<&'a str>],
) -> anyhow::Result<WorkerWords<'a, N>> {
    let mut words: Vec<&str> = given.iter().copied().flatten().collect();
    let named = match words.first() {
        Some(first) if !place.context.names_actor() => named(directory, first)?,
        _ => None,
    };
    let actor = match named {
        Some(name) => {
            words.remove(0);
            place.context.settings.speaker(Some(name.as_str()))?.name
        }
        None => place.context.actor()?,
    };
    if let Some(more) = words.get(N) {
        return Err(usage(format!("{more:?} is one word too many")));
    }
    let mut words = words.into_iter();
    let rest = std::array::from_fn(|_| words.next());
    Ok(WorkerWords { actor, rest })
}

fn named(directory: &Directory<'_>, word: &str) -> anyhow::Result<Option<WorkerId>> {
    let Ok(name) = word.parse::<WorkerId>() else {
        return Ok(None);
    };
    let board = directory.look()?.board;
    let is_task = board.tasks.iter().any(|it| it.id.as_str() == word);
    Ok((!is_task && board.agent(word).is_some()).then_some(name))
}
