//! What an orchestrator and its workers say to each other.
//!
//! Who speaks is decided by the same rule as for a command: an agent that says which worker it is
//! speaks for itself, and whoever speaks in another's name without that is the operator, visibly.

use flagpost_core::{
    messages::{self, Ask, Filter, NewMessage, Party},
    operations::Operation,
    relay::decide::Gate,
    shape::messages as shape,
};
use flagpost_model::{
    WorkerId,
    decision::Via,
    message::{LEASE, MessageAddress, Speaker},
};
use serde_json::Value;

use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{AGENT, AS, Param, ParamKind, REPO, Route, RouteHandler, Verb, WAIT},
};

const THREAD: Param = Param::query("thread", ParamKind::Text, "Only of this conversation.");
const SUBJECT: Param = Param::query(
    "subject",
    ParamKind::Word(SUBJECTS),
    "Only with this subject.",
);
const FROM: Param = Param::query("from", ParamKind::Text, "Only from this one.");
const TO: Param = Param::query("to", ParamKind::Text, "Only to this one.");
const SUBJECTS: &[&str] = &["TASK", "DONE", "STUCK", "PROGRESS", "QUERY", "REPLY"];

const WORKER: Param = Param::path("worker", ParamKind::Id, "Whose mail it is in.");
const DIRECTION: Param = Param::path(
    "direction",
    ParamKind::Word(&["inbox", "outbox"]),
    "Which way it goes.",
);
const SEQ: Param = Param::path("seq", ParamKind::Number(1), "Its number.");

pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/v1/messages",
        about: "Messages in their order, the archive included",
        operation: Operation::MessageShow,
        params: &[
            REPO,
            THREAD,
            SUBJECT,
            FROM,
            TO,
            Param::query(
                "limit",
                ParamKind::Number(0),
                "At most this many, the newest; 0, or nothing, for all.",
            ),
        ],
        work: RouteHandler::Answer("messages", list),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/messages",
        about: "Sends a message; what goes to a worker waits for the policy or the operator, but for a person's REPLY",
        operation: Operation::MessageSend,
        params: &[
            REPO,
            AS,
            AGENT,
            Param::body("subject", ParamKind::Word(SUBJECTS), "What it is.").required(),
            Param::body(
                "body",
                ParamKind::Text,
                "What it says, as its subject asks for: JSON as a text, but for QUERY and REPLY.",
            )
            .required(),
            Param::body(
                "to",
                ParamKind::Id,
                "To whom; without it, to whoever it answers.",
            ),
            Param::body("thread", ParamKind::Text, "The conversation."),
            Param::body(
                "re",
                ParamKind::Text,
                "The message that it answers, by its place or its id.",
            ),
            Param::body(
                "id",
                ParamKind::Text,
                "Its id: a second one of the same is a retry.",
            ),
            Param::body(
                "ratify",
                ParamKind::Flag,
                "Lets it through at once; an agent may not.",
            ),
        ],
        work: RouteHandler::Answer("message_sent", send),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/messages/open",
        about: "What is open, and what is to be done about each",
        operation: Operation::MessageShow,
        params: &[REPO, TO],
        work: RouteHandler::Answer("messages_open", open),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/messages/waiting",
        about: "Whether there is a message for whoever asks, without taking it",
        operation: Operation::MessageShow,
        params: &[REPO, AS, AGENT, THREAD, SUBJECT, FROM, WAIT],
        work: RouteHandler::Awaited(["message_waiting", "message_none"], waiting),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/messages/receive",
        about: "The next message for whoever asks, who has it for a while",
        operation: Operation::MessageReceive,
        params: &[
            REPO,
            AS,
            AGENT,
            THREAD,
            SUBJECT,
            FROM,
            WAIT,
            Param::query(
                "lease",
                ParamKind::Lease,
                "How long, as in 15m; without it, five minutes.",
            ),
            Param::query(
                "restart",
                ParamKind::Flag,
                "Whoever received under this name before is gone: what it held is given out again.",
            ),
        ],
        work: RouteHandler::Awaited(["message_received", "message_none"], receive),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/messages/{worker}/{direction}/{seq}",
        about: "A message; this acknowledges nothing",
        operation: Operation::MessageShow,
        params: &[REPO, WORKER, DIRECTION, SEQ],
        work: RouteHandler::Answer("message", show),
    },
    Route {
        verb: Verb::Post,
        path: "/v1/messages/{worker}/{direction}/{seq}/ack",
        about: "The recipient has a message: it is not given out again",
        operation: Operation::MessageAck,
        params: &[REPO, AS, AGENT, WORKER, DIRECTION, SEQ],
        work: RouteHandler::Answer("message_acked", ack),
    },
    Route {
        verb: Verb::Get,
        path: "/v1/threads/{thread}",
        about: "A conversation in its order, the archive included",
        operation: Operation::MessageShow,
        params: &[
            REPO,
            Param::path("thread", ParamKind::Text, "The conversation."),
        ],
        work: RouteHandler::Answer("messages", thread),
    },
];

