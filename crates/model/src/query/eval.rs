//! What a query means for a task.
//!
//! Owns the answer for one outline. A task's whole file is asked for only by the tests that need
//! it, and only when every cheaper one of the same conjunction has passed.

use std::{borrow::Borrow, cell::OnceCell};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::Value as Json;

use super::{
    Filter, Query,
    fold::find,
    order::{first, urgency},
    test::{Order, OrderTest, StatusWord, TaskCondition, Test, TextField, TextTest, TimeField},
    value::{Day, DueOn, When, in_week_ahead, in_week_behind},
};
use crate::{
    id::{TaskId, WorkerId},
    plan::{self, Graph, Node},
    task::{Outline, StateName, Task},
};

/// What a query is asked over: the list, who asks, and when. The list may be shared with others.
pub struct QueryScope<'o, 'f, O = Outline> {
    outlines: &'o [O],
    graph: OnceCell<Graph<'o, O>>,
    me: Option<WorkerId>,
    now: Timestamp,
    zone: TimeZone,
    today: Date,
    whole: &'f dyn Fn(&TaskId) -> Option<Task>,
}

impl<O> std::fmt::Debug for QueryScope<'_, '_, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { me, today, .. } = self;
        f.debug_struct("QueryScope")
            .field("me", me)
            .field("today", today)
            .finish_non_exhaustive()
    }
}

impl<'o, 'f, O: Borrow<Outline> + Node> QueryScope<'o, 'f, O> {
    /// This list, asked by `me` at `now` in a zone (without `me`, nothing is mine); `whole` answers with all of a task, unless it
    /// is gone.
    pub fn new(
        outlines: &'o [O],
        me: Option<WorkerId>,
        now: Timestamp,
        zone: TimeZone,
        whole: &'f dyn Fn(&TaskId) -> Option<Task>,
    ) -> Self {
        Self {
            outlines,
            graph: OnceCell::new(),
            me,
            now,
            today: now.to_zoned(zone.clone()).date(),
            zone,
            whole,
        }
    }

    fn graph(&self) -> &Graph<'o, O> {
        self.graph.get_or_init(|| Graph::new(self.outlines))
    }

    fn day(&self, at: Timestamp) -> Date {
        at.to_zoned(self.zone.clone()).date()
    }

    fn overdue(&self, task: &Outline) -> bool {
        !task.state.is_over() && task.due.is_some_and(|due| due < self.today)
    }
}

impl Query {
    /// The tasks that fit, in order, at most so many where the query says nothing, and how many
    /// there are without a limit.
    pub fn select<'o, O: Borrow<Outline> + Node>(
        &self,
        scope: &QueryScope<'o, '_, O>,
        limit: usize,
    ) -> (Vec<&'o Outline>, usize) {
        let all = self.fitting(scope);
        let total = all.len();
        (first(all, &self.sort, self.limit.unwrap_or(limit)), total)
    }

    /// The tasks that fit, in the list's order.
    pub fn fitting<'o, O: Borrow<Outline> + Node>(
        &self,
        scope: &QueryScope<'o, '_, O>,
    ) -> Vec<&'o Outline> {
        let fits = |task: &&Outline| match &self.filter {
            None => true,
            Some(filter) => filter.fits(task, scope),
        };
        let all = scope.outlines.iter().map(Borrow::borrow);
        all.filter(fits).collect()
    }
}

impl Filter {
    /// Whether a task fits.
    pub fn fits<O: Borrow<Outline> + Node>(
        &self,
        task: &Outline,
        scope: &QueryScope<'_, '_, O>,
    ) -> bool {
        match self {
            Self::All(parts) => {
                let cheap = parts.iter().filter(|part| !part.reads_files());
                let dear = parts.iter().filter(|part| part.reads_files());
                cheap.chain(dear).all(|part| part.fits(task, scope))
            }
            Self::Any(parts) => parts.iter().any(|part| part.fits(task, scope)),
            Self::Not(part) => !part.fits(task, scope),
            Self::Test(test) => test.passes(task, scope),
        }
    }
}

