//! What every drawing promises, whatever foreign writers put into tasks and events.

use jiff::{SignedDuration, Timestamp};
use proptest::{collection::vec, prelude::*};
use roxmltree::Document;

use super::{
    layers::{HEIGHT, WIDTH, lay_out},
    *,
};
use crate::{
    id::TaskId,
    plan::Graph,
    session::{Happened, Outcome, Timeline, TimelineEvent},
    task::{Outline, State, Task},
};

const STATES: [State; 6] = [
    State::Pending,
    State::InProgress(None),
    State::Completed,
    State::Failed,
    State::Stuck,
    State::Cancelled,
];

/// Any characters, those included that other programs only write by mistake or malice.
fn text() -> impl Strategy<Value = String> {
    let nasty = proptest::sample::select(
        "\0\n\r\t\u{1b}\u{202e}\u{2028}\u{ffff}\"'\\<>&]#;%`-{}"
            .chars()
            .collect::<Vec<_>>(),
    );
    vec(prop_oneof![any::<char>(), nasty], 0..60).prop_map(|all| all.into_iter().collect())
}

/// Any list: texts, states and blockers, circles included.
fn list() -> impl Strategy<Value = Vec<Outline>> {
    let task = (text(), text(), 0..STATES.len(), vec(0..14_u64, 0..4));
    vec(task, 0..14).prop_map(|all| {
        let count = all.len() as u64;
        let task = |(n, (subject, owner, state, blockers)): (u64, (_, _, usize, Vec<u64>))| {
            let mut task = Task::new(n.into(), "");
            task.subject = subject;
            task.owner = Some(owner);
            task.state = STATES[state].clone();
            let blockers = blockers.into_iter().filter(|on| *on < count);
            task.blocked_by = blockers.map(TaskId::from).collect();
            Outline::from(&task)
        };
        (0..).zip(all).map(task).collect()
    })
}

/// A list of this many tasks with these (waiting, blocker).
fn linked(tasks: u64, edges: &[(u64, u64)]) -> Vec<Outline> {
    let task = |n: u64| {
        let mut task = Task::new(n.into(), format!("Task {n}"));
        let blockers = edges.iter().filter(|(waiting, _)| *waiting == n);
        task.blocked_by = blockers.map(|&(_, on)| on.into()).collect();
        Outline::from(&task)
    };
    (0..tasks).map(task).collect()
}

