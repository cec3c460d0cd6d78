//! What the protocol's words mean for a task, both ways.
//!
//! Owns the one table of statuses and that of priorities. Every status that can be asked for is
//! shown again afterwards; a state that has no word of its own is shown by the nearest.

use serde_json::Value;

use crate::{
    names::names,
    query::{Filter, OrderTest, Query, Test, TextField, TextTest},
    task::{Priority, StateName, Task},
};

use super::TaskFilter;

names!(
    /// Where a task stands, in the protocol's words.
    BridgeStatus {
        /// It is to be done.
        Todo = "todo",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// It is done.
        Done = "done",
        /// It is out of sight.
        Archived = "archived",
    }
);

names!(
    /// How urgent a task is, in the protocol's words.
    Urgency {
        /// Nobody said.
        None = "none",
        /// `low`
        Low = "low",
        /// `medium`
        Medium = "medium",
        /// `high`
        High = "high",
        /// `critical`
        Urgent = "urgent",
    }
);

/// The metadata key that archives a task which stays completed.
pub const ARCHIVED: &str = "archived";

/// How each state is shown.
const STATES: [(StateName, BridgeStatus); 7] = [
    (StateName::Pending, BridgeStatus::Todo),
    (StateName::Claimed, BridgeStatus::InProgress),
    (StateName::InProgress, BridgeStatus::InProgress),
    (StateName::Completed, BridgeStatus::Done),
    (StateName::Failed, BridgeStatus::Todo),
    (StateName::Stuck, BridgeStatus::InProgress),
    (StateName::Cancelled, BridgeStatus::Archived),
];

/// What each priority is.
const PRIORITIES: [(Option<Priority>, Urgency); 5] = [
    (None, Urgency::None),
    (Some(Priority::Low), Urgency::Low),
    (Some(Priority::Medium), Urgency::Medium),
    (Some(Priority::High), Urgency::High),
    (Some(Priority::Critical), Urgency::Urgent),
];

impl BridgeStatus {
    /// Where a task stands. One that is completed is archived by a mark, so that what was said on
    /// completing it stays.
    pub fn of(task: &Task) -> Self {
        match Self::of_state(task.state.name()) {
            Self::Done if is_marked(task) => Self::Archived,
            status => status,
        }
    }

    /// Where a task in this state stands, unless it is archived by a mark.
    pub fn of_state(state: StateName) -> Self {
        let found = STATES.iter().find(|(known, _)| *known == state);
        found.map_or(Self::Todo, |(_, status)| *status)
    }

    /// The tasks that stand here.
    fn filter(self) -> Filter {
        let states = STATES.iter().filter(|(_, status)| *status == self);
        let states = states.map(|(state, _)| *state).collect();
        let completed = Filter::Test(Test::State(vec![StateName::Completed]));
        let marked = Filter::Test(Test::Meta {
            key: ARCHIVED.to_owned(),
            words: TextTest::OneOf(vec![Some("true".to_owned())]),
        });
        let in_state = Filter::Test(Test::State(states));
        match self {
            Self::Todo | Self::InProgress => in_state,
            Self::Done => Filter::All(vec![in_state, Filter::Not(Box::new(marked))]),
            Self::Archived => Filter::Any(vec![in_state, Filter::All(vec![completed, marked])]),
        }
    }
}

impl Urgency {
    /// How urgent a task is.
    pub fn of(priority: Option<Priority>) -> Self {
        let found = PRIORITIES.iter().find(|(known, _)| *known == priority);
        found.map_or(Self::None, |(_, urgency)| *urgency)
    }

    /// The priority that is meant.
    pub fn priority(self) -> Option<Priority> {
        let found = PRIORITIES.iter().find(|(_, known)| *known == self);
        found.and_then(|(priority, _)| *priority)
    }
}

/// A task's next move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedMove {
    /// It is pending again.
    Reopen,
    /// Whoever asks gives it back.
    Release,
    /// Whoever asks takes it and begins.
    Start,
    /// It is done.
    Complete,
    /// It is not wanted any more.
    Cancel,
}

