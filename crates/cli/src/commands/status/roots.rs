//! What `status` tells of the lists in other directories than the home.

use std::error::Error as _;

use flagpost_core::roots::{Root, RootStatus, Shadowed};
use serde_json::{Value, json};

use crate::{output::Screen, shape};

/// The lists of the roots.
pub fn section(screen: Screen, roots: &[Root]) -> String {
    let lines = roots.iter().filter_map(|root| match &root.standing {
        RootStatus::Readable { lists, .. } if !lists.is_empty() => {
            let names: Vec<_> = lists.iter().take(10).map(|list| list.as_str()).collect();
            let more = match lists.len().saturating_sub(10) {
                0 => String::new(),
                more => format!(" … and {more} more"),
            };
            let dir = root.dir.display();
            Some(format!("{dir}: {}{more}", names.join(" ")))
        }
        _ => None,
    });
    super::section(screen, "Lists in other roots", lines)
}

/// What a person should know about the roots.
pub fn notes(roots: &[Root]) -> Vec<String> {
    let notes = roots.iter().flat_map(|root| {
        let dir = root.dir.display();
        match &root.standing {
            RootStatus::Missing => vec![format!("the root {dir} is not there")],
            RootStatus::Unreadable(error) => {
                vec![format!("the root {dir} is passed over: {}", reason(error))]
            }
            RootStatus::Readable { shadowed, .. } => shadowed
                .iter()
                .map(|Shadowed { list, by }| {
                    format!(
                        "the list {list} of {dir} is shadowed by that of {}",
                        by.display()
                    )
                })
                .collect(),
        }
    });
    notes.collect()
}

fn reason(error: &flagpost_disk::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// The roots as JSON.
pub fn shape(roots: &[Root]) -> Value {
    roots.iter().map(root_shape).collect()
}

fn root_shape(root: &Root) -> Value {
    let (standing, lists, shadowed, reason) = match &root.standing {
        RootStatus::Readable { lists, shadowed } => ("readable", &lists[..], &shadowed[..], None),
        RootStatus::Missing => ("missing", &[][..], &[][..], None),
        RootStatus::Unreadable(error) => ("unreadable", &[][..], &[][..], Some(reason(error))),
    };
    let shadowed = shadowed.iter();
    json!({
        "dir": shape::path(&root.dir), "standing": standing, "reason": reason, "lists": lists,
        "shadowed": shadowed.map(|one| json!({"list": one.list, "by": shape::path(&one.by)})).collect::<Vec<_>>(),
    })
}
