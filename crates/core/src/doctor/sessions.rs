//! Sessions: dead ones, half-recovered ones, unreadable files, tasks that nobody will finish.

use std::collections::BTreeMap;

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    ListRef, SessionId,
    finding::Code,
    session::{Pid, ProgressStatus},
};

use super::{Finding, describe, world::World};
use crate::{
    error::Result,
    repository::Repository,
    sessions::{Session, SessionStatus, Sessions},
    shell::quoted,
};

/// The sessions of every repository that is where it should be.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for place in &world.places {
        let sessions = Sessions::of(world.home, place);
        let unread = |error: &dyn std::error::Error| {
            let hint = format!("'ls -l {}' shows what is there", quoted(sessions.root()));
            let finding = Finding::new(Code::SessionUnreadable, describe(error));
            finding.at(sessions.root()).by_hand(hint)
        };
        match sessions.glimpse() {
            Err(error) => findings.push(unread(&error)),
            Ok(None) => {}
            Ok(Some(session)) => {
                of_live(place, &session, findings);
                findings.extend(unread_files(&session));
            }
        }
        let ended = match sessions.ended() {
            Ok(ended) => ended,
            // It was told with the live one.
            Err(_) => continue,
        };
        for ended in ended {
            match sessions.read_ended(&ended) {
                Ok(session) => findings.extend(unread_files(&session)),
                Err(error) => findings.push(unread(&error)),
            }
            let dir = sessions.root().join(ended.id.as_str());
            if fsx::stat(world.home.fs(), &dir.join(layout::RECOVERING))?.is_some() {
                let what = format!("the recovery of session {} was cut short", ended.id);
                let hint = recover(place, ended.lock.list.as_ref());
                findings.push(Finding::new(Code::SessionDead, what).at(dir).by_hand(hint));
            }
        }
    }
    Ok(())
}

/// What is in the live directory.
fn of_live(place: &Repository, session: &Session, findings: &mut Vec<Finding>) {
    let list = session.lock.list.as_ref();
    let name = match &session.lock.session {
        Some(id) => id.to_string(),
        None => "of unknown name".to_owned(),
    };
    if session.stage == SessionStatus::Dead {
        let is_complete = session.progress.status == Some(ProgressStatus::Complete);
        let (what, hint) = match is_complete {
            true => (
                format!("session {name} is complete and was not archived"),
                recover(place, list).replace("session recover", "session archive"),
            ),
            false => (
                format!("session {name} died, and nobody has recovered it"),
                recover(place, list),
            ),
        };
        let finding = Finding::new(Code::SessionDead, what).at(&session.dir);
        findings.push(finding.by_hand(hint));
    } else if session.lock.session.is_none() {
        let what = "the lock of the live session names no session";
        let hint = "if nobody runs one, 'flagpost run --force-start' moves it away; four hours after its \
            last change it counts as dead, and 'flagpost session recover' does";
        let finding = Finding::new(Code::SessionUnnamed, what);
        findings.push(finding.at(session.dir.join(layout::LOCK)).by_hand(hint));
    } else if !session.lock.flocked && !matches!(session.lock.pid, Pid::Number(_)) {
        let what = format!("nobody can say whether session {name} still runs");
        let hint = format!(
            "if nobody runs it, 'flagpost run --force-start' moves it away; four hours after its time \
             it counts as dead, and '{}' does",
            recover(place, list)
        );
        let finding = Finding::new(Code::SessionUnasked, what);
        findings.push(finding.at(session.dir.join(layout::LOCK)).by_hand(hint));
    }
}

fn unread_files(session: &Session) -> Option<Finding> {
    if session.unread.is_empty() {
        return None;
    }
    let files = session.unread.join(", ");
    let what = format!("files of session {} cannot be read: {files}", session.name);
    let hint = "make them files that you can read; the rest of the session is read without them";
    let finding = Finding::new(Code::SessionUnreadable, what);
    Some(finding.at(&session.dir).by_hand(hint))
}

/// Tasks that are held on behalf of sessions that are over.
pub(super) fn tasks(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let mut over: BTreeMap<SessionId, &Repository> = BTreeMap::new();
    for place in &world.places {
        let sessions = Sessions::of(world.home, place);
        for ended in sessions.ended().unwrap_or_default() {
            // A recovery that was cut short is told of as such.
            let flag = sessions
                .root()
                .join(ended.id.as_str())
                .join(layout::RECOVERING);
            if fsx::stat(world.home.fs(), &flag)?.is_none() {
                over.extend(ended.lock.session.map(|id| (id, place)));
                over.insert(ended.id, place);
            }
        }
    }
    for seen in &world.lists {
        let mut held: BTreeMap<&SessionId, Vec<&str>> = BTreeMap::new();
        for outline in &seen.outlines {
            let session = outline
                .state
                .claim()
                .and_then(|claim| claim.session.as_ref());
            if let Some(session) = session.filter(|session| over.contains_key(session)) {
                held.entry(session).or_default().push(outline.id.as_str());
            }
        }
        for (session, tasks) in held {
            let what = format!(
                "session {session} is over and holds task {}",
                tasks.join(", ")
            );
            let hint = over
                .get(session)
                .map(|place| recover(place, Some(seen.list.id())));
            let finding = Finding::new(Code::TaskOfDeadSession, what);
            let finding = finding.at(seen.list.dir()).list(seen.id());
            findings.push(finding.by_hand(hint.unwrap_or_default()));
        }
    }
    Ok(())
}

/// The command that recovers a session where it is.
fn recover(place: &Repository, list: Option<&ListRef>) -> String {
    let list = list.map_or(place.name.as_str(), ListRef::as_str);
    format!(
        "cd {} && flagpost session recover --list {}",
        quoted(&place.top),
        quoted(list)
    )
}
