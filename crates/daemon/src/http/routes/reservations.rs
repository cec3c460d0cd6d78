//! Reservations: who works on which files. They are only shown here: whoever reserves does it where the
//! files are.

use flagpost_core::{operations::Operation, shape};
use serde_json::Value;

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{REPO, Route, RouteHandler, Verb},
};

pub(crate) const ROUTES: &[Route] = &[Route {
    verb: Verb::Get,
    path: "/v1/reservations",
    about: "Who works on which files",
    operation: Operation::ReservationShow,
    params: &[REPO],
    work: RouteHandler::Answer("reservations", list),
}];

fn list(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let survey = desk.fleet(asked)?.reservations().scan()?;
    Ok(shape::reservations(&survey.live, &survey))
}
