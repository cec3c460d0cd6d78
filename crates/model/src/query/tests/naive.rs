//! The language against a second opinion: every text survives the parser, every query survives
//! being printed, and what fits is what a filter written out by hand lets through.

use jiff::{SignedDuration, Timestamp, ToSpan, civil::Date, tz::TimeZone};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

use crate::{
    id::{TaskId, Token, WorkerId},
    query::{
        Day, DueOn, Filter, Near, Order, OrderKey, OrderTest, Query, QueryScope, SortKey,
        StatusWord, TaskCondition, Test, TextField, TextTest, TimeField, When, Who,
    },
    task::{
        Claim, DEFAULT_LEASE, Effort, Ending, Note, Origin, Outline, Priority, Provenance, State,
        StateName, Task, TaskResult, Timer,
    },
};

const NOW: &str = "2026-05-13T12:00:00Z";
const NAMES: &[&str] = &[
    "api", "API", "none", "me", "W1", "a b", "and", "\"q\"", "é,(", "x!=\\", "@y",
];

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn today() -> Date {
    "2026-05-13".parse().unwrap()
}

fn name() -> impl Strategy<Value = String> {
    select(NAMES).prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = TaskId> {
    (1_u64..8).prop_map(TaskId::from)
}

fn date() -> impl Strategy<Value = Date> {
    (-9_i64..10).prop_map(|days| today() + days.days())
}

fn effort() -> impl Strategy<Value = Effort> {
    (0_u64..4).prop_map(|n| Effort::from_minutes(n * 30))
}

fn some<V: std::fmt::Debug>(value: impl Strategy<Value = V>) -> impl Strategy<Value = Vec<V>> {
    vec(value, 1..3)
}

fn order() -> impl Strategy<Value = Order> {
    select(&[Order::Below, Order::AtMost, Order::AtLeast, Order::Above][..])
}

fn scale<V: std::fmt::Debug + Clone + 'static, T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = V> + 'static,
    side: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<OrderTest<V, T>> {
    prop_oneof![
        some(value).prop_map(OrderTest::OneOf),
        (order(), side).prop_map(|(order, value)| OrderTest::Side(order, value)),
    ]
    .boxed()
}

fn words<W: std::fmt::Debug + Clone + 'static>(
    word: impl Strategy<Value = W> + 'static,
) -> BoxedStrategy<TextTest<W>> {
    prop_oneof![
        some(word).prop_map(TextTest::OneOf),
        some(name()).prop_map(TextTest::Contains)
    ]
    .boxed()
}

fn day() -> BoxedStrategy<Day> {
    prop_oneof![
        select(Near::ALL).prop_map(Day::Near),
        date().prop_map(Day::On)
    ]
    .boxed()
}

fn test() -> BoxedStrategy<Test> {
    let text = || words(option::of(name()));
    let due = prop_oneof![
        select(&[DueOn::Never, DueOn::Overdue, DueOn::Week][..]),
        day().prop_map(DueOn::On)
    ];
    let when = prop_oneof![
        select(&[When::Never, When::Week][..]),
        day().prop_map(When::On)
    ];
    let who = prop_oneof![
        Just(Who::Me),
        Just(Who::Nobody),
        name().prop_map(Who::Named)
    ];
    let priority = || select(Priority::ALL);
    prop_oneof![
        some(select(TaskCondition::ALL)).prop_map(Test::Is),
        some(select(StateName::ALL)).prop_map(Test::State),
        some(select(StatusWord::ALL)).prop_map(Test::Status),
        scale(id(), id()).prop_map(Test::Id),
        scale(option::of(priority()), priority()).prop_map(Test::Priority),
        text().prop_map(Test::Tag),
        words(who).prop_map(Test::Owner),
        (select(TextField::ALL), text()).prop_map(|(of, words)| Test::Words { of, words }),
        (select(&["k", "deep.key"][..]), text()).prop_map(|(key, words)| Test::Meta {
            key: key.to_owned(),
            words
        }),
        some(name()).prop_map(Test::Text),
        scale(due, day()).prop_map(Test::Due),
        (select(TimeField::ALL), scale(when, day()))
            .prop_map(|(of, when)| Test::Moment { of, when }),
        some(option::of(id())).prop_map(Test::Parent),
        scale(option::of(effort()), effort()).prop_map(Test::Estimate),
        scale(effort(), effort()).prop_map(Test::Tracked),
        scale(0_u32..3, 0_u32..3).prop_map(Test::Attempts),
    ]
    .boxed()
}

fn filter() -> impl Strategy<Value = Filter> {
    let leaf = test().prop_map(Filter::Test);
    leaf.prop_recursive(4, 16, 3, |inside| {
        prop_oneof![
            vec(inside.clone(), 2..4).prop_map(Filter::All),
            vec(inside.clone(), 2..4).prop_map(Filter::Any),
            inside.prop_map(|part| Filter::Not(Box::new(part))),
        ]
    })
}

