//! The answers that only commands give, and the schemas of all there are.

use flagpost_core::answers::Schema;

use crate::commands::{
    relocate::Moved,
    rm::Removed,
    selection::{Changed, DryRun},
    stats::InNumbers,
    tags::{Projects, Tags},
    timer::{Measured, Timers},
    undo::Undone,
};

flagpost_core::answers! {
    "changed" => Changed<'_>,
    "dry_run" => DryRun<'_>,
    "moved" => Moved<'_>,
    "projects" => Projects<'_>,
    "removed" => Removed<'_>,
    "stats" => InNumbers<'_>,
    "tags" => Tags<'_>,
    "timer" => Measured<'_>,
    "timers" => Timers<'_>,
    "undo" => Undone<'_>,
}

/// The schemas of all answers, by name.
pub fn all() -> Vec<Schema> {
    let mut all: Vec<Schema> = flagpost_core::schemas::all()
        .chain(ANSWERS)
        .copied()
        .collect();
    all.sort_by_key(|schema| schema.name);
    all
}
