//! What the protocol's words mean for a task, both ways.
//!
//! Owns the one table of statuses and that of priorities. Every status that can be asked for is
//! shown again afterwards; a state that has no word of its own is shown by the nearest.

use serde_json::Value;

use crate::{
    names::names,
    query::{Filter, Query, Scale, Test, TextField, Words},
    task::{Priority, StateName, Task},
};

use super::Wanted;

names!(
    /// Where a task stands, in the protocol's words.
    Status {
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
const STATES: [(StateName, Status); 7] = [
    (StateName::Pending, Status::Todo),
    (StateName::Claimed, Status::InProgress),
    (StateName::InProgress, Status::InProgress),
    (StateName::Completed, Status::Done),
    (StateName::Failed, Status::Todo),
    (StateName::Stuck, Status::InProgress),
    (StateName::Cancelled, Status::Archived),
];

/// What each priority is.
const PRIORITIES: [(Option<Priority>, Urgency); 5] = [
    (None, Urgency::None),
    (Some(Priority::Low), Urgency::Low),
    (Some(Priority::Medium), Urgency::Medium),
    (Some(Priority::High), Urgency::High),
    (Some(Priority::Critical), Urgency::Urgent),
];

impl Status {
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
            words: Words::OneOf(vec![Some("true".to_owned())]),
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
pub enum Step {
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
pub struct Course {
    /// The moves, in order.
    pub steps: Vec<Step>,
    /// What the mark of an archived task becomes, where it changes.
    pub mark: Option<bool>,
}

/// The way of a task to being done; none where it is already.
pub fn completion(task: &Task) -> Vec<Step> {
    match task.state.name() {
        StateName::Completed => vec![],
        _ => vec![Step::Complete],
    }
}

/// The way of a task back to being open. An archived one is out of sight, and stays there.
pub fn reopening(task: &Task) -> Course {
    match Status::of(task) {
        Status::Archived => Course {
            steps: vec![],
            mark: None,
        },
        Status::Todo | Status::InProgress | Status::Done => move_plan(task, Status::Todo),
    }
}

/// The way of a task to where it is to stand.
pub fn move_plan(task: &Task, wanted: Status) -> Course {
    let state = task.state.name();
    let steps = match (wanted, state) {
        (Status::Todo, StateName::Pending) => vec![],
        (Status::Todo, StateName::Claimed) => vec![Step::Release],
        (Status::Todo, StateName::InProgress) if task.state.claim().is_some() => {
            vec![Step::Release]
        }
        (Status::Todo, _) => vec![Step::Reopen],
        (Status::InProgress, StateName::InProgress) if task.state.claim().is_none() => vec![],
        (Status::InProgress, StateName::Pending | StateName::Claimed | StateName::InProgress) => {
            vec![Step::Start]
        }
        (Status::InProgress, _) => vec![Step::Reopen, Step::Start],
        (Status::Done, StateName::Completed) => vec![],
        (Status::Done, StateName::Pending | StateName::Claimed | StateName::InProgress) => {
            vec![Step::Complete]
        }
        (Status::Done, _) => vec![Step::Reopen, Step::Complete],
        (Status::Archived, StateName::Completed | StateName::Cancelled) => vec![],
        (Status::Archived, _) => vec![Step::Cancel],
    };
    let marked = wanted == Status::Archived && state == StateName::Completed;
    let mark = (marked != is_marked(task)).then_some(marked);
    Course { steps, mark }
}

fn is_marked(task: &Task) -> bool {
    task.metadata.get(ARCHIVED) == Some(&Value::Bool(true))
}

impl Wanted {
    /// The query that asks for these tasks.
    pub fn query(&self) -> Query {
        let mut all = Vec::new();
        all.extend(self.statuses.as_ref().map(|statuses| {
            let any = statuses.iter().map(|status| status.filter());
            Filter::Any(any.collect())
        }));
        all.extend(self.priorities.as_ref().map(|priorities| {
            let any = priorities.iter().map(|urgency| urgency.priority());
            Filter::Test(Test::Priority(Scale::OneOf(any.collect())))
        }));
        let one_of = |text: &String| Words::OneOf(vec![Some(text.clone())]);
        all.extend(self.project.as_ref().map(|project| {
            let (of, words) = (TextField::Project, one_of(project));
            Filter::Test(Test::Words { of, words })
        }));
        let tag = self.tag.as_ref().map(one_of);
        all.extend(tag.map(|words| Filter::Test(Test::Tag(words))));
        let search = self.search.as_ref();
        all.extend(search.map(|text| {
            let contains = || Words::Contains(vec![text.clone()]);
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