fn sort() -> impl Strategy<Value = Vec<SortKey>> {
    let key = (select(OrderKey::ALL), any::<bool>());
    vec(
        key.prop_map(|(key, descending)| SortKey { key, descending }),
        0..3,
    )
}

fn query() -> impl Strategy<Value = Query> {
    (option::of(filter()), sort(), option::of(0_usize..9)).prop_map(|(filter, sort, limit)| Query {
        filter,
        sort,
        limit,
    })
}

fn state() -> impl Strategy<Value = State> {
    let claim = |ended: bool| {
        let by: WorkerId = "W1".parse().unwrap();
        let begun = now() - SignedDuration::from_hours(if ended { 9 } else { 0 });
        Claim {
            by,
            token: Token(1),
            at: begun,
            expires_at: begun + DEFAULT_LEASE,
            lease: DEFAULT_LEASE,
            session: None,
        }
    };
    prop_oneof![
        3 => Just(State::Pending),
        1 => any::<bool>().prop_map(move |ended| State::Claimed(claim(ended))),
        1 => any::<bool>().prop_map(move |ended| State::InProgress((!ended).then(|| claim(true)))),
        3 => Just(State::Completed),
        1 => select(&[State::Failed, State::Stuck, State::Cancelled][..]),
    ]
}

fn moment() -> impl Strategy<Value = Timestamp> {
    (-300_i64..30).prop_map(|hours| now() + SignedDuration::from_hours(hours))
}

fn result() -> impl Strategy<Value = TaskResult> {
    (name(), moment()).prop_map(|(text, at)| TaskResult {
        ending: Ending::Completed,
        text,
        by: WorkerId::operator(),
        at,
        token: None,
    })
}

fn task() -> impl Strategy<Value = Task> {
    let texts = (
        name(),
        name(),
        option::of(name()),
        option::of(name()),
        option::of(name()),
    );
    let sets = (
        vec(name(), 0..3),
        vec(1_u64..9, 0..2),
        option::of(id()),
        vec(name(), 0..2),
    );
    let dates = (
        option::of(date()),
        option::of(moment()),
        option::of(moment()),
    );
    let work = (option::of(effort()), effort(), any::<bool>(), 0_u32..3);
    let rest = (
        option::of(select(Priority::ALL)),
        state(),
        option::of(result()),
        vec(result(), 0..2),
        option::of(prop_oneof![
            name().prop_map(|it| json!(it)),
            Just(json!(12))
        ]),
    );
    (texts, sets, dates, work, rest).prop_map(|(texts, sets, dates, work, rest)| Task {
        description: texts.1,
        owner: texts.2,
        project: texts.3,
        uid: texts.4,
        tags: sets.0,
        blocked_by: sets.1.into_iter().map(TaskId::from).collect(),
        parent: sets.2,
        notes: sets
            .3
            .into_iter()
            .map(|text| Note {
                by: None,
                at: None,
                text,
                question: None,
            })
            .collect(),
        due: dates.0,
        not_before: dates.1,
        provenance: dates.2.map(|at| Provenance {
            origin: Origin::Person,
            by: WorkerId::operator(),
            at,
        }),
        estimate: work.0,
        tracked: work.1,
        timer: work.2.then(|| Timer {
            by: WorkerId::operator(),
            since: now() - SignedDuration::from_mins(30),
        }),
        attempts: work.3,
        priority: rest.0,
        state: rest.1,
        result: rest.2,
        late: rest.3,
        metadata: rest
            .4
            .into_iter()
            .map(|value| ("k".to_owned(), value))
            .collect(),
        ..Task::new(TaskId::from(1), texts.0)
    })
}

fn list() -> impl Strategy<Value = Vec<Task>> {
    vec(task(), 0..7).prop_map(|mut tasks| {
        for (n, task) in (1_u64..).zip(&mut tasks) {
            task.id = TaskId::from(n);
        }
        tasks
    })
}

/// The filter again, written out: over whole tasks, text by text, and nothing shared.
fn fits(filter: &Filter, task: &Task, all: &[Task]) -> bool {
    match filter {
        Filter::All(parts) => !parts.iter().any(|part| !fits(part, task, all)),
        Filter::Any(parts) => !parts.iter().all(|part| !fits(part, task, all)),
        Filter::Not(part) => !fits(part, task, all),
        Filter::Test(test) => passes(test, task, all),
    }
}

