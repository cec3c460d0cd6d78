//! The controller's desk: a slash command, carried out.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use flagpost_core::{
    Home, Repository,
    operations::Operation,
    relay::{
        Fleet,
        slash::{SlashContext as At, SlashOutput, carry_out_aloud, operation},
    },
    shape,
};
use flagpost_disk::fsx;
use flagpost_model::{
    WorkerId,
    decision::Via,
    slash::{Slash, TextSource, parse},
    task::Origin,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    events::{event, pour},
    http::{
        answer::HttpError,
        asked::Asked,
        request_context::RequestContext,
        route::{AGENT, AS, Param, ParamKind, REPO, Route, RouteHandler, Verb, Whose},
    },
};

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/v1/controller/dispatch",
        about: "Carries out a slash command",
        // The command asks for more, once it is read.
        operation: Operation::ProgramDescribe,
        params: &[REPO, AS, AGENT, COMMAND, TEXT],
        work: RouteHandler::Answer("slash", dispatch),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/controller/stream",
        about: "Carries out a slash command, and tells each line as it comes, as an event",
        operation: Operation::ProgramDescribe,
        params: &[REPO, AS, AGENT, COMMAND, TEXT],
        work: RouteHandler::Stream(Whose::Ours, stream),
    },
];

const COMMAND: Param = Param::body(
    "command",
    ParamKind::Text,
    "As in /ratify all --scope=W{1,2}.",
)
.required();
const TEXT: Param = Param::body(
    "text",
    ParamKind::Text,
    "What goes beside it: the brief of /assign, the new body of /edit.",
);

/// A command that may be carried out.
struct Asking {
    home: Home,
    repository: Repository,
    command: Slash,
    actor: WorkerId,
    origin: Origin,
    given: Option<String>,
}

impl Asking {
    fn read(desk: &RequestContext<'_>, asked: &Asked) -> Result<Self, HttpError> {
        let command = parse(asked.needed(COMMAND.name));
        let command = command.map_err(|error| HttpError::invalid(error.to_string()))?;
        let repository = desk.repository(asked)?;
        desk.permit(asked, operation(&command))?;
        desk.home.must_know_the_time()?;
        if let Slash::Assign {
            text: TextSource::File(name),
            ..
        } = &command
        {
            // Whoever asks stands nowhere: a file is one of the repository.
            fsx::within(desk.home.fs(), &repository.top, &repository.top.join(name))
                .map_err(flagpost_core::Error::from)?;
        }
        Ok(Self {
            home: desk.home.clone(),
            repository,
            command,
            actor: desk.actor(asked)?,
            origin: desk.origin(asked)?,
            given: asked.text(TEXT.name).map(str::to_owned),
        })
    }

    fn carry_out(self, tell: &mut dyn FnMut(&str)) -> flagpost_core::Result<SlashOutput> {
        let at = At {
            fleet: &Fleet::of(&self.home, &self.repository.id),
            actor: &self.actor,
            via: Via::Api,
            origin: self.origin,
            dir: &self.repository.top,
        };
        carry_out_aloud(&at, self.command, self.given, tell)
    }
}

fn dispatch(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let said = Asking::read(desk, asked)?.carry_out(&mut |_| {})?;
    Ok(shape::slash_output(asked.needed(COMMAND.name), &said))
}

/// So many lines may wait for whoever listens.
const AHEAD: usize = 64;

/// What is refused before it begins is an answer like any other. Whoever goes away in the middle stops
/// nothing.
fn stream(desk: &RequestContext<'_>, asked: &Asked) -> Result<Response, HttpError> {
    let asking = Asking::read(desk, asked)?;
    let (send, receive) = mpsc::channel(AHEAD);
    let say = move |name: &str, data: &str| {
        let lines: Vec<&str> = data.lines().collect();
        let event = event(None, name, &lines.join("\ndata: "));
        // Nobody listens any more.
        let _: Result<(), _> = send.blocking_send(event.into());
    };
    tokio::task::spawn_blocking(move || {
        let mut told = 0;
        let said = asking.carry_out(&mut |line| {
            told += 1;
            say("line", line);
        });
        let (rest, faults, status) = match said {
            Ok(said) => (said.lines, said.faults, said.status),
            Err(error) => (Vec::new(), vec![error.to_string()], 1),
        };
        rest.iter().skip(told).for_each(|line| say("line", line));
        faults.iter().for_each(|fault| say("fault", fault));
        say("done", &json!({"exit_status": status}).to_string());
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, pour(receive)).into_response())
}
