//! Where the cards of a graph stand, and which way its edges go.
//!
//! Owns a layered layout after Sugiyama: what waits stands to the right of what it waits for, long
//! edges have lanes of their own between the cards, parts that hang together stand together.
//! Invariants: no two cards touch; an edge goes to the right unless it closes a circle; the same
//! graph gives the same layout. Takes little more than linear time, and does not recurse.
//!
//! Own code, as `rust-sugiyama` does not say where long edges go: they would cross cards.

mod order;
mod place;

use super::{Edge, EdgeStyle};

/// How wide a card is.
pub const WIDTH: i32 = 220;
/// How high a card is.
pub const HEIGHT: i32 = 72;
/// How high the lane of an edge is.
const LANE: i32 = 14;
/// Between a card and the next layer.
const GAP_X: i32 = 64;
/// Between two cards of a layer.
const GAP_Y: i32 = 20;
/// How far below the way forwards the way back is.
const BESIDE: i32 = 10;
/// As many lanes are laid; the longest edges of a graph that needs more go straight.
const LANES: usize = 40_000;

/// A place in the drawing.
pub type Point = (i32, i32);

/// Where everything is.
#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    /// How wide all of it is.
    pub width: i32,
    /// How high all of it is.
    pub height: i32,
    /// Each card's upper left corner.
    pub cards: Vec<Point>,
    /// Each edge's way, from the card that comes first to the one that waits.
    pub ways: Vec<Vec<Point>>,
}

/// A card or a lane in its layer.
#[derive(Debug, Clone)]
struct Item {
    layer: usize,
    height: i32,
    /// Its neighbours in the layer before and in the one after.
    sides: [Vec<usize>; 2],
}

/// Lays out this many cards.
pub fn lay_out(cards: usize, edges: &[Edge]) -> Layout {
    let layers = layers(cards, edges);
    let card = |at: usize| Item {
        layer: layers[at],
        height: HEIGHT,
        sides: [Vec::new(), Vec::new()],
    };
    let mut items: Vec<Item> = (0..cards).map(card).collect();
    let mut lanes: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    let mut by_length: Vec<usize> = (0..edges.len()).collect();
    by_length.sort_by_key(|&edge| layers[edges[edge].to].abs_diff(layers[edges[edge].from]));
    for edge in by_length {
        let (first, last) = ends(&edges[edge], &layers);
        let between = layers[first] + 1..layers[last];
        if first == last || items.len() - cards + between.len() > LANES {
            continue;
        }
        let mut before = first;
        for layer in between {
            let lane = items.len();
            items.push(Item {
                layer,
                height: LANE,
                sides: [Vec::new(), Vec::new()],
            });
            lanes[edge].push(lane);
            join(&mut items, before, lane, &edges[edge]);
            before = lane;
        }
        join(&mut items, before, last, &edges[edge]);
    }
    let parts = parts(&items);
    let mut places = vec![0.0; items.len()];
    let orders: Vec<_> = parts
        .iter()
        .map(|part| order::order(&items, part, &mut places))
        .collect();
    let middles = place::middles(&items, &orders);
    pack(cards, edges, &items, &lanes, &parts, &middles)
}

/// An edge's ends, the one of the lower layer first.
fn ends(edge: &Edge, layers: &[usize]) -> (usize, usize) {
    match layers[edge.from] <= layers[edge.to] {
        true => (edge.from, edge.to),
        false => (edge.to, edge.from),
    }
}

/// The critical path pulls as hard as several edges, so that it is straight.
fn join(items: &mut [Item], before: usize, after: usize, edge: &Edge) {
    let pulls = match edge.line {
        EdgeStyle::Critical => 4,
        EdgeStyle::Plain | EdgeStyle::Closing => 1,
    };
    for _ in 0..pulls {
        items[before].sides[1].push(after);
        items[after].sides[0].push(before);
    }
}