/// What is to be done with a task for it to stand somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovePlan {
    /// The moves, in order.
    pub steps: Vec<PlannedMove>,
    /// What the mark of an archived task becomes, where it changes.
    pub mark: Option<bool>,
}

/// The way of a task to being done; none where it is already.
pub fn completion(task: &Task) -> MovePlan {
    let steps = match task.state.name() {
        StateName::Completed => vec![],
        _ => vec![PlannedMove::Complete],
    };
    MovePlan { steps, mark: None }
}

/// The way of a task back to being open. An archived one is out of sight, and stays there.
pub fn reopening(task: &Task) -> MovePlan {
    match BridgeStatus::of(task) {
        BridgeStatus::Archived => MovePlan {
            steps: vec![],
            mark: None,
        },
        BridgeStatus::Todo | BridgeStatus::InProgress | BridgeStatus::Done => {
            move_plan(task, BridgeStatus::Todo)
        }
    }
}

/// The way of a task to where it is to stand.
pub fn move_plan(task: &Task, wanted: BridgeStatus) -> MovePlan {
    let state = task.state.name();
    let steps = match (wanted, state) {
        (BridgeStatus::Todo, StateName::Pending) => vec![],
        (BridgeStatus::Todo, StateName::Claimed) => vec![PlannedMove::Release],
        (BridgeStatus::Todo, StateName::InProgress) if task.state.claim().is_some() => {
            vec![PlannedMove::Release]
        }
        (BridgeStatus::Todo, _) => vec![PlannedMove::Reopen],
        (BridgeStatus::InProgress, StateName::InProgress) if task.state.claim().is_none() => vec![],
        (
            BridgeStatus::InProgress,
            StateName::Pending | StateName::Claimed | StateName::InProgress,
        ) => {
            vec![PlannedMove::Start]
        }
        (BridgeStatus::InProgress, _) => vec![PlannedMove::Reopen, PlannedMove::Start],
        (BridgeStatus::Done, StateName::Completed) => vec![],
        (BridgeStatus::Done, StateName::Pending | StateName::Claimed | StateName::InProgress) => {
            vec![PlannedMove::Complete]
        }
        (BridgeStatus::Done, _) => vec![PlannedMove::Reopen, PlannedMove::Complete],
        (BridgeStatus::Archived, StateName::Completed | StateName::Cancelled) => vec![],
        (BridgeStatus::Archived, _) => vec![PlannedMove::Cancel],
    };
    let marked = wanted == BridgeStatus::Archived && state == StateName::Completed;
    let mark = (marked != is_marked(task)).then_some(marked);
    MovePlan { steps, mark }
}

fn is_marked(task: &Task) -> bool {
    task.metadata.get(ARCHIVED) == Some(&Value::Bool(true))
}

impl TaskFilter {
    /// The query that asks for these tasks.
    pub fn query(&self) -> Query {
        let mut all = Vec::new();
        all.extend(self.statuses.as_ref().map(|statuses| {
            let any = statuses.iter().map(|status| status.filter());
            Filter::Any(any.collect())
        }));
        all.extend(self.priorities.as_ref().map(|priorities| {
            let any = priorities.iter().map(|urgency| urgency.priority());
            Filter::Test(Test::Priority(OrderTest::OneOf(any.collect())))
        }));
        let one_of = |text: &String| TextTest::OneOf(vec![Some(text.clone())]);
        all.extend(self.project.as_ref().map(|project| {
            let (of, words) = (TextField::Project, one_of(project));
            Filter::Test(Test::Words { of, words })
        }));
        let tag = self.tag.as_ref().map(one_of);
        all.extend(tag.map(|words| Filter::Test(Test::Tag(words))));
        let search = self.search.as_ref();
        all.extend(search.map(|text| {
            let contains = || TextTest::Contains(vec![text.clone()]);
            let (of, words) = (TextField::Project, contains());
            let any = [
                Test::Text(vec![text.clone()]),
                Test::Words { of, words },
                Test::Tag(contains()),
            ];
            Filter::Any(any.into_iter().map(Filter::Test).collect())
        }));
        Query {
            filter: (!all.is_empty()).then_some(Filter::All(all)),
            sort: Vec::new(),
            limit: self.limit,
        }
    }
}
