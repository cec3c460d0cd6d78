//! Changes of tasks: the same operations as the commands of the same names.

use flagpost_core::{
    Config, List,
    answers::TaskAnswer,
    claims::{self, Claimed, Terms},
    config::keys::CLAIM_LEASE,
    messages::Reply,
    operations::Operation,
    questions, shape,
    tasks::{self, Fields, Labels, Move, Parts},
};
use flagpost_model::{
    ListId, Token,
    decision::Via,
    task::{Act as Acting, Ending},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::tasks::LIST;
use crate::http::{
    answer::HttpError,
    asked::Asked,
    request_context::RequestContext,
    route::{AGENT, AS, Param, ParamKind, REPO, Route, RouteFn, RouteHandler, Verb},
};

const PATH_LIST: Param = Param::path("list", ParamKind::Id, "The list.");
const ID: Param = Param::path("id", ParamKind::Id, "The task, or the beginning of its id.");
const TOKEN: Param = Param::body(
    "token",
    ParamKind::Number(1),
    "The claim's token: a later holder's task is left alone.",
);
const TEXT: Param = Param::body("text", ParamKind::Text, "What there is to say about it.");
const PARTS: Param = Param::body(
    "force",
    ParamKind::Flag,
    "Although parts of it are not done.",
);
const WHOEVER: Param = Param::body("force", ParamKind::Flag, "Whoever holds it.");
const SUBJECT: Param = Param::body(
    "subject",
    ParamKind::Line,
    "What is to be done, in one line.",
);
const DESCRIPTION: Param = Param::body("description", ParamKind::Text, "The rest, Markdown.");
const PRIORITY: Param = Param::body(
    "priority",
    ParamKind::Word(&["critical", "high", "medium", "low"]),
    "How urgent it is.",
);
const GROUP: Param = Param::body("group", ParamKind::Text, "The feature it belongs to.");
const PROJECT: Param = Param::body("project", ParamKind::Text, "The project it belongs to.");
const COMPLEXITY: Param = Param::body("complexity", ParamKind::Text, "How large it is.");
const PARENT: Param = Param::body("parent", ParamKind::Id, "The task it is part of.");
const DUE: Param = Param::body("due", ParamKind::Day, "When it is due: 2026-12-01.");
const TAGS: Param = Param::body(
    "tags",
    ParamKind::Texts,
    "Its labels, in place of those it has.",
);
const LEASE: Param = Param::body(
    "lease",
    ParamKind::Lease,
    "How long the claim holds without renewal, as in 15m; without it, the setting claim.lease.",
);
const UID: Param = Param::body("uid", ParamKind::Text, "The planner's name for it.");

pub(crate) const ROUTES: &[Route] = &[
    verb(
        Operation::TaskAdd,
        "/v1/tasks",
        "Adds a task",
        &[
            REPO,
            LIST,
            AS,
            AGENT,
            SUBJECT.required(),
            DESCRIPTION,
            PRIORITY,
            GROUP,
            PROJECT,
            COMPLEXITY,
            PARENT,
            DUE,
            TAGS,
            UID,
        ],
        add,
    ),
    verb(
        Operation::TaskEdit,
        "/v1/tasks/{list}/{id}/edit",
        "Changes what is said of a task",
        &[
            PATH_LIST,
            ID,
            AS,
            AGENT,
            SUBJECT,
            DESCRIPTION,
            PRIORITY,
            GROUP,
            PROJECT,
            COMPLEXITY,
            PARENT,
            DUE,
            TAGS,
        ],
        edit,
    ),
    verb(
        Operation::TaskClaim,
        "/v1/claims",
        "Claims the first ready task of a list",
        &[REPO, LIST, AS, AGENT, LEASE],
        claim_next,
    ),
    verb(
        Operation::TaskClaim,
        "/v1/tasks/{list}/{id}/claim",
        "Claims a task; the answer has the token",
        &[PATH_LIST, ID, AS, AGENT, LEASE],
        claim,
    ),
    verb(
        Operation::TaskStart,
        "/v1/tasks/{list}/{id}/start",
        "Begins the work on a task, which is claimed where it is not",
        &[PATH_LIST, ID, AS, AGENT, TOKEN, LEASE],
        start,
    ),
    verb(
        Operation::TaskDone,
        "/v1/tasks/{list}/{id}/done",
        "Completes a task",
        &[PATH_LIST, ID, AS, AGENT, TOKEN, TEXT, PARTS],
        |desk, asked| finish(desk, asked, Ending::Completed),
    ),
    verb(
        Operation::TaskFail,
        "/v1/tasks/{list}/{id}/fail",
        "Gives a task up: it did not work",
        &[PATH_LIST, ID, AS, AGENT, TOKEN, TEXT],
        |desk, asked| finish(desk, asked, Ending::Failed),
    ),
    verb(
        Operation::TaskStuck,
        "/v1/tasks/{list}/{id}/stuck",
        "Says that help is needed to go on",
        &[PATH_LIST, ID, AS, AGENT, TOKEN, TEXT],
        |desk, asked| finish(desk, asked, Ending::Stuck),
    ),
    Route {
        verb: Verb::Post,
        path: "/v1/tasks/{list}/{id}/answer",
        about: "Answers what is asked about a task; an agent may not",
        operation: Operation::TaskAnswer,
        params: &[
            PATH_LIST,
            ID,
            AS,
            AGENT,
            Param::body("text", ParamKind::Text, "The answer.").required(),
            Param::body(
                "again",
                ParamKind::Flag,
                "Adds to an answer that was given before.",
            ),
        ],
        work: RouteHandler::Answer("answered", answer),
    },
    verb(
        Operation::TaskRenew,
        "/v1/tasks/{list}/{id}/renew",
        "Extends the lease of a claim",
        &[PATH_LIST, ID, AS, AGENT, TOKEN],
        |desk, asked| moved(desk, asked, Move::Renew),
    ),
    verb(
        Operation::TaskRelease,
        "/v1/tasks/{list}/{id}/release",
        "Gives a task back",
        &[PATH_LIST, ID, AS, AGENT, TOKEN, WHOEVER],
        |desk, asked| {
            let force = asked.flag(WHOEVER.name);
            desk.permit(asked, Operation::releasing(force))?;
            moved(desk, asked, Move::Release { force })
        },
    ),
    verb(
        Operation::TaskReopen,
        "/v1/tasks/{list}/{id}/reopen",
        "Makes a task pending again",
        &[PATH_LIST, ID, AS, AGENT],
        |desk, asked| moved(desk, asked, Move::Reopen),
    ),
    verb(
        Operation::TaskCancel,
        "/v1/tasks/{list}/{id}/cancel",
        "Says that a task is not wanted any more",
        &[PATH_LIST, ID, AS, AGENT],
        |desk, asked| moved(desk, asked, Move::Cancel),
    ),
];

const fn verb(
    operation: Operation,
    path: &'static str,
    about: &'static str,
    params: &'static [Param],
    act: RouteFn<Value>,
) -> Route {
    Route {
        verb: Verb::Post,
        path,
        about,
        operation,
        params,
        work: RouteHandler::Answer("task", act),
    }
}

fn add(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let repository = desk.repository(asked)?;
    let id: Option<ListId> = asked.parsed(LIST.name)?;
    let id = id.unwrap_or_else(|| repository.name.clone());
    let list = List::open_or_create(&desk.home, &id, &repository)?;
    let fields = fields(&list, asked)?;
    let task = tasks::add(&list, &desk.actor(asked)?, &fields, &[])?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn edit(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let (id, fields) = (desk.task(&list, asked)?, fields(&list, asked)?);
    let task = tasks::edit(&list, &desk.actor(asked)?, &id, &fields)?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn fields(list: &List<'_>, asked: &Asked) -> Result<Fields, HttpError> {
    let text = |param: Param| asked.text(param.name).map(str::to_owned);
    let parent = asked.text(PARENT.name).map(|it| list.resolve(it));
    Ok(Fields {
        subject: text(SUBJECT),
        description: text(DESCRIPTION),
        priority: asked.parsed(PRIORITY.name)?.map(Some),
        complexity: text(COMPLEXITY),
        group: text(GROUP),
        project: text(PROJECT),
        parent: parent.transpose()?.map(Some),
        due: asked.parsed(DUE.name)?.map(Some),
        uid: text(UID),
        tags: asked
            .texts(TAGS.name)
            .map_or_else(Labels::default, Labels::Set),
        ..Fields::default()
    })
}

fn claim_next(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    Ok(claimed(&claims::claim_next(&list, &terms(desk, asked)?)?))
}

fn claim(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let id = desk.task(&list, asked)?;
    Ok(claimed(&claims::claim(&list, &terms(desk, asked)?, &id)?))
}

fn start(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let (id, terms) = (desk.task(&list, asked)?, terms(desk, asked)?);
    Ok(claimed(&claims::start(&list, &terms, token(asked), &id)?))
}

fn finish(desk: &RequestContext<'_>, asked: &Asked, ending: Ending) -> Result<Value, HttpError> {
    let parts = match asked.flag(PARTS.name) {
        true => Parts::MayBeOpen,
        false => Parts::MustBeDone,
    };
    let text = asked.text(TEXT.name).unwrap_or_default().to_owned();
    let event = Move::Finish {
        ending,
        text,
        parts,
    };
    moved(desk, asked, event)
}

fn moved(desk: &RequestContext<'_>, asked: &Asked, event: Move) -> Result<Value, HttpError> {
    let list = desk.list(asked)?;
    let act = Acting {
        actor: desk.actor(asked)?,
        token: token(asked),
        at: desk.home.now(),
    };
    let task = tasks::act(&list, &act, &desk.task(&list, asked)?, event)?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn answer(desk: &RequestContext<'_>, asked: &Asked) -> Result<Value, HttpError> {
    let (list, speaker) = (desk.list(asked)?, desk.speaker(asked)?);
    let reply = Reply {
        text: asked.needed("text"),
        again: asked.flag("again"),
        via: Via::Api,
    };
    let id = desk.task(&list, asked)?;
    let answered = questions::answer(&list, None, &speaker, &id, &reply)?;
    Ok(shape::answered(&answered))
}

fn terms(desk: &RequestContext<'_>, asked: &Asked) -> Result<Terms, HttpError> {
    let lease = match asked.parsed::<SignedDuration>(LEASE.name)? {
        Some(lease) => lease,
        None => Config::read(&desk.home)?.need(&CLAIM_LEASE)?,
    };
    Ok(Terms {
        actor: desk.actor(asked)?,
        lease,
        session: None,
    })
}

fn token(asked: &Asked) -> Option<Token> {
    asked.number(TOKEN.name).map(Token)
}

fn claimed(claimed: &Claimed) -> Value {
    json!(TaskAnswer::from(&claimed.task))
}
