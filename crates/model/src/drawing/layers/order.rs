//! In which order the items of a layer stand below each other.
//!
//! Owns keeping the crossings of edges few: each item goes to the middle of its neighbours, layer
//! by layer, forwards and backwards, and the best of the orders seen is taken.

use super::Item;

/// As often the layers are gone through.
const SWEEPS: usize = 12;

/// The items of one part, layer by layer, each layer from top to bottom. `places` has room for
/// every item's place in its layer.
pub fn order(items: &[Item], part: &[usize], places: &mut [f64]) -> Vec<Vec<usize>> {
    let layers = part.iter().map(|&at| items[at].layer + 1).max();
    let mut order = vec![Vec::new(); layers.unwrap_or_default()];
    part.iter().for_each(|&at| order[items[at].layer].push(at));
    order.iter().for_each(|layer| number(layer, places));
    let mut best = (crossings(items, &order, places), order.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let side = sweep % 2;
        for n in 0..order.len() {
            let layer = if side == 0 { n } else { order.len() - 1 - n };
            let middle = |&at: &usize| {
                let neighbours = &items[at].sides[side];
                let sum: f64 = neighbours.iter().map(|other| places[*other]).sum();
                match neighbours.len() {
                    0 => places[at],
                    n => sum / n as f64,
                }
            };
            let mut keyed: Vec<(f64, usize)> =
                order[layer].iter().map(|at| (middle(at), *at)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            order[layer] = keyed.into_iter().map(|(_, at)| at).collect();
            number(&order[layer], places);
        }
        let crossings = crossings(items, &order, places);
        if crossings < best.0 {
            best = (crossings, order.clone());
        }
    }
    best.1
}

fn number(layer: &[usize], places: &mut [f64]) {
    for (n, &at) in layer.iter().enumerate() {
        places[at] = n as f64;
    }
}

/// How many pairs of edges cross.
fn crossings(items: &[Item], order: &[Vec<usize>], places: &[f64]) -> usize {
    let mut crossings = 0;
    for layer in order {
        // The far ends of the edges, in the order of their near ends: each that comes after a
        // greater one crosses it.
        let mut seen: Vec<f64> = Vec::new();
        for &at in layer {
            let mut ends: Vec<f64> = items[at].sides[1]
                .iter()
                .map(|other| places[*other])
                .collect();
            ends.sort_by(f64::total_cmp);
            for end in ends {
                let before = seen.partition_point(|other| *other <= end);
                crossings += seen.len() - before;
                seen.insert(before, end);
            }
        }
    }
    crossings
}
