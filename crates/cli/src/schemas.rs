//! The answers that only commands give, and the schemas of all there are.

use flagpost_core::answers::Schema;

use crate::commands::{
    completions::Completions,
    config::{Described, Settings, SettingsFile, Stored, Unset},
    daemon::logs::Log,
    daemon::{Down, Up},
    demo::Demonstrated,
    doctor::{Agents, Examined},
    export::Exported,
    graph,
    history::HistoryLine,
    import::Taken,
    init::{AreTold, Registered, TakenOut},
    instructions::Instructions,
    logs::AttemptLog,
    man::{Manual, Written},
    relocate::Moved,
    rm::Removed,
    schema::{OneSchema, Schemas},
    selection::{Changed, DryRun},
    stats::InNumbers,
    stop::StopAsked,
    tags::{Projects, Tags},
    timeline,
    timer::{Measured, Timers},
    undo::Undone,
};

flagpost_core::answers! {
    "agents" => Agents<'_>,
    "attempt_log" => AttemptLog<'_>,
    "changed" => Changed<'_>,
    "completions" => Completions<'_>,
    "config" => Settings<'_>,
    "config_path" => SettingsFile<'_>,
    "demo" => Demonstrated<'_>,
    "doctor" => Examined<'_>,
    "down" => Down,
    "dry_run" => DryRun<'_>,
    "export" => Exported<'_>,
    "graph" => graph::DrawnGraph<'_>,
    "history_line" => HistoryLine<'_>,
    "import" => Taken<'_>,
    "instruction_files" => AreTold<'_>,
    "instructions" => Instructions<'_>,
    "instructions_removed" => TakenOut<'_>,
    "log" => Log<'_>,
    "man" => Manual<'_>,
    "man_pages" => Written<'_>,
    "moved" => Moved<'_>,
    "projects" => Projects<'_>,
    "removed" => Removed<'_>,
    "repository" => Registered<'_>,
    "schema" => OneSchema<'_>,
    "schemas" => Schemas,
    "setting" => Described<'_>,
    "setting_stored" => Stored<'_>,
    "setting_unset" => Unset<'_>,
    "stats" => InNumbers<'_>,
    "stop_asked" => StopAsked<'_>,
    "tags" => Tags<'_>,
    "timeline" => timeline::DrawnTimeline<'_>,
    "timer" => Measured<'_>,
    "timers" => Timers<'_>,
    "undo" => Undone<'_>,
    "up" => Up,
}

/// The schemas of all answers, by name.
pub fn all() -> Vec<Schema> {
    let mut all: Vec<Schema> = flagpost_daemon::schemas().chain(ANSWERS).copied().collect();
    all.sort_by_key(|schema| schema.name);
    all
}
