//! What the operations promise, held against power cuts, faults, races, killed processes, hostile
//! files and a second opinion.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

/// That an operation answers with this error.
macro_rules! fails {
    ($answer:expr, $error:pat) => {{
        let answer = &$answer;
        assert!(matches!(answer, Err($error)), "{:?}", answer.as_ref().err());
    }};
}

/// Compares what a JSON value has at these places: `"a/0/b"` is what `["a"][0]["b"]` is.
macro_rules! tells {
    ($told:expr, $expected:tt) => {
        crate::compare(&serde_json::json!($told), &serde_json::json!($expected))
    };
}

mod a_change_wakes;
mod a_crash_leaves_whole_changes;
mod a_history_is_a_chain;
mod a_lease_begins_when_it_is_granted;
mod a_query_is_asked_again_under_the_lock;
mod a_saved_query_is_found_by_its_name;
mod account;
mod bridge;
mod child;
mod claims_are_fenced;
mod coordination;
mod dependencies_stay_mirrored;
mod doctor_after_a_crash;
mod history_tells_every_change;
mod hostile_files_are_survived;
mod index;
mod lists_appear_in_a_mirror;
mod lists_in_other_roots;
mod machines;
mod messages;
mod operations_match_a_second_opinion;
mod permissions;
mod processes_race;
mod questions_are_answered_once;
mod relay;
mod reservations;
mod second_opinion;
mod sessions;
mod taken_away;
mod tasks_changed_by_hand_are_told_once;
mod tasks_move_between_lists;
mod the_cache_is_never_seen;
mod the_documentation_names_every_setting;
mod undo_takes_back_the_last_change;
mod what_happened_is_told_once;
mod what_holds_of_every_store;
mod what_leaves_comes_back;
mod who_queues_is_served;
mod world;

use serde_json::Value;

/// For `tells!`.
#[track_caller]
fn compare(told: &Value, expected: &Value) {
    for (place, expected) in expected.as_object().unwrap() {
        let value = told.pointer(&format!("/{place}"));
        let value = value.unwrap_or(&Value::Null);
        assert_eq!(value, expected, "{place} in {told}");
    }
}