fn passes(test: &Test, task: &Task, all: &[Task]) -> bool {
    let over = ["completed", "cancelled"].contains(&task.state.name().as_str());
    let overdue = !over && task.due.is_some_and(|due| due < today());
    let waits = task.blocked_by.iter().any(|on| {
        let on = all.iter().find(|it| it.id == *on);
        on.is_none_or(|on| on.state.name() != StateName::Completed)
    });
    let state = task.state.name().as_str();
    let has = |text: &str, part: &String| text.to_lowercase().contains(&part.to_lowercase());
    let text = |words: &TextTest, value: Option<&str>| match words {
        TextTest::OneOf(values) => values.iter().any(|it| it.as_deref() == value),
        TextTest::Contains(parts) => parts
            .iter()
            .any(|part| value.is_some_and(|it| has(it, part))),
    };
    match test {
        Test::Is(values) => values.iter().any(|value| match value {
            TaskCondition::Open => !over,
            TaskCondition::Overdue => overdue,
            TaskCondition::Late => !task.late.is_empty(),
            TaskCondition::Timed => task.timer.is_some(),
            TaskCondition::Blocked => {
                ["pending", "claimed", "in_progress"].contains(&state) && waits
            }
            TaskCondition::Ready => {
                let free = match &task.state {
                    State::Pending => true,
                    State::InProgress(None) => false,
                    other => other.claim().is_some_and(|it| it.expires_at <= now()),
                };
                free && !waits && task.not_before.is_none_or(|at| at <= now())
            }
        }),
        Test::State(values) => values.iter().any(|it| it.as_str() == state),
        Test::Status(values) => {
            let status = match state {
                "completed" | "in_progress" => state,
                _ => "pending",
            };
            values.iter().any(|it| it.as_str() == status)
        }
        Test::Id(scale) => number(scale, task.id.number(), |id| id.number()),
        Test::Priority(scale) => {
            let urgency = |it: &Priority| {
                ["low", "medium", "high", "critical"]
                    .iter()
                    .position(|name| *name == it.as_str())
            };
            match scale {
                OrderTest::OneOf(values) => values.contains(&task.priority),
                OrderTest::Side(order, value) => task
                    .priority
                    .is_some_and(|it| beside(*order, urgency(&it), urgency(value))),
            }
        }
        Test::Tag(TextTest::OneOf(values)) => values.iter().any(|value| match value {
            None => task.tags.is_empty(),
            Some(value) => task.tags.iter().any(|tag| tag == value),
        }),
        Test::Tag(TextTest::Contains(parts)) => parts
            .iter()
            .any(|part| task.tags.iter().any(|tag| has(tag, part))),
        Test::Owner(TextTest::OneOf(values)) => values.iter().any(|who| match who {
            Who::Nobody => task.owner.is_none(),
            Who::Me => task.owner.as_deref() == Some("W1"),
            Who::Named(name) => task.owner.as_ref() == Some(name),
        }),
        Test::Owner(TextTest::Contains(parts)) => {
            let owner = task.owner.as_ref();
            parts
                .iter()
                .any(|part| owner.is_some_and(|owner| has(owner, part)))
        }
        Test::Words { of, words } => text(
            words,
            match of {
                TextField::Project => task.project.as_deref(),
                TextField::Group => None,
                TextField::Subject => Some(&task.subject),
                TextField::Uid => task.uid.as_deref(),
                TextField::Complexity => None,
            },
        ),
        Test::Meta { key, words } => {
            let value = task.metadata.get(key);
            let value = value.map(|it| it.as_str().map_or("12".to_owned(), str::to_owned));
            text(words, value.as_deref())
        }
        Test::Text(parts) => parts.iter().any(|part| {
            let mut texts = vec![&task.subject, &task.description];
            texts.extend(task.notes.iter().map(|note| &note.text));
            texts.extend(
                task.result
                    .iter()
                    .chain(&task.late)
                    .map(|result| &result.text),
            );
            texts.iter().any(|text| has(text, part))
        }),
        Test::Due(OrderTest::OneOf(values)) => values.iter().any(|value| match value {
            DueOn::Never => task.due.is_none(),
            DueOn::Overdue => overdue,
            DueOn::Week => task
                .due
                .is_some_and(|due| (0..7).any(|n| due == today() + n.days())),
            DueOn::On(day) => task.due == Some(meant(day)),
        }),
        Test::Due(OrderTest::Side(order, day)) => {
            task.due.is_some_and(|due| beside(*order, due, meant(day)))
        }
        Test::Moment { of, when } => {
            let at = match of {
                TimeField::Added => task.provenance.as_ref().map(|it| it.at),
                TimeField::Ended => task.result.as_ref().map(|it| it.at),
            };
            let at = at.map(|at| at.to_string()[..10].parse::<Date>().unwrap());
            match when {
                OrderTest::OneOf(values) => values.iter().any(|value| match value {
                    When::Never => at.is_none(),
                    When::Week => at.is_some_and(|at| (0..7).any(|n| at == today() - n.days())),
                    When::On(day) => at == Some(meant(day)),
                }),
                OrderTest::Side(order, day) => at.is_some_and(|at| beside(*order, at, meant(day))),
            }
        }
        Test::Parent(values) => values.contains(&task.parent),
        Test::Estimate(OrderTest::OneOf(values)) => values.contains(&task.estimate),
        Test::Estimate(OrderTest::Side(order, value)) => {
            task.estimate.is_some_and(|it| beside(*order, it, *value))
        }
        Test::Tracked(scale) => {
            let running = if task.timer.is_some() { 30 } else { 0 };
            number(scale, task.tracked.minutes() + running, |it| it.minutes())
        }
        Test::Attempts(scale) => number(scale, task.attempts, |it| *it),
    }
}

