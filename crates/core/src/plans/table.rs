//! Between a coordination directory and a list of Flagpost's.
//!
//! Owns which tasks go, and that one which went before is known again: there by the label that says
//! which task of a list it is, in the list by its uid.

use std::collections::BTreeMap;

use flagpost_disk::dialects::coordination as layout;
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{CoordStatus, CoordTask, from_list, to_list},
    intake::{Drafts, Format, Intake, assemble},
};

use super::export::{ExportScope, export};
use crate::{
    coordination::{Directory, put},
    error::{Error, Result},
    list::List,
};

/// What came into the table.
#[derive(Debug, Clone, Default)]
pub struct Brought {
    /// The new tasks.
    pub added: Vec<TaskId>,
    /// Those that were there already and stay as they are.
    pub known: Vec<TaskId>,
    /// How many of the new ones somebody holds in the list, so that nobody can claim them here.
    pub held: usize,
}

/// Adds the open tasks of a list to the table, as one change. Those that came before stay as they
/// are.
pub fn import_into_table(
    directory: &Directory<'_>,
    actor: &WorkerId,
    list: &List<'_>,
) -> Result<Brought> {
    let export = export(list, ExportScope::Open)?;
    directory.change(actor, |change| {
        let known = change.board.tasks.iter();
        let name = change.name(directory);
        let known: BTreeMap<String, TaskId> =
            known.map(|it| (uid(&name, it), it.id.clone())).collect();
        let mut brought = Brought::default();
        let mut number = directory.highest(change.tables())?;
        let mut places: BTreeMap<&TaskId, TaskId> = BTreeMap::new();
        for (task, uid) in export.named() {
            let id = match known.get(uid) {
                Some(id) => {
                    brought.known.push(id.clone());
                    id.clone()
                }
                None => {
                    number = number.saturating_add(1);
                    let id: TaskId = layout::numbered(number).parse()?;
                    brought.added.push(id.clone());
                    id
                }
            };
            places.insert(&task.id, id);
        }
        let (mut drafts, mut statuses) = (Vec::new(), Vec::new());
        for (task, uid) in export.named().filter(|(_, uid)| !known.contains_key(*uid)) {
            let (mut draft, status) = from_list(task, uid);
            let place = |id: &TaskId| places.get(id).cloned();
            draft.id = places.get(&task.id).cloned();
            draft.dependencies = task.blocked_by.iter().filter_map(place).collect();
            draft.parent = task.parent.as_ref().and_then(place);
            brought.held += usize::from(task.state.claim().is_some());
            drafts.push(draft);
            statuses.push(status);
        }
        let new = put(directory, change, drafts)?;
        for (task, status) in new.iter().zip(statuses) {
            if status != CoordStatus::Available {
                change.set_status(&task.id, status);
            }
        }
        Ok(brought)
    })
}

/// What a task of the table called `name` is called in a list.
fn uid(name: &str, task: &CoordTask) -> String {
    let own = || format!("coordination:{name}/{}", task.id);
    task.uid().map_or_else(own, str::to_owned)
}

/// What the table brings to a list; [`super::import`] takes it.
pub fn read_table(directory: &Directory<'_>) -> Result<Intake> {
    let look = directory.look()?;
    let zone = directory.zone();
    let drafts = look.board.tasks.iter();
    let drafts = drafts.map(|it| to_list(it, uid(&look.name, it), &zone));
    let drafts = Drafts {
        drafts: drafts.collect(),
        broken: Vec::new(),
        warnings: Vec::new(),
    };
    assemble(Format::Coordination, drafts).map_err(|circle| Error::Invalid {
        what: directory.path(layout::TASKS).display().to_string(),
        reason: circle.to_string(),
    })
}