impl Test {
    fn passes<O: Borrow<Outline> + Node>(
        &self,
        task: &Outline,
        scope: &QueryScope<'_, '_, O>,
    ) -> bool {
        match self {
            Self::Is(standings) => standings.iter().any(|it| it.holds(task, scope)),
            Self::State(states) => states.contains(&task.state.name()),
            Self::Status(statuses) => statuses.contains(&StatusWord::of(task.state.name())),
            Self::Id(scale) => scale.of(&task.id),
            Self::Priority(OrderTest::OneOf(values)) => values.contains(&task.priority),
            Self::Priority(OrderTest::Side(order, value)) => {
                let has = task.priority.map(urgency);
                has.is_some_and(|has| order.holds(&has, &urgency(*value)))
            }
            Self::Tag(words) => match words {
                TextTest::OneOf(values) => values.iter().any(|value| match value {
                    None => task.tags.is_empty(),
                    Some(value) => task.tags.contains(value),
                }),
                TextTest::Contains(parts) => {
                    let mut tags = task.tags.iter();
                    tags.any(|tag| parts.iter().any(|part| find(tag, part).is_some()))
                }
            },
            Self::Owner(words) => {
                let owner = task.owner.as_deref();
                words.of(owner, |who| who.is(owner, scope.me.as_ref()))
            }
            Self::Words { of, words } => words.text(of.of(task)),
            Self::Meta { key, words } => {
                let whole = (scope.whole)(&task.id);
                let value = whole.as_ref().and_then(|whole| whole.metadata.get(key));
                words.text(value.map(plain).as_deref())
            }
            Self::Text(parts) => {
                let has = |text: &str| parts.iter().any(|part| find(text, part).is_some());
                has(&task.subject)
                    || (scope.whole)(&task.id).is_some_and(|whole| whole.texts().any(has))
            }
            Self::Due(OrderTest::OneOf(values)) => values.iter().any(|on| match on {
                DueOn::Never => task.due.is_none(),
                DueOn::Overdue => scope.overdue(task),
                DueOn::Week => task.due.is_some_and(|due| in_week_ahead(due, scope.today)),
                DueOn::On(day) => task.due == Some(day.date(scope.today)),
            }),
            Self::Due(OrderTest::Side(order, day)) => side(*order, *day, task.due, scope.today),
            Self::Moment { of, when } => {
                let at = match of {
                    TimeField::Added => task.added_at,
                    TimeField::Ended => task.ended_at,
                };
                happened(at.map(|at| scope.day(at)), when, scope.today)
            }
            Self::Parent(parents) => parents.contains(&task.parent),
            Self::Estimate(OrderTest::OneOf(values)) => values.contains(&task.estimate),
            Self::Estimate(OrderTest::Side(order, value)) => {
                task.estimate.is_some_and(|has| order.holds(&has, value))
            }
            Self::Tracked(scale) => {
                let running = task.timer.as_ref().map(|timer| timer.elapsed(scope.now));
                scale.of(&task.tracked.plus(running.unwrap_or_default()))
            }
            Self::Attempts(scale) => scale.of(&task.attempts),
        }
    }
}

fn side(order: Order, day: Day, has: Option<Date>, today: Date) -> bool {
    has.is_some_and(|has| order.holds(&has, &day.date(today)))
}

fn happened(at: Option<Date>, when: &OrderTest<When, Day>, today: Date) -> bool {
    match when {
        OrderTest::OneOf(values) => values.iter().any(|when| match when {
            When::Never => at.is_none(),
            When::Week => at.is_some_and(|at| in_week_behind(at, today)),
            When::On(day) => at == Some(day.date(today)),
        }),
        OrderTest::Side(order, day) => side(*order, *day, at, today),
    }
}

impl Order {
    fn holds<T: Ord>(self, has: &T, value: &T) -> bool {
        match self {
            Self::Below => has < value,
            Self::AtMost => has <= value,
            Self::AtLeast => has >= value,
            Self::Above => has > value,
        }
    }
}

impl<T: Ord> OrderTest<T> {
    fn of(&self, has: &T) -> bool {
        match self {
            Self::OneOf(values) => values.contains(has),
            Self::Side(order, value) => order.holds(has, value),
        }
    }
}

impl<W> TextTest<W> {
    fn of(&self, has: Option<&str>, is: impl Fn(&W) -> bool) -> bool {
        match self {
            Self::OneOf(values) => values.iter().any(is),
            Self::Contains(parts) => {
                has.is_some_and(|has| parts.iter().any(|part| find(has, part).is_some()))
            }
        }
    }
}

impl TextTest {
    fn text(&self, has: Option<&str>) -> bool {
        self.of(has, |value| value.as_deref() == has)
    }
}

impl TextField {
    fn of(self, task: &Outline) -> Option<&str> {
        match self {
            Self::Project => task.project.as_deref(),
            Self::Group => task.group.as_deref(),
            Self::Subject => Some(&task.subject),
            Self::Uid => task.uid.as_deref(),
            Self::Complexity => task.complexity.as_deref(),
        }
    }
}

impl TaskCondition {
    fn holds<O: Borrow<Outline> + Node>(
        self,
        task: &Outline,
        scope: &QueryScope<'_, '_, O>,
    ) -> bool {
        match self {
            Self::Open => !task.state.is_over(),
            Self::Ready => plan::is_ready(scope.graph(), task, scope.now),
            Self::Blocked => {
                plan::is_open(&task.state) && !scope.graph().open_blockers(&task.id).is_empty()
            }
            Self::Overdue => scope.overdue(task),
            Self::Late => (scope.whole)(&task.id).is_some_and(|whole| !whole.late.is_empty()),
            Self::Timed => task.timer.is_some(),
        }
    }
}

impl StatusWord {
    /// As files tell it.
    fn of(state: StateName) -> Self {
        match state {
            StateName::Completed => Self::Completed,
            StateName::InProgress => Self::InProgress,
            StateName::Pending
            | StateName::Claimed
            | StateName::Failed
            | StateName::Stuck
            | StateName::Cancelled => Self::Pending,
        }
    }
}

/// Metadata as one types it: a text as it is, anything else as JSON.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Task {
    /// What is written about it besides its subject.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let notes = self.notes.iter().map(|note| note.text.as_str());
        let results = self.result.iter().chain(&self.late);
        let results = results.map(|result| result.text.as_str());
        std::iter::once(self.description.as_str())
            .chain(notes)
            .chain(results)
    }
}
