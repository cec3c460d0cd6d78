//! Reservations: who works on which files. They are only shown here: whoever reserves does it where the
//! files are.

use flagpost_core::{operations::Operation, shape};
use serde_json::Value;

use crate::http::{
    answer::Fault,
    asked::Asked,
    desk::Desk,
    route::{REPO, Route, Verb, Work},
};

pub(crate) const ROUTES: &[Route] = &[Route {
    verb: Verb::Get,
    path: "/v1/reservations",
    about: "Who works on which files",
    operation: Operation::ReservationShow,
    params: &[REPO],
    work: Work::Answer("reservations", list),
}];

fn list(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let survey = desk.fleet(asked)?.reservations().scan()?;
    Ok(shape::reservations(&survey.live, &survey))
}
