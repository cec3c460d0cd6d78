//! What each of several servers has of what the fleet keeps.
//!
//! Owns the judgement of what the servers that lead say of the others. A server that came back with an empty
//! disk counts for nothing until it has all: nats-server lets it choose who leads only together with both
//! others. While it fills, none of them may stop.

use std::collections::BTreeMap;

use flagpost_model::{
    RepoId,
    machines::{CopyState, ServerCopy},
};

use crate::{
    error::FleetError,
    fleet_record::RECORDS,
    hub::Hub,
    server_config::listens_for_machines,
    stored::stream_name,
    stream::{StreamInfo, StreamPeer, info},
};

/// A server from which nothing was heard for so many nanoseconds is away. The others say something each
/// second.
const AWAY_AFTER: u64 = 10_000_000_000;

impl StreamPeer {
    fn state(&self) -> CopyState {
        match self.offline || self.active > AWAY_AFTER || (self.active == 0 && !self.current) {
            true => CopyState::Away,
            false if self.current => CopyState::Whole,
            false => CopyState::Partial,
        }
    }
}

impl Hub {
    /// What each server has of these repositories' orders and of the fleet's records.
    pub(crate) fn copies<'r>(
        &self,
        repos: impl Iterator<Item = &'r RepoId>,
    ) -> Result<Vec<ServerCopy>, FleetError> {
        let records = RECORDS.into_iter().map(str::to_owned);
        let mut streams = Vec::new();
        for name in records.chain(repos.map(stream_name)) {
            match self.block_on(info(self, &name)) {
                Ok(info) => streams.push(info),
                // An order that is to begin anew, or is lost, is on no server.
                Err(FleetError::Gone { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        copies(&streams).ok_or_else(|| self.too_few())
    }
}

/// The servers, each with the least that it has of a stream. None where a stream has nobody who leads, or who
/// leads has no majority: nothing can be appended to it.
pub(crate) fn copies(streams: &[StreamInfo]) -> Option<Vec<ServerCopy>> {
    let mut copies: BTreeMap<&str, CopyState> = BTreeMap::new();
    for cluster in streams.iter().filter_map(|it| it.cluster.as_ref()) {
        let leader = cluster.leader.as_deref().filter(|it| !it.is_empty())?;
        let others = cluster.replicas.iter();
        let others = others.map(|it| (it.name.as_str(), it.state()));
        let all: Vec<_> = others.chain([(leader, CopyState::Whole)]).collect();
        let there = all.iter().filter(|(_, it)| *it != CopyState::Away).count();
        if 2 * there <= all.len() {
            return None;
        }
        for (server, state) in all {
            let least = copies.entry(server).or_insert(state);
            *least = state.max(*least);
        }
    }
    let copies = copies.into_iter().map(|(name, state)| ServerCopy {
        server: listens_for_machines(name),
        state,
    });
    Some(copies.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A stream of which this is said.
    fn stream(cluster: serde_json::Value) -> StreamInfo {
        serde_json::from_value(json!({
            "config": {}, "created": "", "state": { "first_seq": 1, "last_seq": 1 }, "cluster": cluster,
        }))
        .unwrap()
    }

    /// Another server of it.
    fn peer(name: &str, current: bool, active: u64) -> serde_json::Value {
        json!({ "name": name, "current": current, "active": active })
    }

    #[test]
    fn the_least_that_a_server_has_is_told() {
        let (a, b, c) = ("10.0.0.5:6222", "10.0.0.6:6222", "10.0.0.7:6222");
        let led =
            |replicas: [serde_json::Value; 2]| stream(json!({ "leader": a, "replicas": replicas }));
        let states = |streams: &[StreamInfo]| {
            let copies = copies(streams)?;
            Some(
                copies
                    .iter()
                    .map(|it| it.state.as_str())
                    .collect::<Vec<_>>(),
            )
        };
        let well = led([peer(b, true, SECOND), peer(c, true, SECOND)]);
        assert_eq!(states(std::slice::from_ref(&well)), Some(vec!["whole"; 3]));
        let servers = copies(std::slice::from_ref(&well)).unwrap();
        assert_eq!(servers[1].server, "10.0.0.6:4222");

        let fills = led([peer(b, true, SECOND), peer(c, false, SECOND)]);
        assert_eq!(
            states(&[well.clone(), fills, well.clone()]),
            Some(vec!["whole", "whole", "partial"])
        );
        for away in [
            peer(c, false, 0),
            peer(c, false, 11 * SECOND),
            json!({ "name": c, "current": true, "active": SECOND, "offline": true }),
        ] {
            let lost = led([peer(b, true, SECOND), away]);
            assert_eq!(
                states(&[lost, well.clone()]),
                Some(vec!["whole", "whole", "away"])
            );
        }

        let nobody_leads =
            json!({ "leader": "", "replicas": [peer(b, true, 0), peer(c, false, 0)] });
        assert_eq!(states(&[well.clone(), stream(nobody_leads)]), None);
        assert_eq!(states(&[led([peer(b, false, 0), peer(c, false, 0)])]), None);
    }

    #[test]
    fn one_server_says_nothing_of_others() {
        assert_eq!(copies(&[stream(serde_json::Value::Null)]), Some(Vec::new()));
        assert_eq!(copies(&[]), Some(Vec::new()));
    }
}
