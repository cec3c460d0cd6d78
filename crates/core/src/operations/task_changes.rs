//! Changes of tasks.

use flagpost_model::{
    ListId, Token,
    query::Query,
    task::{Act, Ending},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    Arguments, Caller,
    CallerPart::{Actor, Repo},
    Operation, OperationEffect, OperationEntry, ParamKind, Parameter, Run,
    tasks::{ID, LIST, OF_LIST},
};
use crate::{
    answers::{AnsweredAnswer, Removed, TaskAnswer, UndoneAnswer, each},
    claims::{self, Claimed, Terms},
    config::{Config, keys::CLAIM_LEASE},
    error::Result,
    list::List,
    messages::Reply,
    questions,
    tasks::{self, Fields, Labels, Move, Parts, UndoMode},
};

const TOKEN: Parameter = Parameter::new(
    "token",
    ParamKind::Number(1),
    "The claim's token: a later holder's task is left alone.",
);
const TEXT: Parameter = Parameter::text("text", "What there is to say about it.");
const PARTS: Parameter = Parameter::flag("force", "Although parts of it are not done.");
const WHOEVER: Parameter = Parameter::flag("force", "Whoever holds it.");
const SUBJECT: Parameter = Parameter::new(
    "subject",
    ParamKind::Line,
    "What is to be done, in one line.",
);
const DESCRIPTION: Parameter = Parameter::text("description", "The rest, Markdown.");
const PRIORITY: Parameter = Parameter::new(
    "priority",
    ParamKind::Word(&["critical", "high", "medium", "low"]),
    "How urgent it is.",
);
const GROUP: Parameter = Parameter::text("group", "The feature it belongs to.");
const PROJECT: Parameter = Parameter::text("project", "The project it belongs to.");
const COMPLEXITY: Parameter = Parameter::text("complexity", "How large it is.");
const PARENT: Parameter = Parameter::new("parent", ParamKind::Id, "The task it is part of.");
const DUE: Parameter = Parameter::new("due", ParamKind::Day, "When it is due: 2026-12-01.");
const TAGS: Parameter = Parameter::new(
    "tags",
    ParamKind::Texts,
    "Its labels, in place of those it has.",
);
const LEASE: Parameter = Parameter::new(
    "lease",
    ParamKind::Lease,
    "How long the claim holds without renewal, as in 15m; without it, the setting claim.lease.",
);
const UID: Parameter = Parameter::text("uid", "The planner's name for it.");

