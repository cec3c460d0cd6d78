//! What is said to do next, case by case.

use std::path::Path;

use super::*;
use crate::git::GitError;

#[test]
fn who_may_not_read_is_not_told_that_nothing_was_changed() {
    let said = |doing| {
        let denied = std::io::ErrorKind::PermissionDenied.into();
        judge_disk(&disk::Error::io(doing, Path::new("/x"))(denied)).1
    };
    assert_eq!(said("read").as_deref(), Some("make /x readable for you"));
    assert_eq!(
        said("write").as_deref(),
        Some("nothing was changed; make /x writable for you")
    );
}

/// Where nothing can be made, what is to be made is not there to be made writable.
#[test]
fn who_may_not_create_is_told_which_directory_stands_in_the_way() {
    let denied = std::io::ErrorKind::PermissionDenied.into();
    let error = disk::Error::io("create", Path::new("/repository/.claude"))(denied);
    assert_eq!(
        judge_disk(&error).1.as_deref(),
        Some("nothing was changed; make /repository writable for you")
    );
}

#[test]
fn a_repository_whose_configuration_cannot_be_written_says_what_to_make_writable() {
    let git = |message: &str| {
        Error::Git(GitError {
            call: "config --local flagpost.repoId x".to_owned(),
            dir: "/web".into(),
            message: message.to_owned(),
        })
    };
    let hint = |message| judge(&git(message)).1.unwrap();
    let denied = "error: could not lock config file .git/config: Permission denied";
    assert!(hint(denied).ends_with(".git/config: make that writable for you"));
    assert!(hint("fatal: not a git repository").starts_with("'git status'"));
}

/// An agent may not stop another, and is told first what it may do.
#[test]
fn who_is_refused_since_a_runs_agent_has_the_task_is_told_how_that_one_ends() {
    let held = |holder: &str| {
        refusals::refusal(&Refusal::Held {
            task: "7".parse().unwrap(),
            holder: holder.parse().unwrap(),
            until: jiff::Timestamp::UNIX_EPOCH,
            token: flagpost_model::Token(1),
        })
    };
    let hint = held("run-2").1.unwrap();
    assert!(hint.starts_with("'flagpost claim --next' gives you another task; 'flagpost stop 7' "));
    assert!(!held("W1").1.unwrap().contains("stop"));
}