/// Each card's layer: behind those of all that it waits for.
fn layers(cards: usize, edges: &[Edge]) -> Vec<usize> {
    let mut after = vec![Vec::new(); cards];
    let mut waits_for = vec![0_usize; cards];
    for edge in edges.iter().filter(|edge| edge.line != EdgeStyle::Closing) {
        after[edge.from].push(edge.to);
        waits_for[edge.to] += 1;
    }
    let mut order: Vec<usize> = (0..cards).filter(|&at| waits_for[at] == 0).collect();
    let mut layers = vec![0; cards];
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &to in &after[at] {
            layers[to] = layers[to].max(layers[at] + 1);
            waits_for[to] -= 1;
            if waits_for[to] == 0 {
                order.push(to);
            }
        }
    }
    layers
}

/// The items that hang together, part by part, each in the order in which a walk meets them.
fn parts(items: &[Item]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; items.len()];
    let mut parts = Vec::new();
    for root in 0..items.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut part = vec![root];
        let mut next = 0;
        while let Some(&at) = part.get(next) {
            next += 1;
            for &other in items[at].sides.iter().flatten() {
                if !seen[other] {
                    seen[other] = true;
                    part.push(other);
                }
            }
        }
        parts.push(part);
    }
    parts
}

/// Puts the parts on shelves, high ones first, and draws the ways between the cards.
fn pack(
    cards: usize,
    edges: &[Edge],
    items: &[Item],
    lanes: &[Vec<usize>],
    parts: &[Vec<usize>],
    middles: &[f64],
) -> Layout {
    let pitch = WIDTH + GAP_X;
    let mut tops = vec![0; items.len()];
    let mut boxes = Vec::new();
    for part in parts {
        let top = |&at: &usize| middles[at].round() as i32 - items[at].height / 2;
        let highest = part.iter().map(top).min().unwrap_or_default();
        part.iter().for_each(|at| tops[*at] = top(at) - highest);
        let height = part.iter().map(|&at| tops[at] + items[at].height).max();
        let layers = part.iter().map(|&at| items[at].layer + 1).max();
        let width = pitch * layers.unwrap_or_default() as i32 - GAP_X;
        boxes.push((width, height.unwrap_or_default()));
    }
    let widest = boxes
        .iter()
        .map(|(width, _)| *width)
        .max()
        .unwrap_or_default();
    let area: f64 = boxes
        .iter()
        .map(|(w, h)| f64::from(w + GAP_X) * f64::from(h + GAP_Y))
        .sum();
    let limit = widest.max((area * 1.8).sqrt() as i32);

    let mut shelves: Vec<usize> = (0..parts.len()).collect();
    shelves.sort_by_key(|&part| std::cmp::Reverse(boxes[part].1));
    let mut layout = Layout::default();
    let mut corners = vec![(0, 0); items.len()];
    let (mut x, mut y) = (0, 0);
    for part in shelves {
        let (width, height) = boxes[part];
        if x > 0 && x + width > limit {
            (x, y) = (0, layout.height + 2 * GAP_Y);
        }
        for &at in &parts[part] {
            corners[at] = (x + pitch * items[at].layer as i32, y + tops[at]);
        }
        layout.width = layout.width.max(x + width);
        layout.height = layout.height.max(y + height);
        x += width + GAP_X;
    }
    let way = |(edge, lanes): (&Edge, &Vec<usize>)| way(edge, lanes, items, &corners);
    layout.ways = edges.iter().zip(lanes).map(way).collect();
    corners.truncate(cards);
    layout.cards = corners;
    layout
}

/// From card to card through the lanes, each of which is as long as a card is wide.
fn way(edge: &Edge, lanes: &[usize], items: &[Item], corners: &[Point]) -> Vec<Point> {
    let back = items[edge.from].layer > items[edge.to].layer;
    let (first, last, beside) = match back {
        true => (edge.to, edge.from, BESIDE),
        false => (edge.from, edge.to, 0),
    };
    let middle = |at: usize| corners[at].1 + items[at].height / 2 + beside;
    let mut way = vec![(corners[first].0 + WIDTH, middle(first))];
    for &lane in lanes {
        way.push((corners[lane].0, middle(lane)));
        way.push((corners[lane].0 + WIDTH, middle(lane)));
    }
    way.push((corners[last].0, middle(last)));
    if back {
        way.reverse();
    }
    way
}