fn list(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let mut survey = messages::all(&desk.fleet(asked)?)?;
    let limit = usize::try_from(asked.number("limit").unwrap_or_default());
    let total = survey.select(&filter(asked)?, limit.unwrap_or(usize::MAX));
    Ok(shape::messages(&survey, total))
}

fn thread(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let survey = messages::thread(&desk.fleet(asked)?, asked.needed("thread"))?;
    Ok(shape::messages(&survey, survey.messages.len()))
}

fn open(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (mut open, skipped) = messages::unacked(&desk.fleet(asked)?)?;
    let filter = filter(asked)?;
    open.retain(|it| filter.wants(&it.seen.message));
    Ok(shape::open(&open, &skipped))
}

fn show(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let seen = messages::show(&desk.fleet(asked)?, &place(asked)?)?;
    Ok(shape::seen(&seen))
}

fn send(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let gate = match asked.flag("ratify") {
        true => {
            desk.permit(asked, Operation::BriefRatify)?;
            Gate::Writer(Via::Api)
        }
        false => Gate::of_words(asked.id("subject")?, desk.origin(asked)?, Via::Api),
    };
    with_party(desk, asked, |party| {
        let answers = asked.text("re").map(|it| messages::find(party, it));
        let text = |name| asked.text(name).map(str::to_owned);
        let words = NewMessage {
            subject: asked.id("subject")?,
            body: asked.needed("body").to_owned(),
            to: asked.parsed("to")?,
            thread: text("thread"),
            answers: answers.transpose()?,
            id: text("id"),
        };
        Ok(shape::sent(&messages::send(party, words, gate)?))
    })
}

fn receive(desk: &RequestContext<'_>, asked: &Asked) -> Result<Option<Value>, HttpError> {
    let ask = Ask {
        of: filter(asked)?,
        lease: asked.parsed("lease")?.unwrap_or(LEASE),
        restart: asked.flag("restart"),
    };
    with_party(desk, asked, |party| {
        let received = messages::receive(party, &ask)?;
        Ok(received.as_ref().map(shape::received))
    })
}

fn waiting(desk: &RequestContext<'_>, asked: &Asked) -> Result<Option<Value>, HttpError> {
    let ask = Ask {
        of: filter(asked)?,
        ..Ask::default()
    };
    with_party(desk, asked, |party| {
        let is_there = messages::is_waiting(party, &ask)?;
        Ok(is_there.then(|| shape::waiting(&party.speaker.name)))
    })
}

fn ack(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let place = place(asked)?;
    with_party(desk, asked, |party| {
        Ok(shape::acked(&messages::ack(party, &place)?))
    })
}

fn with_party<T>(
    desk: &RequestContext<'_>,
    asked: &Asked,
    act: impl FnOnce(&Party<'_>) -> Result<T, HttpError>,
) -> Result<T, HttpError> {
    let fleet = desk.fleet(asked)?;
    let speaker: Speaker = desk.speaker(asked)?;
    act(&Party {
        fleet: &fleet,
        speaker: &speaker,
    })
}

fn filter(asked: &Asked) -> Result<Filter, HttpError> {
    let text = |param: Param| asked.text(param.name).map(str::to_owned);
    Ok(Filter {
        thread: text(THREAD),
        subject: asked.parsed(SUBJECT.name)?,
        from: text(FROM),
        to: text(TO),
    })
}

fn place(asked: &Asked) -> Result<MessageAddress, HttpError> {
    let worker: WorkerId = asked.id("worker")?;
    let seq = asked.number("seq").unwrap_or_default();
    Ok(MessageAddress {
        worker,
        direction: asked.id("direction")?,
        seq: seq
            .try_into()
            .map_err(|error| HttpError::invalid(format!("seq: {error}")))?,
    })
}
