//! The answers that only commands give, and the schemas of all there are.

use flagpost_core::answers::Schema;

use crate::commands::{
    board, bridge, completions, config, daemon, demo, doctor, export, graph, history, hooks,
    import, index, init, instructions, land, logs, man, msg, notify, open, policy, relay, relocate,
    reserve, run, schema, selection, session, stats, tags, timer, word, worker, worktree,
};

flagpost_core::answers! {
    "agent_answer" => bridge::send::AgentAnswer<'_>,
    "agent_cleared" => bridge::outbox::AgentCleared,
    "agent_event" => bridge::serve::AgentEvent<'_>,
    "agent_outbox" => bridge::outbox::AgentOutbox<'_>,
    "agent_snippet" => bridge::snippet::AgentSnippet<'_>,
    "agent_status" => bridge::serve::AgentStatus<'_>,
    "agent_stopped" => bridge::serve::AgentStopped,
    "agents" => doctor::Agents<'_>,
    "archive" => session::SessionArchive<'_>,
    "attempt_log" => logs::AttemptLog<'_>,
    "board" => board::Board<'_>,
    "board_sign_out" => board::BoardSignOut,
    "changed" => selection::Changed<'_>,
    "completions" => completions::Completions<'_>,
    "confirmed" => worker::report::Confirmed<'_>,
    "config_path" => config::SettingsFile<'_>,
    "demo" => demo::Demonstrated<'_>,
    "down" => daemon::Down,
    "dry_run" => selection::DryRun<'_>,
    "export" => export::Exported<'_>,
    "graph" => graph::DrawnGraph<'_>,
    "hooks" => hooks::HooksAnswer,
    "hooks_changed" => hooks::HooksChanged,
    "history_line" => history::HistoryLine<'_>,
    "import" => import::Taken<'_>,
    "index" => index::IndexAnswer<'_>,
    "instruction_files" => init::AreTold<'_>,
    "instructions" => instructions::Instructions<'_>,
    "instructions_removed" => init::TakenOut<'_>,
    "landed" => land::LandedAnswer<'_>,
    "landing_plan" => land::LandingRehearsal<'_>,
    "log" => daemon::logs::Log<'_>,
    "mail_archived" => relay::gc::MailArchived<'_>,
    "mail_waiting" => worker::next::MailWaiting<'_>,
    "man" => man::Manual<'_>,
    "man_pages" => man::Written<'_>,
    "messages_imported" => msg::import::MessagesImported<'_>,
    "moved" => relocate::Moved<'_>,
    "notify_test" => notify::TestedChannels,
    "offer_none" => worker::next::NoOffer,
    "policy_accepted" => policy::AcceptedPolicy,
    "plan" => run::RunPlan<'_>,
    "projects" => tags::Projects<'_>,
    "recovery" => session::Recovery<'_>,
    "repository" => init::Registered<'_>,
    "reserve_check" => reserve::check::CheckedFiles<'_>,
    "rows" => index::RowsAnswer<'_>,
    "run" => run::RunAnswer<'_>,
    "said" => word::SaidAnswer<'_>,
    "schema" => schema::OneSchema<'_>,
    "schemas" => schema::Schemas,
    "setting_stored" => config::Stored<'_>,
    "setting_unset" => config::Unset<'_>,
    "stats" => stats::InNumbers<'_>,
    "tags" => tags::Tags<'_>,
    "task_logs" => logs::TaskLogs<'_>,
    "timer" => timer::Measured<'_>,
    "timers" => timer::Timers<'_>,
    "up" => daemon::Up,
    "worktree" => open::OpenedWorktree<'_>,
    "worktrees" => worktree::Worktrees<'_>,
    "worktrees_cleaned" => worktree::WorktreesCleaned<'_>,
    "worker_token" => worker::token::WorkerToken<'_>,
}

/// The schemas of all answers, by name.
pub fn all() -> Vec<Schema> {
    let of_runs = flagpost_run::events::ANSWERS;
    let of_fleets = crate::commands::fleet::verbs::ANSWERS;
    let all = flagpost_daemon::schemas()
        .chain(of_runs)
        .chain(ANSWERS)
        .chain(of_fleets);
    let mut all: Vec<Schema> = all.copied().collect();
    all.sort_by_key(|schema| schema.name);
    all
}