fn harmless(text: &str) {
    let bad = text.chars().find(|&c| c != '\n' && steers(c));
    assert_eq!(bad, None, "{text:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn svg_is_xml_and_shows_every_task_and_every_edge_once(list in list(), title in text()) {
        let graph = Graph::new(&list);
        let picture = Picture::new(&title, &graph, |_| 1);
        let drawn = svg(&picture);
        harmless(&drawn);
        let document = Document::parse(&drawn).unwrap();
        let titles = |class: &str| -> Vec<String> {
            let nodes = document.descendants();
            let of_class = nodes.filter(|node| {
                node.attribute("class").is_some_and(|all| all.split(' ').next() == Some(class))
            });
            let titled = of_class.filter_map(|node| node.children().find(|it| it.has_tag_name("title")));
            let mut titles: Vec<_> = titled.map(|it| it.text().unwrap().to_owned()).collect();
            titles.sort();
            titles
        };
        let mut edges: Vec<_> = list
            .iter()
            .flat_map(|task| graph.blockers(&task.id).map(|on| format!("{} waits for {}", task.id, on.id)))
            .collect();
        edges.sort();
        prop_assert_eq!(titles("edge"), edges);
        let mut ids: Vec<_> = list.iter().map(|task| task.id.to_string()).collect();
        ids.sort();
        let mut shown: Vec<_> = titles("task").iter().map(|it| it.split(' ').next().unwrap().to_owned()).collect();
        shown.sort();
        prop_assert_eq!(shown, ids);
        for node in document.descendants() {
            prop_assert!(!["script", "image", "foreignObject", "a"].contains(&node.tag_name().name()));
            prop_assert!(node.attributes().all(|it| !it.name().starts_with("on") && it.name() != "href"));
        }
    }

    #[test]
    fn dot_and_mermaid_have_a_line_for_every_task_and_every_edge(list in list(), title in text()) {
        let graph = Graph::new(&list);
        let picture = Picture::new(&title, &graph, |_| 1);
        let edges = picture.edges.len();
        let drawn = dot(&picture);
        harmless(&drawn);
        prop_assert_eq!(drawn.lines().count(), 6 + list.len() + edges);
        for line in drawn.lines() {
            let open = line.replace("\\\\", "").replace("\\\"", "");
            prop_assert_eq!(open.matches('"').count() % 2, 0, "{}", line);
        }
        let arrows = drawn.lines().skip(5 + list.len()).take(edges);
        prop_assert!(arrows.into_iter().all(|line| line.contains("\" -> \"")));

        let drawn = mermaid(&picture);
        harmless(&drawn);
        let states = drawn.lines().filter(|line| line.starts_with("  classDef ")).count();
        let marks = usize::from(!picture.marked().is_empty());
        prop_assert_eq!(drawn.lines().count(), 2 + list.len() + edges + states + marks);
        for line in drawn.lines().skip(2).take(list.len()) {
            let (before, label) = line.split_once('"').unwrap();
            let (label, after) = label.split_once('"').unwrap();
            prop_assert!(before.starts_with("  t") && after.contains(":::"), "{}", line);
            prop_assert!(!label.contains(['[', ']', '{', '}', '<', '>', '%', '`', '\\', '&', '|']), "{}", line);
        }
    }

    #[test]
    fn a_layout_keeps_its_promises(tasks in 0..30_u64, edges in vec((0..30_u64, 0..30_u64), 0..60)) {
        let known = |&(a, b): &(u64, u64)| a < tasks && b < tasks;
        let edges: Vec<_> = edges.into_iter().filter(known).collect();
        let list = linked(tasks, &edges);
        let graph = Graph::new(&list);
        let picture = Picture::new("x", &graph, |_| 1);
        let layout = lay_out(list.len(), &picture.edges);
        prop_assert_eq!(&layout, &lay_out(list.len(), &picture.edges));
        for (n, &(x, y)) in layout.cards.iter().enumerate() {
            prop_assert!(x >= 0 && y >= 0 && x + WIDTH <= layout.width && y + HEIGHT <= layout.height);
            for &(left, top) in &layout.cards[..n] {
                prop_assert!(x.abs_diff(left) as i32 >= WIDTH || y.abs_diff(top) as i32 > HEIGHT, "two cards touch");
            }
        }
        let within = |(x, y): (i32, i32)| {
            let inside = |&&(left, top): &&(i32, i32)| {
                left < x && x < left + WIDTH && top <= y && y <= top + HEIGHT
            };
            layout.cards.iter().find(inside).copied()
        };
        for (edge, way) in picture.edges.iter().zip(&layout.ways) {
            let (from, to) = (layout.cards[edge.from], layout.cards[edge.to]);
            if edge.line != EdgeStyle::Closing {
                prop_assert!(from.0 + WIDTH < to.0, "an edge goes back");
                prop_assert_eq!(way.first(), Some(&(from.0 + WIDTH, from.1 + HEIGHT / 2)));
                prop_assert_eq!(way.last(), Some(&(to.0, to.1 + HEIGHT / 2)));
            }
            for lane in way[1..way.len() - 1].chunks(2) {
                let middle = (lane[0].0.midpoint(lane[1].0), lane[0].1);
                prop_assert_eq!(within(middle), None, "a lane crosses a card");
            }
        }
    }

    #[test]
    fn without_its_closing_edges_a_graph_has_an_order(tasks in 0..20_u64, edges in vec((0..20_u64, 0..20_u64), 0..40)) {
        let known = |&(a, b): &(u64, u64)| a < tasks && b < tasks;
        let edges: Vec<_> = edges.into_iter().filter(known).collect();
        let whole = linked(tasks, &edges);
        let graph = Graph::new(&whole);
        let picture = Picture::new("x", &graph, |_| 1);
        let closing = picture.edges.iter().filter(|edge| edge.line == EdgeStyle::Closing);
        prop_assert_eq!(closing.count() > 0, graph.cycle().is_some());
        let rest = picture.edges.iter().filter(|edge| edge.line != EdgeStyle::Closing);
        let rest: Vec<_> = rest.map(|edge| (edge.to as u64, edge.from as u64)).collect();
        prop_assert_eq!(Graph::new(&linked(tasks, &rest)).cycle(), None);
    }

    #[test]
    fn a_timeline_is_xml_whatever_was_recorded(
        session in text(),
        told in vec((-99_999_999..99_999_999_i64, 0..5_u64, text(), 0..4_u32, 0..4_usize), 1..20),
        is_live in any::<bool>(),
    ) {
        let moment = |(at, task, subject, n, what): (i64, u64, String, u32, usize)| {
            let (task, attempt) = (TaskId::from(task), n);
            let what = match what {
                0 => Happened::Wave { n, of: 4 },
                1 => Happened::Began { task, subject, attempt },
                2 => Happened::Other,
                _ => {
                    let took = SignedDuration::from_secs(n.into());
                    Happened::Ended { task, subject, attempt, end: Outcome::ALL[n as usize % 3].into(), took }
                }
            };
            TimelineEvent { at: Timestamp::from_second(at).unwrap(), what }
        };
        let moments: Vec<TimelineEvent> = told.into_iter().map(moment).collect();
        let now = is_live.then_some(Timestamp::UNIX_EPOCH);
        let seen = Timeline::new(&session, &moments, now).unwrap();
        let drawn = timeline(&seen);
        harmless(&drawn);
        let document = Document::parse(&drawn).unwrap();
        let of_class = |class: &str| {
            let nodes = document.descendants().filter_map(|node| node.attribute("class"));
            nodes.filter(|it| it.split(' ').next() == Some(class)).count()
        };
        prop_assert_eq!(of_class("row"), seen.rows.len());
        prop_assert_eq!(of_class("attempt"), seen.rows.iter().map(|row| row.bars.len()).sum::<usize>());
        prop_assert_eq!(of_class("wave"), seen.waves.len());
    }
}