fn number<T, N: PartialOrd + Copy>(scale: &OrderTest<T>, has: N, of: impl Fn(&T) -> N) -> bool {
    match scale {
        OrderTest::OneOf(values) => values.iter().any(|value| of(value) == has),
        OrderTest::Side(order, value) => beside(*order, has, of(value)),
    }
}

fn beside<T: PartialOrd>(order: Order, has: T, value: T) -> bool {
    match order {
        Order::Below => has < value,
        Order::AtMost => has <= value,
        Order::Above => has > value,
        Order::AtLeast => has >= value,
    }
}

fn meant(day: &Day) -> Date {
    match day {
        Day::Near(Near::Yesterday) => today() - 1.day(),
        Day::Near(Near::Today) => today(),
        Day::Near(Near::Tomorrow) => today() + 1.day(),
        Day::On(date) => *date,
    }
}

/// What a query selects; with a limit that it may not exceed by itself.
fn selected(query: &Query, tasks: &[Task], limit: usize) -> (Vec<TaskId>, usize) {
    let outlines: Vec<Outline> = tasks.iter().map(Outline::from).collect();
    let whole = |id: &TaskId| tasks.iter().find(|task| task.id == *id).cloned();
    let me = "W1".parse().ok();
    let scope = QueryScope::new(&outlines, me, now(), TimeZone::UTC, &whole);
    let (found, total) = query.select(&scope, limit);
    (found.iter().map(|task| task.id.clone()).collect(), total)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let parsed: Result<Query, _> = text.parse();
        if let Err(error) = parsed {
            prop_assert!(error.at <= text.chars().count());
        }
    }

    #[test]
    fn nothing_that_looks_like_a_query_panics(
        words in vec(select(&["tag", "=", "!=", "~", "<", "a", ",", "(", ")", "and", "or", "not",
            "sort", "limit", "due", "'x", "\"y\"", "5", "-", "meta.", ":", "@n", "none", "\\"][..]), 0..14),
        gap in select(&["", " "][..]),
    ) {
        let text = words.join(gap);
        if let Ok(query) = text.parse::<Query>() {
            prop_assert_eq!(query.to_string().parse::<Query>().unwrap(), query);
        }
    }

    #[test]
    fn a_query_survives_being_printed(query in query()) {
        let text = query.to_string();
        prop_assert_eq!(text.parse::<Query>().unwrap(), query, "{}", text);
    }

    #[test]
    fn what_fits_is_what_a_written_out_filter_lets_through(query in query(), tasks in list()) {
        let filter = Query { sort: Vec::new(), limit: None, ..query };
        let naive: Vec<TaskId> = tasks
            .iter()
            .filter(|task| filter.filter.as_ref().is_none_or(|it| fits(it, task, &tasks)))
            .map(|task| task.id.clone())
            .collect();
        let total = naive.len();
        prop_assert_eq!(selected(&filter, &tasks, 0), (naive, total), "{}", filter);
    }

    #[test]
    fn a_limit_cuts_what_would_be_sorted_without_it(sort in sort(), limit in 0_usize..9, tasks in list()) {
        let query = Query { sort, ..Query::default() };
        let (mut all, total) = selected(&query, &tasks, 0);
        if limit > 0 {
            all.truncate(limit);
        }
        prop_assert_eq!(selected(&query, &tasks, limit), (all, total));
    }
}

#[test]
fn tasks_without_a_value_come_last_either_way_round() {
    let mut tasks: Vec<Task> = (1..=4).map(|n| Task::new(TaskId::from(n), "x")).collect();
    tasks[1].priority = Some(Priority::Low);
    tasks[3].priority = Some(Priority::Critical);
    let order = |text: &str| {
        let ids = selected(&text.parse().unwrap(), &tasks, 0).0;
        ids.iter().map(TaskId::to_string).collect::<String>()
    };
    assert_eq!(order("sort=priority"), "2413");
    assert_eq!(order("sort=-priority"), "4213");
    assert_eq!(order("sort=-priority,-id"), "4231");
    assert_eq!(order("sort=-priority limit=1"), "4");
    assert_eq!(order("sort=-id"), "4321");
}
