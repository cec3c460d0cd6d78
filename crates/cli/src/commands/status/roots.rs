//! What `status` tells of the lists in other directories than the home.

use std::borrow::Cow;

use flagpost_core::{
    answers::each,
    describe,
    roots::{Root, RootStatus, Shadowed},
};
use flagpost_model::{ListId, view};
use schemars::JsonSchema;
use serde::Serialize;

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

/// A directory that tasks.roots names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RootAnswer<'a> {
    dir: Cow<'a, str>,
    #[schemars(extend("enum" = ["readable", "missing", "unreadable"]))]
    standing: &'static str,
    /// Why it is unreadable; else null.
    reason: Option<String>,
    /// The lists that are found there.
    lists: &'a [ListId],
    /// Lists that are not seen, because another of the same name comes first.
    shadowed: Vec<ShadowedList<'a>>,
}

view! {
    struct ShadowedList<'a> from it: &'a Shadowed {
        list: &'a ListId = &it.list,
        /// The directory that has one of the same name and comes first.
        by: Cow<'a, str> = it.by.to_string_lossy(),
    }
}

impl<'a> From<&'a Root> for RootAnswer<'a> {
    fn from(root: &'a Root) -> Self {
        let (standing, lists, shadowed, reason) = match &root.standing {
            RootStatus::Readable { lists, shadowed } => {
                ("readable", &lists[..], &shadowed[..], None)
            }
            RootStatus::Missing => ("missing", &[][..], &[][..], None),
            RootStatus::Unreadable(error) => {
                ("unreadable", &[][..], &[][..], Some(describe(error)))
            }
        };
        Self {
            dir: root.dir.to_string_lossy(),
            standing,
            reason,
            lists,
            shadowed: each(shadowed),
        }
    }
}
