//! Where circles close.
//!
//! Owns which edges have to be left out so that a graph with circles has an order after all.
//! Invariant: the same list gives the same edges, and without them there is no circle.

use std::collections::HashSet;

use super::Graph;

/// The edges that lead back, as (waiting, blocker): each closes a circle of tasks that wait for
/// each other. Does not recurse: a chain may be as long as the list.
pub(crate) fn closing(graph: &Graph) -> HashSet<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        No,
        Above,
        Done,
    }
    let mut seen = vec![VisitState::No; graph.len()];
    let mut closing = HashSet::new();
    let is_free = |at: usize| graph.blockers_at(at).is_empty();
    let nodes: Vec<usize> = graph.nodes().map(|(at, _)| at).collect();
    // From what waits for nothing first: so the way into a circle leads forwards.
    let (free, waiting): (Vec<usize>, Vec<usize>) = nodes.into_iter().partition(|&at| is_free(at));
    for root in free.into_iter().chain(waiting) {
        if seen[root] != VisitState::No {
            continue;
        }
        seen[root] = VisitState::Above;
        let mut walk = vec![(root, 0)];
        while let Some((at, next)) = walk.last_mut() {
            let at = *at;
            let Some(&dependant) = graph.dependants_at(at).get(*next) else {
                seen[at] = VisitState::Done;
                walk.pop();
                continue;
            };
            *next += 1;
            match seen[dependant] {
                VisitState::Above => drop(closing.insert((dependant, at))),
                VisitState::Done => {}
                VisitState::No => {
                    seen[dependant] = VisitState::Above;
                    walk.push((dependant, 0));
                }
            }
        }
    }
    closing
}