#[test]
fn tasks_that_wait_for_nothing_fill_a_field_and_no_row() {
    let list = linked(500, &[]);
    let graph = Graph::new(&list);
    let layout = lay_out(500, &Picture::new("x", &graph, |_| 1).edges);
    let (wide, high) = (f64::from(layout.width), f64::from(layout.height));
    assert!(wide / high < 2.5 && high / wide < 2.5, "{wide} × {high}");
    let field = wide * high;
    let cards = 500.0 * f64::from(WIDTH) * f64::from(HEIGHT);
    assert!(field < cards * 2.5, "{field} for {cards}");
}

#[test]
fn a_diamond_has_no_crossing_and_a_straight_critical_path() {
    let list = linked(5, &[(1, 0), (2, 0), (3, 1), (3, 2), (4, 3)]);
    let graph = Graph::new(&list);
    let layout = lay_out(5, &Picture::new("x", &graph, |_| 1).edges);
    let columns: Vec<_> = layout.cards.iter().map(|(x, _)| x / (WIDTH + 1)).collect();
    assert_eq!(columns, [0, 1, 1, 2, 3]);
    let rows: Vec<_> = layout.cards.iter().map(|(_, y)| *y).collect();
    assert!(rows[1] < rows[2]);
    assert_eq!(rows[3], rows[4]);
}

#[test]
fn a_chain_as_long_as_a_list_and_all_that_waits_for_all_are_laid_out() {
    let chain: Vec<_> = (1..20_000).map(|n| (n, n - 1)).collect();
    let dense: Vec<_> = (0..160)
        .flat_map(|n| (0..n).map(move |on| (n, on)))
        .collect();
    for (tasks, edges) in [(20_000, chain), (160, dense)] {
        let edges: Vec<Edge> = edges
            .iter()
            .map(|&(to, from)| Edge {
                from,
                to,
                line: EdgeStyle::Plain,
            })
            .collect();
        let layout = lay_out(tasks, &edges);
        assert_eq!(layout.ways.len(), edges.len());
        assert!(
            edges
                .iter()
                .all(|edge| layout.cards[edge.from].0 < layout.cards[edge.to].0)
        );
    }
}

#[test]
fn every_state_looks_its_own_way_in_every_format() {
    let mut looks = std::collections::BTreeSet::new();
    for &state in StateName::ALL {
        looks.insert(svg::state::sign(state).to_owned());
        looks.insert(sign(state).to_string());
    }
    assert_eq!(looks.len(), 2 * StateName::ALL.len());
}
