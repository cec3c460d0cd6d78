//! How high the items of a layer stand.
//!
//! Owns straight edges: each item wants to stand where its neighbours do, and gets as near to that
//! as the order of its layer and the room that the others need allow.

use super::{GAP_Y, HEIGHT, Item, LANE};

/// As often the layers are gone through.
const SWEEPS: usize = 40;
/// As often of these, items look to one side only, which brings them near their places.
const ONE_SIDED: usize = 8;

/// Each item's middle, given the order of the layers of each part.
pub fn middles(items: &[Item], parts: &[Vec<Vec<usize>>]) -> Vec<f64> {
    let mut middles = vec![0.0; items.len()];
    for order in parts {
        for layer in order {
            let wanted: Vec<(f64, f64)> = layer.iter().map(|_| (0.0, 1.0)).collect();
            position(items, layer, &wanted, &mut middles);
        }
        if order.len() < 2 {
            continue;
        }
        for sweep in 0..SWEEPS {
            // Forwards, backwards, and then both sides have a say.
            let sides: &[usize] = match sweep {
                ONE_SIDED.. => &[0, 1],
                n if n % 2 == 0 => &[0],
                _ => &[1],
            };
            for n in 0..order.len() {
                let layer = if sweep % 2 == 0 {
                    n
                } else {
                    order.len() - 1 - n
                };
                let want = |&at: &usize| want(items, at, sides, &middles);
                let wanted: Vec<(f64, f64)> = order[layer].iter().map(want).collect();
                position(items, &order[layer], &wanted, &mut middles);
            }
        }
    }
    middles
}

/// Where an item wants to stand, and how much it matters. A lane beside a lane matters most: long
/// edges are to be straight.
fn want(items: &[Item], at: usize, sides: &[usize], middles: &[f64]) -> (f64, f64) {
    let is_lane = |at: usize| items[at].height == LANE;
    let (mut sum, mut weight) = (0.0, 0.0);
    for &other in sides.iter().flat_map(|&side| &items[at].sides[side]) {
        let matters = match (is_lane(at), is_lane(other)) {
            (true, true) => 8.0,
            (false, false) => 2.0,
            _ => 1.0,
        };
        sum += matters * middles[other];
        weight += matters;
    }
    match weight {
        0.0 => (middles[at], 0.1),
        _ => (sum / weight, weight),
    }
}

/// How far the middles of two neighbours in a layer are apart at least.
fn min_distance(above: &Item, below: &Item) -> f64 {
    let gap = match above.height == HEIGHT && below.height == HEIGHT {
        true => GAP_Y,
        false => GAP_Y / 2,
    };
    f64::from((above.height + below.height) / 2 + gap)
}

/// Puts the items of a layer as near to where they want to be as their distances allow. Without
/// its distances the layer is a sequence that must not fall, and the best one is had by giving
/// each run that falls its mean.
fn position(items: &[Item], layer: &[usize], wanted: &[(f64, f64)], middles: &mut [f64]) {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (n, &at) in layer.iter().enumerate() {
        if n > 0 {
            offset += min_distance(&items[layer[n - 1]], &items[at]);
        }
        offsets.push(offset);
    }
    // Runs of items that stand as close as they may: where, how much they matter, how many.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (&(middle, weight), offset) in wanted.iter().zip(&offsets) {
        let mut run = (middle - offset, weight, 1);
        while let Some(&(above, matters, count)) = runs.last() {
            if above <= run.0 {
                break;
            }
            runs.pop();
            let weight = matters + run.1;
            run = (
                (above * matters + run.0 * run.1) / weight,
                weight,
                count + run.2,
            );
        }
        runs.push(run);
    }
    let mut slots = layer.iter().zip(&offsets);
    for (middle, _, count) in runs {
        for (&at, offset) in slots.by_ref().take(count) {
            middles[at] = middle + offset;
        }
    }
}
