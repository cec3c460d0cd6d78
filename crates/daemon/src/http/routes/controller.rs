//! The controller's desk: a slash command, carried out.

use flagpost_core::{
    relay::slash::{Desk as At, carry_out},
    shape,
};
use flagpost_disk::fsx;
use flagpost_model::{
    decision::Via,
    slash::{Slash, Text, parse},
};
use serde_json::Value;

use crate::http::{
    answer::Fault,
    asked::Asked,
    desk::Desk,
    route::{AGENT, AS, Kind, Param, REPO, Route, Verb, Work},
};

pub(crate) const ROUTES: &[Route] = &[Route {
    verb: Verb::Post,
    path: "/v1/controller/dispatch",
    about: "Carries out a slash command",
    params: &[
        REPO,
        AS,
        AGENT,
        Param::body("command", Kind::Text, "As in /ratify all --scope=W{1,2}.").required(),
        Param::body(
            "text",
            Kind::Text,
            "What goes beside it: the brief of /assign, the new body of /edit.",
        ),
    ],
    work: Work::Answer("slash", dispatch),
}];

fn dispatch(desk: &Desk<'_>, asked: &Asked) -> Result<Value, Fault> {
    let line = asked.needed("command");
    let command = parse(line).map_err(|error| Fault::invalid(error.to_string()))?;
    let repository = desk.repository(asked)?;
    let actor = match command.decides() {
        true => desk.operator(asked)?,
        false => desk.actor(asked)?,
    };
    if let Slash::Assign {
        text: Text::File(name),
        ..
    } = &command
    {
        // Whoever asks stands nowhere: a file is one of the repository.
        fsx::within(desk.home.fs(), &repository.top, &repository.top.join(name))
            .map_err(flagpost_core::Error::from)?;
    }
    let fleet = flagpost_core::relay::Fleet::of(&desk.home, &repository.id);
    let at = At {
        fleet: &fleet,
        actor: &actor,
        via: Via::Api,
        dir: &repository.top,
    };
    let given = asked.text("text").map(str::to_owned);
    Ok(shape::said(line, &carry_out(&at, command, given)?))
}
