//! What the events of sessions say of tasks that were begun, and of conversations with clients about them.
//!
//! Owns whether a task is to go on where it was left, where the last conversation about it can be taken up
//! again, and what clients told of their attempts. A projection of `progress.jsonl`: the history has the same
//! records, line by line.

use std::collections::BTreeMap;

use flagpost_model::{
    ListRef, TaskId,
    session::{AttemptRecord, Resumable, Usage},
};
use serde_json::{Map, Value};

use super::{Session, Sessions, events};
use crate::{accounts::Park, error::Result, home::Home};

/// What remains of a task from the runs that began it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remains {
    /// How to take up the last conversation about it again, where there was one that goes on.
    pub resumable: Option<Resumable>,
    /// How its last attempt ended, as its event says: `STUCK`, `PARKED`, `FAIL`; none where its run died
    /// before it did.
    pub ended: Option<String>,
    /// Whether its last run came to an end with it: it passed, in whole or in part, or failed for good. Else
    /// it goes on where it was.
    pub settled: bool,
}

impl Remains {
    /// Whether its run died while an agent worked on it.
    pub fn died(&self) -> bool {
        !self.settled && self.ended.is_none()
    }
}

/// What remains of the tasks of a list from all its sessions that are over.
pub fn remains(sessions: &Sessions<'_>, list: &ListRef) -> Result<BTreeMap<TaskId, Remains>> {
    let mut all = BTreeMap::new();
    for ended in sessions.ended()? {
        if ended.lock.list.as_ref() != Some(list) {
            continue;
        }
        // One whose events cannot be read costs what it left and no more.
        let events = events(sessions.home, &sessions.dir(&ended.id), 0).unwrap_or_default();
        events.iter().for_each(|event| take_in(&mut all, event));
    }
    Ok(all)
}

/// What a task asks whose conversation a person goes on with.
pub const TAKEN_OVER: &str = "You have its conversation: 'flagpost attach' is under way. An answer lets a run go on with it.";

/// How the last conversation about a task can be taken up, also one of the session that is under way.
pub fn conversation(
    sessions: &Sessions<'_>,
    list: &ListRef,
    task: &TaskId,
) -> Result<Option<Resumable>> {
    let mut all = remains(sessions, list)?;
    let current = sessions.current()?;
    if let Some(current) = current.filter(|it| it.lock.list.as_ref() == Some(list)) {
        let events = current.events(sessions.home, 0)?;
        events.iter().for_each(|event| take_in(&mut all, event));
    }
    Ok(all.remove(task).and_then(|it| it.resumable))
}

/// What clients told of the attempts of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionAttempts {
    /// Each attempt that ended, in order, with its task.
    pub attempts: Vec<(TaskId, AttemptRecord)>,
    /// The accounts that it parked and did not open again, by agent.
    pub parked: BTreeMap<String, Park>,
}

impl SessionAttempts {
    /// The tokens of all.
    pub fn usage(&self) -> Usage {
        let usages = self.attempts.iter().map(|(_, record)| record.usage);
        usages.fold(Usage::default(), Usage::plus)
    }

    /// What all cost in US dollars; none where no client told.
    pub fn cost_usd(&self) -> Option<f64> {
        let costs = self
            .attempts
            .iter()
            .filter_map(|(_, record)| record.cost_usd);
        costs.fold(None, |sum, cost| Some(sum.unwrap_or_default() + cost))
    }
}

impl Session {
    /// What clients told of its attempts.
    pub fn attempts(&self, home: &Home) -> Result<SessionAttempts> {
        let record = |event: &Map<String, Value>| {
            let task = event.get("task")?.as_str()?.parse().ok()?;
            let record = event.get("record")?.clone();
            Some((task, serde_json::from_value(record).ok()?))
        };
        let events = self.events(home, 0)?;
        let attempts = events.iter().filter_map(record).collect();
        let mut parked = BTreeMap::new();
        for event in events {
            let agent = event.get("agent").and_then(Value::as_str);
            match (event.get("event").and_then(Value::as_str), agent) {
                (Some("agent.parked"), Some(agent)) => {
                    let agent = agent.to_owned();
                    let park = serde_json::from_value::<Park>(Value::Object(event));
                    parked.extend(park.ok().map(|park| (agent, park)));
                }
                (Some("agent.open"), Some(agent)) => drop(parked.remove(agent)),
                _ => {}
            }
        }
        Ok(SessionAttempts { attempts, parked })
    }
}

