//! What was asked.
//!
//! Owns where in a request its parts stand, and who it is that asks. What they may be is checked in
//! `core`.

use flagpost_core::operations::{Arguments, Caller, CallerPlace, Identity, Parameter};
use flagpost_model::{WorkerId, decision::Via, task::Origin};
use serde_json::{Map, Value};

use super::{
    Shared,
    answer::HttpError,
    route::{AGENT, AS, ParamLocation, REPO, Route},
};

/// Where the parts of a request come from.
pub(crate) struct Parts {
    /// The varying parts of the path.
    pub(crate) path: Vec<(String, String)>,
    /// What stands behind the question mark.
    pub(crate) query: Vec<(String, String)>,
    /// What the headers say, as far as the route asks.
    pub(crate) headers: Vec<(String, String)>,
    /// What was sent.
    pub(crate) body: Map<String, Value>,
}

/// Checks a request against its route's description.
pub(crate) fn read(route: &Route, parts: Parts) -> Result<Arguments, HttpError> {
    let parameters = route.parameters();
    for (place, texts) in [
        (ParamLocation::Path, &parts.path),
        (ParamLocation::Query, &parts.query),
        (ParamLocation::Header, &parts.headers),
    ] {
        for (name, _) in texts {
            goes_there(&parameters, place, name)?;
        }
    }
    for name in parts.body.keys() {
        goes_there(&parameters, ParamLocation::Body, name)?;
    }
    let all: Vec<_> = parameters.iter().map(|(_, it)| *it).collect();
    let texts = [parts.path, parts.query, parts.headers].concat();
    Ok(Arguments::read(&all, texts, parts.body)?)
}

/// Refuses what is said where it cannot be said.
fn goes_there(
    parameters: &[(ParamLocation, &Parameter)],
    place: ParamLocation,
    name: &str,
) -> Result<(), HttpError> {
    let is_at = |at, it: &(ParamLocation, &Parameter)| it.0 == at && it.1.name == name;
    if parameters.iter().any(|it| is_at(place, it)) {
        return Ok(());
    }
    let known = parameters.iter().filter(|it| it.0 == place);
    let known: Vec<&str> = known.map(|it| it.1.name).collect();
    let hint = match known.as_slice() {
        _ if parameters.iter().any(|it| is_at(ParamLocation::Query, it)) => {
            "it goes behind the question mark of the path".to_owned()
        }
        [] => "nothing goes there".to_owned(),
        known => format!("there are {}", known.join(", ")),
    };
    Err(HttpError::usage(format!(
        "there is no {name:?} here; {hint}"
    )))
}

/// Who asks. Nobody stands anywhere here: an agent is whoever says so.
pub(crate) fn caller(shared: &Shared, arguments: &Arguments) -> Result<Caller, HttpError> {
    let agent: Option<WorkerId> = arguments.parsed(AGENT.name)?;
    let identity = Identity {
        asked: arguments.parsed(AS.name)?,
        user: shared.actor.clone(),
        origin: agent.as_ref().map_or(Origin::Person, |_| Origin::Agent),
        agent,
    };
    let named = arguments.owned(REPO.name);
    let place = named.map_or(CallerPlace::Nowhere, CallerPlace::Named);
    Ok(Caller::new(&shared.home, identity, Via::Api, place))
}
