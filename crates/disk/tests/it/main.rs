//! What the primitives promise, held against power cuts, killed processes, races and full disks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests arrange the machine by hand"
)]

mod a_batch_is_never_half_lost;
mod a_fault_is_reported;
mod a_full_disk_keeps_the_old;
mod a_lock_names_its_holder;
mod a_number_is_given_once;
mod a_power_cut_loses_nothing_acknowledged;
mod child;
mod content_is_synced_before_its_name;
mod every_file_system_answers_alike;
mod hostile_files_are_refused;
mod one_of_many_wins;
mod orphans_are_swept;
mod readers_see_whole_files;
mod shared_files_stay_as_people_keep_them;
