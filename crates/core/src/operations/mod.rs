//! What can be done: one table, which every face reads.
//!
//! Owns the list of operations that take plain values and answer with plain values, as data: what each
//! is called, who may ask for it, what may be said with it, what it answers and what it does. A face
//! reads the values in its own way, and says who asks. A file for each subject has its operations and
//! their work. It must know no face.

mod arguments;
mod caller;
mod entry;
mod history;
mod home;
mod landing;
mod mail;
mod messages;
mod own_mail;
mod parameter;
mod permissions;
mod plans;
mod replay_queue;
mod reservations;
mod search;
mod sessions;
mod slash;
mod task_changes;
mod tasks;
mod workers;

pub use crate::access::{Access, Denied, Operation};
pub use arguments::{ArgumentRefusal, Arguments};
pub use caller::{Caller, CallerPart, CallerPlace, Identity};
pub use entry::{EntryOutcome, OperationEffect, OperationEntry, Run};
pub use parameter::{ArgumentForm, ParamKind, Parameter, Presence, object_schema};
pub use replay_queue::{keep, tell};
pub use slash::SlashRequest;

use crate::{
    answers::{self, Schema},
    doctor,
};

/// The schemas of all that core answers with.
pub fn schemas() -> impl Iterator<Item = &'static Schema> {
    let of_operations = home::ANSWERS.iter().chain(doctor::ANSWERS);
    answers::ANSWERS.iter().chain(of_operations)
}

/// The table, a part for each subject.
const SUBJECTS: &[&[OperationEntry]] = &[
    home::ENTRIES,
    tasks::ENTRIES,
    task_changes::ENTRIES,
    plans::ENTRIES,
    search::ENTRIES,
    workers::ENTRIES,
    mail::ENTRIES,
    own_mail::ENTRIES,
    messages::ENTRIES,
    permissions::ENTRIES,
    reservations::ENTRIES,
    slash::ENTRIES,
    sessions::ENTRIES,
    landing::ENTRIES,
    history::ENTRIES,
];

/// Every entry of the table.
pub fn all() -> impl Iterator<Item = &'static OperationEntry> {
    SUBJECTS.iter().copied().flatten()
}

/// The entry of an operation, where it has one.
pub const fn entry(operation: Operation) -> Option<&'static OperationEntry> {
    let mut subject = 0;
    while subject < SUBJECTS.len() {
        let entries = SUBJECTS[subject];
        let mut at = 0;
        while at < entries.len() {
            if entries[at].operation as u8 == operation as u8 {
                return Some(&entries[at]);
            }
            at += 1;
        }
        subject += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_operation_has_one_entry_whose_parameters_and_answers_are_known() {
        let mut operations = BTreeSet::new();
        for it in all() {
            let name = it.name();
            assert!(operations.insert(it.operation), "{name} has two entries");
            let found = entry(it.operation).map(OperationEntry::name);
            assert_eq!(found, Some(name));
            let names: BTreeSet<&str> = it.parameters.iter().map(|it| it.name).collect();
            assert_eq!(
                names.len(),
                it.parameters.len(),
                "{name}: one is said twice"
            );
            for answer in it.answers() {
                let is_known = schemas().any(|it| it.name == answer);
                assert!(is_known, "{name}: there is no schema {answer}");
            }
            let is_read = it.operation.access() == Access::Read;
            assert_eq!(is_read, it.effect == OperationEffect::Reads, "{name}");
        }
        assert!(entry(Operation::RunStart).is_none());
    }
}
