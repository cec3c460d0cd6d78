//! What can be read by its address.
//!
//! Owns the addresses `flagpost://…`. A brief is read only where it was let through and is as it was
//! decided on.

use flagpost_core::{
    Error, Result,
    operations::Operation,
    relay::{Fleet, deliver},
};
use flagpost_model::decision::Decision;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value};

use crate::seat::AgentSeat;

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
const SCHEME: &str = "flagpost://";

/// Those that are always there.
pub(crate) fn list(seat: &AgentSeat) -> Vec<Resource> {
    let of = |name: &str, about: &str| {
        Resource::new(format!("{SCHEME}{name}"), name)
            .with_description(about)
            .with_mime_type(JSON)
    };
    let inbox = seat
        .worker
        .is_some()
        .then(|| of("inbox", "Briefs that were approved and not acknowledged"));
    let session = of("session", "The run that is under way");
    inbox.into_iter().chain([session]).collect()
}

/// Those that have a name in their address.
pub(crate) fn templates(seat: &AgentSeat) -> Vec<ResourceTemplate> {
    let of = |address: &str, name: &str, mime: &str| {
        ResourceTemplate::new(format!("{SCHEME}{address}"), name).with_mime_type(mime)
    };
    let brief = seat
        .worker
        .is_some()
        .then(|| of("brief/{seq}", "brief", MARKDOWN));
    let task = of("task/{id}", "task", JSON);
    [task].into_iter().chain(brief).collect()
}

/// What is there.
pub(crate) fn read(seat: &AgentSeat, uri: &str) -> Result<ResourceContents> {
    let place = uri.strip_prefix(SCHEME).unwrap_or_default();
    let said = |key: &str, value: &str| Map::from_iter([(key.to_owned(), value.into())]);
    let json = |answer: Value| ResourceContents::text(answer.to_string(), uri).with_mime_type(JSON);
    match place.split_once('/') {
        None if place == "inbox" => Ok(json(seat.ask(Operation::BriefNext, Map::new())?)),
        None if place == "session" => {
            Ok(json(seat.ask(Operation::SessionShow, said("id", "live"))?))
        }
        Some(("task", id)) => Ok(json(seat.ask(Operation::TaskShow, said("id", id))?)),
        Some(("brief", seq)) => {
            Ok(ResourceContents::text(brief(seat, seq)?, uri).with_mime_type(MARKDOWN))
        }
        _ => Err(nothing(uri)),
    }
}

/// The words of a brief that was delivered; what was rejected is headed by that.
fn brief(seat: &AgentSeat, seq: &str) -> Result<String> {
    let worker = seat.worker.as_ref().ok_or_else(|| nothing(seq))?;
    let repository = seat.repository()?;
    let mail = Fleet::of(&seat.home, &repository.id).mail(worker)?;
    let seq = seq.parse().map_err(|_| nothing(seq))?;
    let letter = deliver::delivered(&mail, seq)?;
    Ok(match letter.standing.decision() {
        Some(Decision::Rejected) => format!("REJECTED: do not do this\n\n{}", letter.body),
        _ => letter.body,
    })
}

fn nothing(place: &str) -> Error {
    Error::NotFound {
        what: "resource",
        id: place.to_owned(),
        list: None,
    }
}
