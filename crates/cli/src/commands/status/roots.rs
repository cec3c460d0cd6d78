//! What `status` tells of the lists in other directories than the home.

use flagpost_core::{
    describe,
    roots::{Root, RootStatus, Shadowed},
};

/// The lists of the roots.
pub fn lines(roots: &[Root]) -> impl Iterator<Item = String> {
    roots.iter().filter_map(|root| match &root.standing {
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
    })
}

/// What a person should know about the roots.
pub fn notes(roots: &[Root]) -> Vec<String> {
    let notes = roots.iter().flat_map(|root| {
        let dir = root.dir.display();
        match &root.standing {
            RootStatus::Missing => vec![format!("the root {dir} is not there")],
            RootStatus::Unreadable(error) => {
                vec![format!(
                    "the root {dir} is passed over: {}",
                    describe(error)
                )]
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