pub(super) const ENTRIES: &[OperationEntry] = &[
    OperationEntry::new(Operation::TaskAdd, "Adds a task", Run::Answer("task", add))
        .asking(&[Repo, Actor])
        .taking(&[
            LIST,
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
            Parameter::new("after", ParamKind::Texts, "The tasks to wait for."),
            Parameter::flag(
                "once",
                "Where a task has this uid already, answers with that one.",
            ),
        ]),
    change(
        Operation::TaskEdit,
        "Changes what is said of a task",
        &[
            OF_LIST,
            ID,
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
    )
    .having(OperationEffect::Idempotent),
    change(
        Operation::TaskNote,
        "Leaves a remark on a task",
        &[
            OF_LIST,
            ID,
            Parameter::new("text", ParamKind::Line, "The remark.").required(),
        ],
        note,
    ),
    change(
        Operation::TaskLink,
        "Makes a task wait for others, or not any more",
        &[
            OF_LIST,
            ID,
            Parameter::new("add", ParamKind::Texts, "The tasks to wait for."),
            Parameter::new(
                "remove",
                ParamKind::Texts,
                "Those not to wait for any more.",
            ),
        ],
        link,
    )
    .having(OperationEffect::Idempotent),
    OperationEntry::new(
        Operation::TaskRemove,
        "Removes a task, and its name from those that wait for it",
        Run::Answer("removed", remove),
    )
    .having(OperationEffect::Ends)
    .asking(&[Actor])
    .taking(&[OF_LIST, ID]),
    OperationEntry::new(
        Operation::TaskNext,
        "Claims the first ready task of a list, or the first that fits a query",
        Run::Answer("task", claim_next),
    )
    .asking(&[Repo, Actor])
    .taking(&[
        LIST,
        LEASE,
        Parameter::text("query", "As in 'flagpost list': tag=docs."),
    ]),
    change(
        Operation::TaskClaim,
        "Claims a task; the answer has the token",
        &[OF_LIST, ID, LEASE],
        claim,
    ),
    change(
        Operation::TaskStart,
        "Begins the work on a task, which is claimed where it is not",
        &[OF_LIST, ID, TOKEN, LEASE],
        start,
    ),
    change(
        Operation::TaskDone,
        "Completes a task",
        &[OF_LIST, ID, TOKEN, TEXT, PARTS],
        |caller, arguments| finish(caller, arguments, Ending::Completed),
    ),
    change(
        Operation::TaskFail,
        "Gives a task up: it did not work",
        &[OF_LIST, ID, TOKEN, TEXT],
        |caller, arguments| finish(caller, arguments, Ending::Failed),
    ),
    change(
        Operation::TaskStuck,
        "Says that help is needed to go on",
        &[OF_LIST, ID, TOKEN, TEXT],
        |caller, arguments| finish(caller, arguments, Ending::Stuck),
    ),
    OperationEntry::new(
        Operation::TaskAnswer,
        "Answers what is asked about a task; an agent may not",
        Run::Answer("answered", answer),
    )
    .asking(&[Actor])
    .taking(&[
        OF_LIST,
        ID,
        Parameter::text("text", "The answer.").required(),
        Parameter::flag("again", "Adds to an answer that was given before."),
    ]),
    change(
        Operation::TaskRenew,
        "Extends the lease of a claim",
        &[OF_LIST, ID, TOKEN],
        |caller, arguments| moved(caller, arguments, Move::Renew),
    ),
    change(
        Operation::TaskRelease,
        "Gives a task back",
        &[OF_LIST, ID, TOKEN, WHOEVER],
        |caller, arguments| {
            let force = arguments.flag(WHOEVER.name);
            caller.permit(Operation::releasing(force))?;
            moved(caller, arguments, Move::Release { force })
        },
    ),
    change(
        Operation::TaskReopen,
        "Makes a task pending again",
        &[OF_LIST, ID],
        |caller, arguments| moved(caller, arguments, Move::Reopen),
    ),
    change(
        Operation::TaskCancel,
        "Says that a task is not wanted any more",
        &[OF_LIST, ID],
        |caller, arguments| moved(caller, arguments, Move::Cancel),
    )
    .having(OperationEffect::Ends),
    OperationEntry::new(
        Operation::TaskUndo,
        "Takes back one's own last change of a list",
        Run::Answer("undo", undo),
    )
    .asking(&[Actor])
    .taking(&[
        OF_LIST,
        Parameter::flag(
            "dry_run",
            "Says what would be taken back, and does nothing.",
        ),
    ]),
];

const fn change(
    operation: Operation,
    about: &'static str,
    parameters: &'static [Parameter],
    run: fn(&Caller, &Arguments) -> Result<Value>,
) -> OperationEntry {
    OperationEntry::new(operation, about, Run::Answer("task", run))
        .asking(&[Actor])
        .taking(parameters)
}

fn add(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let repository = caller.repository()?;
    let id: Option<ListId> = arguments.parsed(LIST.name)?;
    let id = id.unwrap_or_else(|| repository.name.clone());
    let list = List::open_or_create(caller.home(), &id, &repository)?;
    let fields = Fields {
        origin: Some(caller.origin()),
        ..fields(&list, arguments)?
    };
    let after = arguments.texts("after").unwrap_or_default();
    let after = after.iter().map(|it| list.resolve(it));
    let (after, actor) = (after.collect::<Result<Vec<_>>>()?, caller.actor()?);
    let once = arguments.flag("once");
    let (task, existed) = match once {
        true => tasks::add_once(&list, &actor, &fields, &after)?,
        false => (tasks::add(&list, &actor, &fields, &after)?, false),
    };
    Ok(json!(TaskAnswer {
        existed: once.then_some(existed),
        ..TaskAnswer::from(&task)
    }))
}

fn edit(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let (id, fields) = (caller.task(&list, arguments)?, fields(&list, arguments)?);
    let task = tasks::edit(&list, &caller.actor()?, &id, &fields)?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn fields(list: &List<'_>, arguments: &Arguments) -> Result<Fields> {
    let parent = arguments.text(PARENT.name).map(|it| list.resolve(it));
    Ok(Fields {
        subject: arguments.owned(SUBJECT.name),
        description: arguments.owned(DESCRIPTION.name),
        priority: arguments.parsed(PRIORITY.name)?.map(Some),
        complexity: arguments.owned(COMPLEXITY.name),
        group: arguments.owned(GROUP.name),
        project: arguments.owned(PROJECT.name),
        parent: parent.transpose()?.map(Some),
        due: arguments.parsed(DUE.name)?.map(Some),
        uid: arguments.owned(UID.name),
        tags: arguments
            .texts(TAGS.name)
            .map_or_else(Labels::default, Labels::Set),
        ..Fields::default()
    })
}

fn note(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let id = caller.task(&list, arguments)?;
    let text = arguments.needed(TEXT.name);
    tasks::note(&list, &caller.actor()?, [id.clone()].as_slice(), text)?;
    Ok(json!(TaskAnswer::from(&list.task(&id)?.task)))
}

fn link(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (list, actor) = (caller.list(arguments)?, caller.actor()?);
    let id = caller.task(&list, arguments)?;
    let named = |name| arguments.texts(name).unwrap_or_default();
    // All are known before the first is linked.
    let add = named("add").iter().map(|it| list.resolve(it)).collect();
    let (add, remove): (Result<Vec<_>>, _) = (add, named("remove"));
    let remove = remove.iter().map(|it| tasks::blocker(&list, it)).collect();
    let (add, remove): (_, Result<Vec<_>>) = (add?, remove);
    let remove = remove?;
    // A circle is refused before anything is taken away.
    let mut task = tasks::link(&list, &actor, &id, &add)?;
    for blocker in &remove {
        task = tasks::unlink(&list, &actor, &id, blocker)?;
    }
    Ok(json!(TaskAnswer::from(&task)))
}

fn remove(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let id = caller.task(&list, arguments)?;
    let removed = [tasks::remove(&list, &caller.actor()?, &id)?];
    Ok(json!(Removed::new(false, each(&removed))))
}

fn claim_next(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let terms = terms(caller, arguments)?;
    let query: Option<Query> = arguments.parsed("query")?;
    Ok(claimed(&match query {
        Some(query) => claims::claim_fitting(&list, &terms, &query)?,
        None => claims::claim_next(&list, &terms)?,
    }))
}

fn claim(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let id = caller.task(&list, arguments)?;
    let terms = terms(caller, arguments)?;
    Ok(claimed(&claims::claim(&list, &terms, &id)?))
}

fn start(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let id = caller.task(&list, arguments)?;
    let (terms, token) = (terms(caller, arguments)?, token(arguments));
    Ok(claimed(&claims::start(&list, &terms, token, &id)?))
}

fn finish(caller: &Caller, arguments: &Arguments, ending: Ending) -> Result<Value> {
    let parts = match arguments.flag(PARTS.name) {
        true => Parts::MayBeOpen,
        false => Parts::MustBeDone,
    };
    let text = arguments.owned(TEXT.name).unwrap_or_default();
    let event = Move::Finish {
        ending,
        text,
        parts,
    };
    moved(caller, arguments, event)
}

fn moved(caller: &Caller, arguments: &Arguments, event: Move) -> Result<Value> {
    let list = caller.list(arguments)?;
    let act = Act {
        actor: caller.actor()?,
        token: token(arguments),
        at: caller.home().now(),
    };
    let task = tasks::act(&list, &act, &caller.task(&list, arguments)?, event)?;
    Ok(json!(TaskAnswer::from(&task)))
}

fn answer(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let (list, speaker) = (caller.list(arguments)?, caller.speaker()?);
    let reply = Reply {
        text: arguments.needed(TEXT.name),
        again: arguments.flag("again"),
        via: caller.via(),
    };
    let id = caller.task(&list, arguments)?;
    let answered = questions::answer(&list, None, &speaker, &id, &reply)?;
    Ok(json!(AnsweredAnswer::from(&answered)))
}

fn undo(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let mode = match arguments.flag("dry_run") {
        true => UndoMode::DryRun,
        false => UndoMode::Undo,
    };
    let undone = tasks::undo(&caller.list(arguments)?, &caller.actor()?, mode)?;
    Ok(json!(UndoneAnswer::new(&undone, mode)))
}

fn terms(caller: &Caller, arguments: &Arguments) -> Result<Terms> {
    let lease = match arguments.parsed::<SignedDuration>(LEASE.name)? {
        Some(lease) => lease,
        None => Config::read(caller.home())?.need(&CLAIM_LEASE)?,
    };
    Ok(Terms {
        actor: caller.actor()?,
        lease,
        session: None,
    })
}

fn token(arguments: &Arguments) -> Option<Token> {
    arguments.number(TOKEN.name).map(Token)
}

fn claimed(claimed: &Claimed) -> Value {
    json!(TaskAnswer::from(&claimed.task))
}