/// What one event says of it.
fn take_in(all: &mut BTreeMap<TaskId, Remains>, event: &Map<String, Value>) {
    let text = |key: &str| event.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(task) = text("task").and_then(|id| id.parse::<TaskId>().ok()) else {
        return;
    };
    match text("event").as_deref() {
        Some("task.started") => {
            let left = all.entry(task).or_default();
            let goes_on = matches!(left.ended.as_deref(), None | Some("STUCK" | "PARKED"));
            *left = Remains {
                resumable: left.resumable.take().filter(|_| goes_on),
                ..Remains::default()
            };
        }
        Some("task.session") => {
            if let (Some(agent), Some(session), Some(dir)) =
                (text("agent"), text("client_session"), text("dir"))
            {
                let resumable = Resumable {
                    task: task.clone(),
                    agent,
                    session,
                    dir,
                };
                let resumable = Some(resumable);
                let left = Remains {
                    resumable,
                    ..Remains::default()
                };
                all.insert(task, left);
            }
        }
        Some("task.ended") => {
            if let Some(left) = all.get_mut(&task) {
                left.ended = text("outcome");
            }
        }
        Some("task.settled") => {
            let over = ["passed", "partial", "failed"];
            let over = text("fate").is_some_and(|fate| over.contains(&fate.as_str()));
            if let Some(left) = all.get_mut(&task) {
                left.settled = over;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn left_by(events: &[Value]) -> BTreeMap<TaskId, Remains> {
        let mut all = BTreeMap::new();
        let events = events.iter().filter_map(Value::as_object);
        events.for_each(|event| take_in(&mut all, event));
        all
    }

    fn session(task: &str, session: &str) -> Value {
        json!({"event": "task.session", "task": task, "agent": "claude", "client_session": session, "dir": "/x"})
    }

    #[test]
    fn the_last_conversation_about_a_task_and_how_it_ended_is_known() {
        let all = left_by(&[
            session("1", "a"),
            json!({"event": "task.ended", "task": "1", "outcome": "FAIL"}),
            session("1", "b"),
            json!({"event": "task.ended", "task": "2", "outcome": "PASS"}),
            session("3", "c"),
            json!({"event": "task.ended", "task": "3", "outcome": "STUCK"}),
            json!({"event": "task.session", "task": "4"}),
        ]);
        let said: Vec<_> = all
            .values()
            .map(|it| {
                let session = it.resumable.as_ref().map(|it| it.session.as_str());
                (session, it.ended.as_deref())
            })
            .collect();
        assert_eq!(said, [(Some("b"), None), (Some("c"), Some("STUCK"))]);
    }

    #[test]
    fn a_task_goes_on_where_it_was_until_a_run_came_to_its_end() {
        let started = json!({"event": "task.started", "task": "1"});
        let ended = |outcome: &str| json!({"event": "task.ended", "task": "1", "outcome": outcome});
        let settled = |fate: &str| json!({"event": "task.settled", "task": "1", "fate": fate});
        // Its events; the conversation that goes on, whether its run died, whether it is over.
        type Case<'a> = (Vec<Value>, Option<&'a str>, bool, bool);
        let cases: [Case<'_>; 8] = [
            (vec![started.clone()], None, true, false),
            (
                vec![started.clone(), session("1", "a")],
                Some("a"),
                true,
                false,
            ),
            // The next run had begun, and the client not said that it is there.
            (
                vec![session("1", "a"), ended("PARKED"), started.clone()],
                Some("a"),
                true,
                false,
            ),
            (
                vec![session("1", "a"), ended("FAIL"), started.clone()],
                None,
                true,
                false,
            ),
            (
                vec![started.clone(), ended("STUCK"), settled("stuck")],
                None,
                false,
                false,
            ),
            (
                vec![started.clone(), ended("STOPPED"), settled("interrupted")],
                None,
                false,
                false,
            ),
            (
                vec![started.clone(), ended("FAIL"), settled("failed")],
                None,
                false,
                true,
            ),
            (
                vec![started.clone(), ended("PASS"), settled("passed"), started],
                None,
                true,
                false,
            ),
        ];
        for (events, conversation, died, over) in cases {
            let all = left_by(&events);
            let left = &all[&"1".parse::<TaskId>().unwrap()];
            let resumable = left.resumable.as_ref().map(|it| it.session.as_str());
            assert_eq!(
                (resumable, left.died(), left.settled),
                (conversation, died, over),
                "{events:?}"
            );
        }
    }
}
