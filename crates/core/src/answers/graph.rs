//! A plan as it is laid out.

use flagpost_model::{
    ListRef, TaskId,
    drawing::{self, EdgeStyle, Picture, Placed},
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

view! {
    /// A task or a group in its place.
    pub struct GraphCard<'a> {
        /// Of a task; null for a group.
        task: Option<&'a TaskId>,
        /// Of a group; null for a task, and for the tasks without a group.
        group: Option<&'a str>,
        /// How many tasks it stands for.
        tasks: usize,
        /// Its upper left corner.
        x: i32,
        y: i32,
        /// Whether it is on the critical path.
        critical: bool,
    }

    /// That one waits for another, both by their place among the cards.
    struct GraphEdge<'a> {
        /// The one that comes first.
        from: usize,
        /// The one that waits.
        to: usize,
        /// Its path, as SVG has it.
        path: &'a str,
        #[schemars(extend("enum" = ["plain", "critical", "closing"]))]
        kind: &'static str,
    }

    /// That a task waits for one that does not exist.
    pub struct UnknownBlocker<'a> from it: &'a (TaskId, TaskId) {
        task: &'a TaskId = &it.0,
        waits_for: &'a TaskId = &it.1,
    }
}

/// What waits for what, laid out to be drawn. Lengths are pixels.
///
/// From GET /v1/graph. A plan of many tasks is laid out by group.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GraphLayout<'a> {
    list: &'a ListRef,
    width: i32,
    height: i32,
    card_width: i32,
    card_height: i32,
    cards: Vec<GraphCard<'a>>,
    edges: Vec<GraphEdge<'a>>,
    /// Tasks that wait for one that does not exist.
    unknown: Vec<UnknownBlocker<'a>>,
    /// Tasks that wait for each other, the first one again at the end; null where none do.
    cycle: Option<&'a [TaskId]>,
}

impl<'a> GraphLayout<'a> {
    /// A picture in its places; `card` makes a card of each: its number, its corner, and whether it is on the
    /// critical path.
    pub fn of(
        list: &'a ListRef,
        (picture, placed): (&Picture<'_>, &'a Placed),
        (unknown, cycle): (&'a [(TaskId, TaskId)], Option<&'a [TaskId]>),
        card: impl Fn(usize, (i32, i32)) -> GraphCard<'a>,
    ) -> Self {
        let cards = placed.cards.iter().enumerate();
        let edges = picture.edges.iter().zip(&placed.paths);
        let edges = edges.map(|(edge, path)| {
            let kind = match edge.line {
                EdgeStyle::Plain => "plain",
                EdgeStyle::Critical => "critical",
                EdgeStyle::Closing => "closing",
            };
            GraphEdge::new(edge.from, edge.to, path, kind)
        });
        let (width, height) = placed.size;
        Self {
            list,
            width,
            height,
            card_width: drawing::WIDTH,
            card_height: drawing::HEIGHT,
            cards: cards.map(|(n, corner)| card(n, *corner)).collect(),
            edges: edges.collect(),
            unknown: super::each(unknown),
            cycle,
        }
    }
}
